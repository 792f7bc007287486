"""More services of all groups, each with a prefix of its own: kind, prefixes, what follows.

Here are those whose token the general shape (`prefixed.py`) would not prove: hexadecimal or short
bodies, dots and colons inside, capitals alone.
"""

from __future__ import annotations

from notewell.redaction.rules import BEGINS, UUID, Rule, token

_AN, _HEX, _LOW, _UP, _URL = "[A-Za-z0-9]", "[a-f0-9]", "[a-z0-9]", "[A-Z0-9]", "[A-Za-z0-9_-]"

MORE_MODELS = (
    token("brave-key", "BSA", _URL + r"{26,34}\b")._replace(proof="random"),
    token("langsmith-key", "ls__", _HEX + "{32}"),
    token("vectara-key", "zut_ zwt_ zqt_ zak_", _URL + "{24,}"),
    token("you-key", "ydc-sk- ydc-", _LOW + "{16,}"),
    token("context7-key", "ctx7sk-", "[a-z0-9-]{30,}"),
    token("baidu-key", "bce-v3/ALTAK-", _AN + "{10,}/" + _HEX + "{32,}"),
    token("braintrust-key", "sk-bt- bt-st-", _AN + "{20,}"),
    token("scrapfly-key", "scp-live- scp-test-", _HEX + "{32}"),
    Rule("baseten-key", BEGINS + r"([A-Za-z0-9]{8}\.[A-Za-z0-9]{32})\b", (), proof="random"),
)

