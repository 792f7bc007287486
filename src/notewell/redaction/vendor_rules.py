"""The token formats of vendors, as their documentation gives them.

Lengths are lower bounds unless a vendor promises a fixed length: tokens become longer over the
years, and a mask that covers too much does less harm than one that covers too little.
A short or common prefix (`pa-`, `s.`, `cio`) proves little, so its rule has `proof="random"`.
"""

from __future__ import annotations

from notewell.redaction.rules import BEGINS, Rule, token

_HEX_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

CLOUDS = (
    token("aws-access-key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}\b"),
    token("aws-bedrock-key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{100,}={0,2}"),
    token("aws-mws-token", "amzn.mws.", _HEX_UUID),
    token("google-api-key", "AIza", r"[0-9A-Za-z_-]{35}"),
    token("google-oauth-secret", "GOCSPX-", r"[A-Za-z0-9_-]{24,}"),
    token("google-oauth-token", "ya29.", r"[A-Za-z0-9._-]{20,}"),
    # `1//0`: the slashes are part of the token.
    token("google-refresh-token", "1//0", r"[A-Za-z0-9_-]{40,}"),
    Rule(
        "azure-storage-key",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
        ("AccountKey=", "SharedAccessKey="),
    ),
    Rule("azure-sas-signature", r"[?&;]sig=([A-Za-z0-9%+/=]{40,})", ("sig=",)),
    # No prefix: the fixed `Q~` after four characters is the only mark.
    Rule(
        "azure-client-secret",
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})",
        ("Q~",),
    ),
    token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    token("alibaba-access-key", "LTAI", r"[A-Za-z0-9]{16,20}\b"),
    token("tencent-secret-id", "AKID", r"[A-Za-z0-9]{32,}\b"),
    token("yandex-token", "AQVN YCAJE YCN t1.", r"[A-Za-z0-9_.-]{35,}"),
    token("cloudflare-origin-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    token("cloudflare-token", "cfut_ cfat_ cfk_", r"[A-Za-z0-9]{40,}"),
    token("fly-token", "fo1_ fm1_ fm1r_ fm1a_ fm2_", r"[A-Za-z0-9_+/=-]{40,}"),
    token("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{30,}"),
    token("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    token("supabase-key", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{30,}"),
    token("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?\b"),
    token("vercel-token", "vcp_ vca_ vci_ vcr_ vck_", r"[A-Za-z0-9]{24,}"),
    token("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[A-Za-z0-9]{36,}"),
    token("scalingo-token", "tk-us-", r"[A-Za-z0-9_-]{48}"),
    token("openshift-token", "sha256~", r"[A-Za-z0-9_-]{43}"),
)

CODE_HOSTING = (
    token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}"),
    token("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- "
        "glcbt- glrtr- glwt- GR1348941",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    token("bitbucket-token", "ATBB ATCTT3", r"[A-Za-z0-9_=-]{24,}"),
    token("atlassian-token", "ATATT3 ATOA", r"[A-Za-z0-9_=-]{30,}"),
    token("npm-token", "npm_", r"[A-Za-z0-9]{36,}"),
    token("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    token("rubygems-key", "rubygems_", r"[a-f0-9]{48}"),
    token("crates-token", "cio", r"[A-Za-z0-9]{32}\b")._replace(proof="random"),
    token("nuget-key", "oy2", r"[a-z0-9]{43}\b"),
    token("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    token("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}"),
    token("artifactory-key", "AKCp", r"[A-Za-z0-9]{69,}\b"),
    token("artifactory-token", "cmVmdGtu", r"[A-Za-z0-9]{50,}"),
    token("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    token("buildkite-token", "bkua_ bkat_ bkct_ bkaj_", r"[A-Za-z0-9]{40,}"),
    token("sonar-token", "squ_ sqp_ sqa_", r"[a-f0-9]{40}\b"),
    token("sourcegraph-token", "sgp_ slk_", r"[A-Za-z0-9_]{40,}"),
    token("harness-token", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    token("pulumi-token", "pul-", r"[a-f0-9]{40}\b"),
    token("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    # The format before Vault 1.10, whose prefix proves nothing.
    token("vault-token", "s.", r"[A-Za-z0-9]{24}\b")._replace(proof="random"),
    token("octopus-key", "API-", r"[A-Z0-9]{26}\b"),
    token("infracost-key", "ico-", r"[A-Za-z0-9]{32}\b"),
    token("clickhouse-key", "4b1d", r"[A-Za-z0-9]{38}\b"),
    Rule("gitlab-session", r"_gitlab_session=([0-9a-z]{32})", ("_gitlab_session=",)),
    token(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    ),
    Rule(
        "terraform-token",
        BEGINS + r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,})",
        (".atlasv1.",),
    ),
    token(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
    ),
    token("infisical-token", "st.", r"[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}"),
    token("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_=-]{100,}"),
    token(
        "1password-secret-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})"
        r"(?:-[A-Z0-9]{5}){3}",
    ),
    token("tailscale-key", "tskey-", r"[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}"),
)

MODELS = (
    token("anthropic-key", "sk-ant-", r"[a-z0-9]+-[A-Za-z0-9_-]{20,}"),
    token("openrouter-key", "sk-or-", r"(?:v1-)?[A-Za-z0-9]{32,}"),
    token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,}"),
    # After the longer prefixes that start alike: the first rule that matches names the secret.
    token("openai-key", "sk-", r"[A-Za-z0-9]{20,}"),
    token("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    token("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    token("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    token("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}\b"),
    token("replicate-token", "r8_", r"[A-Za-z0-9]{37,}"),
    token("voyage-key", "pa-", r"[A-Za-z0-9_-]{40,}")._replace(proof="random"),
    token("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{50,}"),
    token("pinecone-key", "pcsk_", r"[A-Za-z0-9]{5,}_[A-Za-z0-9]{40,}"),
    token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    token("langfuse-key", "sk-lf-", _HEX_UUID),
    token("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{24,}"),
    token("firecrawl-key", "fc-", r"[a-f0-9]{32}\b"),
    token("brave-key", "BSA", r"[A-Za-z0-9_-]{28}\b")._replace(proof="random"),
    token("elevenlabs-key", "sk_", r"[a-f0-9]{48}\b"),
    token("wandb-key", "wandb_v1_", r"[A-Za-z0-9_]{40,}"),
    token("jina-key", "jina_", r"[A-Za-z0-9_-]{40,}"),
)

MESSAGING = (
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- xoxc- xoxd-",
        r"[A-Za-z0-9%-]{10,}",
    ),
    token("slack-app-token", "xapp-", r"\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+"),
    # The path of a webhook is its secret: whoever knows it can post.
    Rule(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{40,})",
        ("hooks.slack.com/",),
    ),
    Rule(
        "discord-webhook",
        r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})",
        ("/api/webhooks/",),
    ),
    # The first part is a user id in base64, which starts with one of three letters.
    Rule(
        "discord-token",
        BEGINS + r"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
        (".",),
        proof="random",
    ),
    Rule("telegram-token", r"(?:\b|bot|\\[nrt])(\d{8,10}:AA[A-Za-z0-9_-]{32,33})", (":AA",)),
    Rule(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{80,})",
        ("webhook.office.com/",),
    ),
    token("sendgrid-key", "SG.", r"[A-Za-z0-9_.=-]{50,}"),
    token("mailgun-key", "key- pubkey-", r"[0-9A-Za-z]{32}\b")._replace(proof="random"),
    Rule("mailchimp-key", BEGINS + r"([0-9a-f]{32}-us\d{1,2})\b", ("-us",)),
    token("sendinblue-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b"),
    token("twilio-key", "SK", r"[0-9a-fA-F]{32}\b"),
    Rule("fcm-key", BEGINS + r"(AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140})", ("AAAA",)),
    token("telnyx-key", "KEY0", r"[A-F0-9]{31}_[A-Za-z0-9]{20,}"),
    token("intra42-secret", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
)

