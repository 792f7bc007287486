"""Tokens of clouds, code hosts, package registries and build services.

The shapes are those of the vendors' own documentation. Lengths are lower bounds wherever a
vendor has not promised more: tokens grow, and a mask too long does less harm than one too short.
"""

from __future__ import annotations

from notewell.redaction.rule import BEGINS, Rule, token

_HEX_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

CLOUDS = (
    token("aws-access-key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}\b"),
    token("aws-bedrock-key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{100,}={0,2}"),
    token("aws-mws-token", "amzn.mws.", _HEX_UUID),
    token("google-api-key", "AIza", r"[0-9A-Za-z_-]{35}"),
    token("google-oauth-secret", "GOCSPX-", r"[A-Za-z0-9_-]{24,}"),
    token("google-oauth-token", "ya29.", r"[A-Za-z0-9._-]{20,}"),
    token("google-refresh-token", "1//0", r"[A-Za-z0-9_-]{40,}"),
    Rule(
        "azure-storage-key",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
        ("AccountKey=", "SharedAccessKey="),
    ),
    Rule("azure-sas-signature", r"[?&;]sig=([A-Za-z0-9%+/=]{40,})", ("sig=",)),
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

CODE = (
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
