"""Shapes of keys that the rules of gitleaks do not know, one per line: kind and shape.

Shapes are facts from the vendors' documentation and from public rule sets (trufflehog,
kingfisher, noseyparker, GitHub's list of partners).
"""

from __future__ import annotations

_AI = """
openrouter            sk-or-v1-{hex64}
groq                  gsk_{an52}
xai                   xai-{an80}
replicate             r8_{an37}
elevenlabs            sk_{hex48}
pinecone              pcsk_{an6}_{an63}
langsmith personal    lsv2_pt_{hex32}_{hex10}
langsmith service     lsv2_sk_{hex32}_{hex10}
langfuse              sk-lf-{uuid}
deepseek              sk-{hex32}
moonshot              sk-{an48}
openai session        sess-{an40}
anthropic oauth       sk-ant-oat01-{us93}AA
anthropic refresh     sk-ant-ort01-{us93}AA
anthropic session     sk-ant-sid01-{us86}AA
fireworks             fw_{an24}
together              tgp_v1_{us43}
nvidia                nvapi-{us64}
voyage                pa-{us43}
jina                  jina_{hex32}{us28}
tavily                tvly-dev-{an32}
firecrawl             fc-{hex32}
cerebras              csk-{lo48}
runpod                rpa_{up40}{lo6}
helicone              sk-helicone-{lo7}-{lo7}-{lo7}-{lo7}
llamaindex            llx-{an48}
cartesia              sk_car_{an22}
humanloop             hl_sk_{hex48}
fal                   {uuid}:{hex32}
modal token           ak-{an22}
modal secret          as-{an22}
luma                  luma-{uuid}-{uuid}
runway                key_{hex128}
zhipu                 {hex32}.{an16}
mem0                  m0-{an40}
e2b                   e2b_{hex40}
browserbase           bb_live_{us27}
apify                 apify_api_{an36}
scrapegraph           sgai-{uuid}
weights and biases    wandb_v1_{an22}_{an60}
chroma                ck-{an44}
turbopuffer           tpuf_{an32}
cursor                key_{hex64}
morph                 sk-{us48}
google ai studio      AQ.Ab8RN6{us44}
v0                    v1:{an24}:{an24}
lambda labs           secret_team-key_{hex32}.{an32}
"""

_BUILD = """
vercel new            vcp_{an56}
vercel blob           vercel_blob_rw_{an16}_{an30}
render                rnd_{an28}
supabase access       sbp_{hex40}
supabase secret       sb_secret_{us22}_{an8}
neon                  napi_{lo64}
neon password         npg_{an12}
cloudflare user       cfut_{an40}{hex8}
cloudflare tunnel     eyJhIjoi{b64156}
digitalocean spaces   DO00{up16}
scaleway              SCW{up17}
exoscale              EXO{hex26}
upcloud               ucat_{up26}
infisical             st.{hex24}.{hex32}.{hex32}
buildkite             bkua_{hex40}
circleci              CCIPAT_{an22}_{hex40}
circleci project      CCIPRJ_{an22}_{hex40}
jenkins               11{hex32}
azure devops          {an76}AZDO{an4}
teamcity              eyJ0eXAiOiAiVENWMiJ9.{b6436}.{b6448}
posthog personal      phx_{an43}
honeycomb ingest      hcaik_01{lo56}
axiom                 xaat-{uuid}
newrelic license      {hex36}NRAL
statsig               secret-{an43}
configcat             configcat-sdk-1/{us22}/{us22}
flagsmith             ser.{an22}
unleash               default:production.{hex56}
launchdarkly          sdk-{uuid}
crates                cio{an32}
nuget                 oy2{lo43}
docker hub            dckr_pat_{us27}
docker org            dckr_oat_{us32}
bitbucket app         ATBB{an32}
bitbucket repository  ATCTT3xFfGN0{us170}={HEX8}
atlassian oauth       ATOA{us48}
trello                ATTA{hex64}{HEX8}
gitlab workspace      glwt-{us20}
figma                 figd_{us40}
figma scim            figu_{us40}
notion old            secret_{an43}
asana personal        2/{d16}/{d16}:{hex32}
clickup               pk_{d8}_{up32}
hubspot private       pat-na1-{uuid}
salesforce session    00D{an12}!AQ{us94}
klaviyo               pk_{hex34}
resend                re_{an8}_{an24}
courier               pk_prod_{up28}
knock                 sk_live_{us40}
onesignal             os_v2_app_{lo103}
pubnub                sec-c-{b6448}
ably                  {us6}.{us6}:{us43}
telnyx                KEY0{HEX31}_{an22}
dingtalk sign         SEC{hex64}
ntfy                  tk_{lo29}
uptimerobot           u{d7}-{hex24}
sanity                sk{an178}
prisma                prisma+postgres://accelerate.prisma-data.net/?api_key=«{jwt}»
convex deploy         prod:happy-animal-123|{hex64}
upstash               AX{b6452}==
clerk                 sk_live_{an42}
workos                sk_live_{b6440}
stytch                secret-live-{us36}
descope               K2{an27}
liveblocks            sk_prod_{us42}
inngest               signkey-prod-{hex64}
trigger.dev           tr_prod_{an24}
atlas service         mdb_sa_sk_{us40}
bitwarden secrets     0.{uuid}.{an30}:{b6422}==
nightfall             NF-{an32}
stackhawk             hawk.{an20}.{an20}
voiceflow             VF.DM.{hex24}.{an16}
rootly                rootly_{hex64}
aiven                 AVNS_{us19}
ngrok                 2{an26}_{an20}
depot                 depot_org_{hex64}
openshift             sha256~{us43}
"""

