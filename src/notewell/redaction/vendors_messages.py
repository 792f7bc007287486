"""Messages, webhooks and payments: the formats of their tokens."""

from __future__ import annotations

from notewell.redaction.rules import BEGINS, UUID, Rule, token

MESSAGING = (
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxb- xoxe.xoxp- xoxc- xoxd-",
        r"[A-Za-z0-9%-]{10,}",
    ),
    token("slack-app-token", "xapp-", r"\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+"),
    # The first part is a user id in base64, which starts with one of three letters.
    Rule(
        "discord-token",
        BEGINS + r"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
        (),
        proof="random",
    ),
    Rule("telegram-token", r"(?:\b|bot|\\[nrt])(\d{8,10}:AA[A-Za-z0-9_-]{32,33})", (":AA",)),
    Rule(
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{80,})",
        ("webhook.office.com/",),
    ),
    token("twitter-bearer", "AAAAAAAAAAAAAAAAAAAA", r"A[A-Za-z0-9%]{60,}")._replace(
        proof="random"
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
    Rule(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{30,})",
        ("hooks.slack.com/",),
    ),
    Rule(
        "discord-webhook",
        r"/api/(?:v\d+/)?webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})",
        ("webhooks/",),
    ),
    Rule(
        "zapier-webhook",
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/(\d+/[A-Za-z0-9/]{6,})",
        ("hooks.zapier.com/",),
    ),
    Rule(
        "make-webhook",
        r"hook\.(?:[a-z0-9]+\.)?(?:make|integromat)\.com/([A-Za-z0-9]{20,})",
        (".make.com/", ".integromat.com/"),
    ),
    Rule(
        "webhook-address",
        r"https?://[^\s/]+/(?:webhook|webhook-test|hooks?|webhookb2|build_hooks|incoming|integrations/deploy)/([A-Za-z0-9@][A-Za-z0-9@/_-]{18,})",
        ("hook/", "hooks/", "webhook-test/", "webhookb2/", "incoming/", "integrations/deploy/"),
        proof="random",
    ),
    Rule(
        "ifttt-key",
        r"maker\.ifttt\.com/[^\s\"'<>]*/key/([A-Za-z0-9_-]{20,})",
        ("maker.ifttt.com/",),
    ),
    Rule(
        "pipedream-webhook", r"https://(eo[a-z0-9]{10,})\.m\.pipedream\.net", (".m.pipedream.net",)
    ),
    Rule(
        "google-chat-webhook",
        r"chat\.googleapis\.com/v1/spaces/[^\s\"'<>]*token=([A-Za-z0-9_%-]{20,})",
        ("chat.googleapis.com/",),
    ),
    Rule(
        "feishu-webhook",
        r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([A-Za-z0-9-]{20,})",
        ("/open-apis/bot/",),
    ),
    Rule("dingtalk-webhook", r"robot/send\?access_token=([A-Za-z0-9]{32,})", ("robot/send?",)),
    token("dingtalk-secret", "SEC", r"[a-f0-9]{64}\b"),
    Rule("wecom-webhook", r"cgi-bin/webhook/send\?key=([A-Za-z0-9-]{20,})", ("cgi-bin/webhook/",)),
    Rule(
        "deploy-hook",
        r"api\.render\.com/deploy/srv-[a-z0-9]+\?key=([A-Za-z0-9_-]{8,})",
        ("api.render.com/deploy/",),
    ),
    Rule(
        "deploy-hook",
        r"api\.vercel\.com/v1/integrations/deploy/([A-Za-z0-9_/-]{20,})",
        ("/integrations/deploy/",),
    ),
    Rule("ping-address", r"hc-ping\.com/([A-Za-z0-9-]{20,})", ("hc-ping.com/",)),
    token("ntfy-token", "tk_", r"[a-z0-9]{29}\b")._replace(proof="random"),
    token("courier-key", "pk_prod_ pk_test_ dk_prod_ dk_test_", r"[A-Z0-9]{28}\b"),
    token("klaviyo-key", "pk_", r"[a-f0-9]{34}\b"),
    token("knock-key", "sk_live_ sk_test_", r"[A-Za-z0-9_-]{30,}"),
    token("onesignal-key", "os_v2_app_ os_v2_org_", r"[a-z0-9]{40,}"),
    token("pubnub-key", "sec-c-", r"[A-Za-z0-9+/=-]{36,}"),
    Rule(
        "ably-key",
        BEGINS + r"([A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{40,})",
        (),
        proof="random",
    ),
    token("liveblocks-key", "sk_prod_ sk_dev_ pk_prod_", r"[A-Za-z0-9_-]{30,}"),
    token("matrix-token", "syt_ mct_ mat_", r"[A-Za-z0-9_]{30,}"),
    token("pushbullet-token", "o.", r"[A-Za-z0-9]{32}\b")._replace(proof="random"),
    token("signalwire-token", "PT", r"[a-f0-9]{48}\b"),
    token("uptimerobot-key", "u", r"\d{6,9}-[a-f0-9]{24}\b"),
    token("uptimerobot-key", "m", r"\d{6,9}-[a-f0-9]{24}\b"),
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
    token("adyen-key", "AQE", r"[A-Za-z0-9+/]{20,}={0,2}-[A-Za-z0-9+/]{30,}={0,2}-[^\s\"'`]{10,}"),
    token("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", r"[A-Za-z0-9_]{24,}"),
    token("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,}"),
    token("plaid-token", "access-production- access-sandbox- access-development-", UUID),
    token("gocardless-token", "live_ sandbox_", r"[A-Za-z0-9_-]{38,42}\b")._replace(
        proof="random"
    ),
    token("mollie-key", "live_ test_ access_", r"[A-Za-z0-9]{30,}\b")._replace(proof="random"),
    token(
        "mercadopago-token", "APP_USR- TEST-", r"\d{12,}-\d{6}-[a-f0-9]{32}(?:__[A-Z_]+__)?-\d+"
    ),
    token("pagarme-key", "ak_live_ ak_test_", r"[A-Za-z0-9]{20,}"),
    token("xendit-key", "xnd_production_ xnd_development_", r"[A-Za-z0-9]{30,}"),
    token("omise-key", "skey_", r"(?:test_)?[a-z0-9]{19}\b"),
    token("klarna-key", "klarna_live_api_ klarna_test_api_", r"[A-Za-z0-9+/=_-]{40,}"),
    token("polar-token", "polar_oat_ polar_pat_ polar_at_", r"[A-Za-z0-9]{30,}"),
    token("checkout-key", "sk_ sk_sbox_", r"[a-z0-9]{26}\b")._replace(proof="random"),
    token("ramp-secret", "ramp_sec_", r"[A-Za-z0-9]{40,}"),
    token("sumup-key", "sup_sk_", r"[A-Za-z0-9]{30,}"),
    token("creem-key", "creem_", r"[A-Za-z0-9]{16,}"),
    token("coinbase-key", "organizations/", UUID + r"/apiKeys/" + UUID),
    token("square-token", "EAAA sandbox-sq0", r"[A-Za-z0-9_-]{22,}")._replace(proof="random"),
)