PAYMENT = (
    token(
        "stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[A-Za-z0-9]{10,}"
    ),
    token("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    token("square-token", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{22,}"),
    token("square-token", "EAAA", r"[A-Za-z0-9_-]{22,}")._replace(proof="random"),
    token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    token("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    token("shippo-key", "shippo_live_ shippo_test_", r"[a-fA-F0-9]{40}"),
    token("duffel-key", "duffel_live_ duffel_test_", r"[A-Za-z0-9_=-]{40,}"),
    token("flutterwave-key", "FLWSECK-", r"[A-Za-z0-9]{12,}"),
    token("flutterwave-key", "FLWSECK_TEST- FLWSECK_LIVE-", r"[A-Za-z0-9]{12,}"),
    Rule(
        "braintree-token",
        r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})",
        ("access_token$",),
    ),
    token("lob-key", "live_ test_", r"[a-f0-9]{35}\b"),
    token("frame-io-token", "fio-u-", r"[A-Za-z0-9_=-]{60,}"),
)

PRODUCTIVITY = (
    token("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{40,}"),
    token("notion-token", "ntn_ secret_", r"[A-Za-z0-9]{40,}"),
    token("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    token("figma-token", "figd_ figu_ figo_", r"[A-Za-z0-9_-]{40,}"),
    token("postman-key", "PMAK-", r"[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    token("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    token("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{43}"),
    token("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    token("readme-key", "rdme_", r"[a-z0-9]{70}"),
    token("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", r"[A-Za-z0-9]{16}"),
    token("clickup-token", "pk_", r"\d{6,10}_[A-Z0-9]{32}"),
    token("asana-token", "1/ 2/", r"\d{13,19}(?:/\d{13,19})?:[a-f0-9]{32}"),
    token("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _HEX_UUID),
    token("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}\b"),
    Rule(
        "facebook-token",
        BEGINS + r"(\d{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40})",
        ("|", "%7C"),
        proof="random",
    ),
    # 80 or more: `EAA` alone is a common start of base64 data, and `EAAA` is Square's.
    token("facebook-token", "EAA", r"[A-Za-z0-9]{80,}"),
    token("instagram-token", "IGQV IGAA", r"[A-Za-z0-9_-]{60,}"),
    token("dropbox-token", "sl.", r"[A-Za-z0-9_=-]{60,}"),
    Rule("maxmind-key", BEGINS + r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)", ("_mmk",)),
    token("endor-key", "endr+", r"[A-Za-z0-9-]{16}"),
)

MONITORING = (
    token("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}"),
    token("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_=-]{32,}"),
    token("grafana-key", "eyJrIjoi", r"[A-Za-z0-9+/_=-]{60,}"),
    token("newrelic-key", "NRAK- NRJS- NRII- NRAA- NRBR- NRSP-", r"[A-Za-z0-9_-]{19,}"),
    token("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    token("posthog-key", "phx_ phs_", r"[A-Za-z0-9]{40,}"),
    token("launchdarkly-key", "sdk- api- mob-", _HEX_UUID),
    token("honeycomb-key", "hcaik_ hcamk_ hcxik_ hcxmk_", r"[a-z0-9]{32,}"),
    token("snyk-token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9._-]{40,}"),
)

VENDOR_RULES = (
    *CLOUDS,
    *CODE_HOSTING,
    *MODELS,
    *MESSAGING,
    *PAYMENT,
    *PRODUCTIVITY,
    *MONITORING,
)
