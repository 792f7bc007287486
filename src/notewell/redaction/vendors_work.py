"""Office, customers and monitoring: the formats of their tokens."""

from __future__ import annotations

from notewell.redaction.rules import BEGINS, UUID, Rule, token

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
    token("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", UUID),
    token("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}\b"),
    Rule(
        "facebook-token",
        BEGINS + r"(\d{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40})",
        (),
        proof="random",
    ),
    # 80 or more: `EAA` alone is a common start of base64 data, and `EAAA` is Square's.
    token("facebook-token", "EAA", r"[A-Za-z0-9]{80,}"),
    token("instagram-token", "IGQV IGAA", r"[A-Za-z0-9_-]{60,}"),
    token("dropbox-token", "sl.", r"[A-Za-z0-9_=-]{60,}"),
    Rule("maxmind-key", BEGINS + r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)", ("_mmk",)),
    token("endor-key", "endr+", r"[A-Za-z0-9-]{16}"),
    token("salesforce-session", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9_.-]{60,}"),
    token("salesforce-refresh-token", "5Aep861", r"[A-Za-z0-9._=]{60,}"),
    token("sanity-token", "sk", r"[A-Za-z0-9]{80,}\b")._replace(proof="random"),
    token("nightfall-key", "NF-", r"[A-Za-z0-9]{32}\b"),
    token("stackhawk-key", "hawk.", r"[A-Za-z0-9]{16,}\.[A-Za-z0-9]{16,}"),
    token("voiceflow-key", "VF.", r"(?:DM\.|WS\.)?[a-f0-9]{24}\.[A-Za-z0-9]{16}"),
    token("figma-token", "figp_ figoh_ figor_", r"[A-Za-z0-9_=-]{40,}"),
    token("adafruit-key", "aio_", r"[A-Za-z0-9]{28}\b"),
    token("zoho-token", "1000.", r"[a-f0-9]{32}\.[a-f0-9]{32}"),
    token("intercom-token", "dG9rO", r"[A-Za-z0-9+/]{50,}={0,2}"),
    token("calcom-key", "cal_live_ cal_", r"[a-f0-9]{32}\b"),
)

MAPS_AND_CHAINS = (
    token("mapbox-token", "sk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    Rule(
        "node-address",
        r"(?:infura\.io|alchemy(?:api)?\.(?:com|io)|quiknode\.pro|rpc\.ankr\.com|moralis-nodes\.com|getblock\.io)/(?:[\w-]+/){0,3}([A-Za-z0-9_-]{20,})",
        (
            "infura.io/",
            "alchemy",
            "quiknode.pro/",
            "ankr.com/",
            "moralis-nodes.com/",
            "getblock.io/",
        ),
    ),
    Rule(
        "roblox-cookie",
        r"_\|WARNING:-DO-NOT-SHARE-THIS[^\s|]*\|_([A-F0-9]{40,})",
        ("DO-NOT-SHARE-THIS",),
    ),
)

MONITORING = (
    token("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}"),
    token("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_=-]{32,}"),
    token("grafana-key", "eyJrIjoi", r"[A-Za-z0-9+/_=-]{60,}"),
    token("newrelic-key", "NRAK- NRJS- NRII- NRAA- NRBR- NRSP-", r"[A-Za-z0-9_-]{19,}"),
    token("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    token("posthog-key", "phx_ phs_", r"[A-Za-z0-9]{40,}"),
    token("launchdarkly-key", "sdk- api- mob-", UUID),
    token("snyk-token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9._-]{40,}"),
    token("axiom-token", "xaat- xapt- xait-", UUID),
    Rule("newrelic-key", BEGINS + r"([A-Za-z0-9]{36}NRAL)\b", ("NRAL",)),
    token("newrelic-key", "NRIQ- NRRA-", r"[A-Za-z0-9_-]{19,}"),
    token("configcat-key", "configcat-sdk-1/", r"[A-Za-z0-9_-]{20,}/[A-Za-z0-9_-]{20,}"),
    token("flagsmith-key", "ser.", r"[A-Za-z0-9]{20,}\b")._replace(proof="random"),
    Rule("unleash-token", r"(?:^|[\s\"'`=(>|*]|\\[nrt])([\w*-]+:[a-z]+\.[a-f0-9]{40,})\b", ()),
    token("honeycomb-key", "hcaik_ hcalk_ hcamk_ hcbik_ hcxik_", r"[a-z0-9]{26,}"),
    token("rootly-key", "rootly_", r"[a-f0-9]{40,}"),
    token("posthog-key", "phr_ pha_", r"[A-Za-z0-9]{30,}"),
    token("datadog-key", "ddapp_ ddpat_ ddp_ ddw_", r"[A-Za-z0-9]{30,}"),
    token("checkly-key", "cu_", r"[a-f0-9]{32}\b"),
    token("pagerduty-key", "pdus+ pdeu+", r"[A-Za-z0-9+/=_-]{20,}"),
    token("logfire-token", "pylf_v1_", r"[A-Za-z0-9_]{30,}"),
    token("elastic-key", "essu_", r"[A-Za-z0-9+/=]{30,}"),
)