_HOOKS = """
discord webhook       https://discord.com/api/webhooks/«{d19}/{us68}»
discord bot           MT{an24}.G{an5}.{us38}
zapier hook           https://hooks.zapier.com/hooks/catch/«{d7}/{lo7}»/
make hook             https://hook.eu1.make.com/«{lo32}»
n8n hook              https://n8n.corp.internal/webhook/«{uuid}»
ifttt hook            https://maker.ifttt.com/trigger/door/with/key/«{us43}»
pipedream hook        https://«eo{lo14}».m.pipedream.net
google chat hook      https://chat.googleapis.com/v1/spaces/AAAA{us7}/messages?key=k1&token=«{us43}»
feishu hook           https://open.feishu.cn/open-apis/bot/v2/hook/«{uuid}»
dingtalk hook         https://oapi.dingtalk.com/robot/send?access_token=«{hex64}»
wecom hook            https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«{uuid}»
mattermost hook       https://chat.corp.internal/hooks/«{lo26}»
power automate hook   https://prod-12.westeurope.logic.azure.com/workflows/{hex32}/triggers/x?v=1&sig=«{us43}»
render deploy hook    https://api.render.com/deploy/srv-{lo20}?key=«{us11}»
vercel deploy hook    https://api.vercel.com/v1/integrations/deploy/«prj_{an28}/{an10}»
netlify build hook    https://api.netlify.com/build_hooks/«{hex24}»
healthchecks ping     https://hc-ping.com/«{uuid}»
slack workflow        https://hooks.slack.com/workflows/T{up9}/A{up9}/{d18}/«{an24}»
tines hook            https://quiet-1234.tines.com/webhook/«{hex32}/{hex32}»
webhook signing       whsec_{b6432}
"""

_PAYMENTS = """
adyen                 AQE{b6470}-{b6443}=-{sym16}
paypal braintree      access_token$production${lo16}${hex32}
paddle                pdl_live_apikey_{lo26}_{an22}_{an3}
paddle sandbox        pdl_sdbx_apikey_{lo26}_{an22}_{an3}
razorpay              rzp_live_{an14}
mollie                live_{an30}
mollie access         access_{an40}
paystack              sk_live_{hex40}
mercado pago          APP_USR-{d16}-{d6}-{hex32}-{d9}
pagarme               ak_live_{an30}
xendit                xnd_production_{an60}
omise                 skey_{lo19}
klarna                klarna_live_api_{b6460}
polar                 polar_oat_{an43}
checkout.com          sk_{lo26}
square sandbox        EAAAE{us58}
square secret         sq0csp-{us43}
stripe webhook        whsec_{an32}
ramp                  ramp_sec_{an48}
sumup                 sup_sk_{an32}
"""

_CLOUD = """
tencent id            AKID{an32}
volcengine            AKLT{an43}
huawei                HPUA{up16}
ibm iam               ApiKey-{uuid}
azure app config      Endpoint=https://x.azconfig.io;Id=ab1-l0;Secret=«{b6443}=»
azure cosmos          AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=«{b6486}==»;
azure iot             HostName=x.azure-devices.net;SharedAccessKeyName=o;SharedAccessKey=«{b6443}=»
azure service bus     Endpoint=sb://x.servicebus.windows.net/;SharedAccessKey=«{b6443}=»
azure signalr         Endpoint=https://x.service.signalr.net;AccessKey=«{b6443}=»;Version=1.0;
azure function        https://x.azurewebsites.net/api/run?code=«{us54}==»
azure sas             https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=«{an41}%2B{an6}%3D»
azure registry        {b6442}+ACR{an6}
aws session           FwoGZXIvYXdzE{b64220}==
gcp hmac              GOOG{up20}
oci fingerprint key   ocid1.credential.oc1..{lo60}
yandex iam            t1.9eu{us180}
"""