MORE_BUILDS = (
    token("swarm-token", "SWMTKN-1-", _LOW + "{40,}-" + _LOW + "{20,}"),
    token("swarm-key", "SWMKEY-1-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    Rule("k3s-token", BEGINS + r"(K10[a-f0-9]{40,}::[a-z0-9:.-]*[a-z0-9]{6,})", ("K10",)),
    Rule(
        "kubeadm-token",
        r"(?:--token|--discovery-token)[ =]([a-z0-9]{6}\.[a-z0-9]{16})\b",
        ("-token ", "-token="),
        says="`kubeadm join --token …`",
    ),
    Rule(
        "rancher-token",
        BEGINS + r"((?:token|kubeconfig)-[a-z0-9-]{5,24}:[a-z0-9]{40,})",
        ("token-", "kubeconfig-"),
    ),
    Rule(
        "youtrack-token",
        BEGINS + r"(perm[:-][A-Za-z0-9+/_-]{3,}={0,2}\.[A-Za-z0-9+/_=-]{3,}\.[A-Za-z0-9]{20,})",
        ("perm:", "perm-"),
    ),
    token("chromatic-token", "chpt_", _HEX + "{12,}"),
    token("gcore-key", "APIKey ", r"\d+\$[a-f0-9]{40,}"),
    token("appveyor-token", "v2.", _LOW + r"{20}\b")._replace(proof="random"),
    token("nuget-key", "oy2", r"[a-z0-9]{43}\b"),
    token("packagist-token", "packagist_ort_ packagist_ack_ packagist_uut_", _HEX + "{40,}"),
    token("clojars-token", "CLOJARS_", _HEX + "{40,}"),
    token("cockroach-key", "CCDB1_", _AN + "{20,}_" + _AN + "{30,}"),
    token("xata-key", "xau_", _AN + "{16,}"),
    token("fauna-secret", "fn", r"[A-Za-z0-9_-]{38}\b")._replace(proof="random"),
    token("backblaze-key", "K00", r"[0-9A-Za-z/+]{28}\b")._replace(proof="random"),
    token("okta-token", "00", r"[A-Za-z0-9_-]{40}\b")._replace(
        literals=("okta", "Okta", "OKTA", "SSWS"), proof="random"
    ),
    Rule("google-signature", r"X-Goog-Signature=([A-Fa-f0-9]{40,})", ("X-Goog-",)),
    Rule("cloudfront-signature", r"[?&]Signature=([A-Za-z0-9_~-]{40,}={0,2})", ("Signature=",)),
)

MORE_MESSAGES = (
    token("serverchan-key", "SCT sctp", r"\d{1,8}[Tt][A-Za-z0-9]{16,}"),
    Rule(
        "pagerduty-key",
        r"(?:^|[\s\"'`=:(|>])([uyew]\+[A-Za-z0-9_-]{18})(?:$|[\s\"'`,;)|<])",
        ("+",),
        proof="token",
    ),
    token("mailersend-token", "mlsn.", _HEX + "{60,}"),
    token("pushover-token", "a u", r"[a-z0-9]{29}\b")._replace(
        literals=("pushover", "Pushover", "PUSHOVER"), proof="random"
    ),
    token("gotify-token", "A C", r"[A-Za-z0-9._-]{14}\b")._replace(
        literals=("gotify", "Gotify", "GOTIFY"), proof="token"
    ),
    token("plivo-token", "MA", r"[A-Z0-9]{18}\b")._replace(literals=("plivo", "Plivo", "PLIVO")),
    token(
        "rocketchat-hook", "https://", r"[^\s\"'<>/]+/hooks/[A-Za-z0-9]{17,24}/[A-Za-z0-9]{30,}"
    )._replace(literals=("/hooks/",)),
    Rule("ntfy-topic", r"\bntfy\.sh/([A-Za-z0-9_-]{16,})\b", ("ntfy.sh/",), proof="random"),
    Rule(
        "webhook-address",
        r"https?://(?:[\w-]+\.)*(?:webhook\.site|requestbin\.[a-z]+|hookdeck\.com|svix\.com|workato\.com|tray\.io|ifttt\.com|activepieces\.com|powerplatform\.com|logic\.azure\.com|on-aws|integromat\.com)(?::\d+)?/[^\s\"'<>]*?([A-Za-z0-9_-]{20,})",
        (
            "webhook.site",
            "requestbin.",
            "hookdeck.com",
            "svix.com",
            "workato.com",
            "tray.io",
            "ifttt.com",
            "activepieces.com",
            "powerplatform.com",
            "logic.azure.com",
            "on-aws",
            "integromat.com",
        ),
        proof="random",
    ),
)

MORE_PAYMENTS = (
    token("midtrans-key", "SB-Mid-server- Mid-server-", _URL + "{16,}"),
    token("asaas-key", "$aact_ aact_", r"[A-Za-z0-9+/=:_-]{30,}")._replace(
        pattern=r"(\$?aact_[A-Za-z0-9+/=:_-]{30,})"
    ),
    token("cashfree-key", "cfsk_ma_prod_ cfsk_ma_test_", r"[a-f0-9_]{30,}"),
    token("tinkoff-token", "t.", r"[A-Za-z0-9_-]{80,}")._replace(proof="random"),
    token(
        "wompi-secret", "prod_events_ test_events_ prod_integrity_ test_integrity_", _AN + "{16,}"
    ),
    token(
        "paymob-secret",
        "egy_sk_live_ egy_sk_test_ are_sk_live_ sau_sk_live_ omn_sk_live_",
        _HEX + "{40,}",
    ),
    token("mercury-token", "secret-token:mercury_", r"[a-z]+_[A-Za-z0-9_]{20,}"),
    token("brex-token", "bxt_", _AN + "{30,}"),
    token("shopify-token", "shpua_ shptka_ shpit_", _HEX + "{32}"),
)

MORE_WORK = (
    token("portainer-token", "ptr_", r"[A-Za-z0-9+/]{43}="),
    token("lark-token", "t-g1 u-g1", r"[A-Za-z0-9]{36,40}\b")._replace(proof="random"),
    token("linear-key", "lin_wh_", _HEX + "{40,}"),
    Rule("ghost-key", BEGINS + r"([a-f0-9]{24}:[a-f0-9]{64})\b", ()),
    token("prismic-token", "MC5", r"[A-Za-z0-9._-]{40,}")._replace(proof="random"),
    token("webflow-token", "ws-", _HEX + "{60,}"),
    token("close-key", "api_", r"[A-Za-z0-9]{22}\.[A-Za-z0-9]{22}"),
    token("riot-key", "RGAPI-", UUID),
    token("twitch-token", "oauth:", r"[a-z0-9]{30}\b"),
)

MORE_MONITORING = (
    token(
        "growthbook-key", "secret_admin_ secret_readonly_ secret_user_ key_prod_", _AN + "{20,}"
    ),
    token("devcycle-key", "dvc_server_ dvc_mobile_ dvc_client_", r"[A-Za-z0-9_-]{20,}"),
    token("sentry-token", "sntrya_ sntryu_", _HEX + "{64}"),
    token("thingspeak-key", "api_key=", r"[A-Z0-9]{16}\b")._replace(proof="token"),
    token("ubidots-token", "BBFF- BBUS-", _AN + "{30,}"),
)