_KEYS = """
wif uncompressed      5{b5850}
wif compressed        K{b5851}
extended key          xprv{b58107}
stellar seed          S{b3255}
nostr                 nsec1{bech58}
minisign              RWRTY0Iy{b64204}
age plugin            AGE-PLUGIN-YUBIKEY-1{up50}
bcrypt                $2b$12${an53}
sha512 crypt          $6${an16}${an86}
apr1                  $apr1${an8}${an22}
argon2                $argon2id$v=19$m=65536,t=3,p=4${b6422}${b6443}
pbkdf2 django         pbkdf2_sha256$600000${an22}${b6443}=
kerberos              $krb5tgs$23$*user$REALM$svc*${hex32}${hex80}
postgres scram        SCRAM-SHA-256$4096:{b6422}==${b6443}=:{b6443}=
otpauth               otpauth://totp/Corp:anna?secret=«{b3232}»&issuer=Corp
wifi code             WIFI:T:WPA;S:Guests;P:«{an14}»;;
jwt                   {jwt}
bitlocker             {d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}
ssh agent age         AGE-SECRET-KEY-PQ-1{up58}
"""

# Beside their usual name, for nothing else tells them: name and shape.
_NAMED = """
MISTRAL_API_KEY {an32}
CO_API_KEY {an40}
COHERE_API_KEY {an40}
DEEPGRAM_API_KEY {hex40}
ASSEMBLYAI_API_KEY {hex32}
EXA_API_KEY {uuid}
SAMBANOVA_API_KEY {uuid}
ARK_API_KEY {uuid}
AI21_API_KEY {an32}
WEAVIATE_API_KEY {an40}
QDRANT_API_KEY {us54}
SERPAPI_KEY {hex64}
VERCEL_TOKEN {an24}
RAILWAY_TOKEN {uuid}
HCLOUD_TOKEN {an64}
LINODE_TOKEN {hex64}
VULTR_API_KEY {up36}
OVH_APPLICATION_SECRET {an32}
EXPO_TOKEN {us40}
GITEA_TOKEN {hex40}
CODECOV_TOKEN {uuid}
SNYK_TOKEN {uuid}
DD_API_KEY {hex32}
DD_APP_KEY {hex40}
LOGTAIL_SOURCE_TOKEN {an24}
BUGSNAG_API_KEY {hex32}
ROLLBAR_ACCESS_TOKEN {hex32}
SPLUNK_HEC_TOKEN {uuid}
PAGERDUTY_ROUTING_KEY {hex32}
OPSGENIE_API_KEY {uuid}
TWILIO_AUTH_TOKEN {hex32}
POSTMARK_SERVER_TOKEN {uuid}
MAILJET_SECRET_KEY {hex32}
PUSHER_SECRET {hex20}
PIPEDRIVE_API_TOKEN {hex40}
TODOIST_TOKEN {hex40}
RAZORPAY_KEY_SECRET {an24}
PLAID_SECRET {hex30}
PAYPAL_CLIENT_SECRET E{us79}
BINANCE_API_SECRET {an64}
ALIBABA_CLOUD_ACCESS_KEY_SECRET {an30}
TENCENTCLOUD_SECRET_KEY {an32}
IBM_CLOUD_API_KEY {us44}
AZURE_OPENAI_API_KEY {hex32}
AZURE_CLIENT_SECRET {an3}8Q~{an34}
AWS_SECRET_ACCESS_KEY {b6440}
RAILS_MASTER_KEY {hex32}
APP_KEY base64:{b6443}=
DJANGO_SECRET_KEY {sym50}
FERNET_KEY {us43}=
NEXTAUTH_SECRET {b6443}=
ENCRYPTION_KEY {hex64}
ETH_PRIVATE_KEY 0x{hex64}
WIREGUARD_PRIVATE_KEY {b6442}0=
CLOUDFLARE_API_TOKEN {us40}
CLOUDINARY_API_SECRET {us27}
ALGOLIA_ADMIN_KEY {hex32}
SEGMENT_WRITE_KEY {an32}
AMPLITUDE_API_KEY {hex32}
MIXPANEL_SECRET {hex32}
SHODAN_API_KEY {an32}
VIRUSTOTAL_API_KEY {hex64}
OPENWEATHER_KEY {hex32}
TMDB_API_KEY {hex32}
SPOTIFY_CLIENT_SECRET {hex32}
GITHUB_CLIENT_SECRET {hex40}
LINE_CHANNEL_SECRET {hex32}
ZOOM_CLIENT_SECRET {an32}
OKTA_API_TOKEN 00{us40}
DROPBOX_APP_SECRET {lo15}
"""


def _table(text: str) -> dict[str, str]:
    rows = (line.rsplit(maxsplit=1) for line in text.strip().splitlines())
    return {kind.strip(): shape for kind, shape in rows}


SHAPES: dict[str, str] = {}
for _part in (_AI, _BUILD, _HOOKS, _PAYMENTS, _CLOUD, _KEYS):
    SHAPES |= _table(_part)
NAMED_SHAPES = _table(_NAMED)
