"""Key material and standard formats: JWT, JWE, JWK, wallets, password hashes, one-time codes."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from notewell.redaction.rules import BEGINS, Rule, token

_B58 = r"[1-9A-HJ-NP-Za-km-z]"
_SEED_NAMES = (
    r"(?:seed|mnemonic|recovery|wallet|backup phrase|secret words|助记词|恢复短语|シード|니모닉)"
)
_ITEM = r"[ \t>*-]*(?:\d{1,2}[.):]?[ \t]*)?[a-z]{3,8}"
_CODE = r"(?:[a-z]{0,7}\d[a-z0-9]{0,7}(?:-[a-z0-9]{4,8}){1,7}|[a-z]{4,8}-[a-z]{0,7}\d[a-z0-9]{0,7}(?:-[a-z0-9]{4,8}){0,6}|(?:[a-z]{8}-){5,7}[a-z]{8}|\d{6,10}|\d{4} \d{4})"

STANDARD_RULES = (
    Rule(
        "jwt",
        BEGINS + r"((?:eyJ|ewog|ewoi)[A-Za-z0-9_-]{8,}={0,2}\.(?:eyJ|ewo)[A-Za-z0-9_-]{8,}={0,2}"
        r"(?:\.[A-Za-z0-9_-]*)?)",
        ("eyJ", "ewo"),
    ),
    # Five parts, of which the second may be empty.
    Rule(
        "jwe",
        BEGINS + r"(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
        r"\.[A-Za-z0-9_-]{16,})",
        ("eyJ",),
    ),
    # A JWT that was base64-encoded a second time: `ZXlK` is `eyJ` in base64.
    Rule("jwt", BEGINS + r"(ZXlK[A-Za-z0-9+/_-]{60,}={0,2})", ("ZXlK",)),
    # `kty` elsewhere in the text makes these letters the private members of a key.
    Rule(
        "jwk",
        r"""\\*["'](?:d|k|p|q|dp|dq|qi)\\*["']\s*:\s*\\*["']([A-Za-z0-9_-]{16,})""",
        ("kty",),
        proof="token",
        says="the private members of a JSON Web Key",
    ),
    Rule(
        "putty-key",
        r"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{64}\s+)*[A-Za-z0-9+/=]{1,64})",
        ("Private-Lines:",),
        spans_lines=True,
    ),
    # The keys of a Kubernetes Secret are arbitrary names, so all of its values are masked.
    Rule(
        "kubernetes-secret",
        r"(?s)\bkind:\s*[\"']?Secret\b.*?\n(?:d|stringD)ata:[ \t]*\n"
        r"((?:[ \t]+[\w.-]+:[^\n]*\n)*[ \t]+[\w.-]+:[^\n]*)",
        ("Secret",),
        spans_lines=True,
    ),
    Rule(
        "kubernetes-secret",
        r"client-key-data:\s*([A-Za-z0-9+/]{40,}={0,2})",
        ("client-key-data:",),
    ),
    Rule(
        "ansible-vault",
        r"\$ANSIBLE_VAULT;[^\n]*\n((?:[ \t]*[0-9a-f]{20,}\n?)+)",
        ("$ANSIBLE_VAULT;",),
        spans_lines=True,
    ),
    Rule(
        "bitcoin-key",
        BEGINS + rf"(5[HJK]{_B58}{{49}}|[KL]{_B58}{{51}}|5{_B58}{{50}})\b",
        (),
        proof="random",
    ),
    token("extended-key", "xprv yprv zprv tprv", _B58 + r"{100,}"),
    Rule("stellar-seed", BEGINS + r"(S[A-Z2-7]{55})\b", (), proof="random"),
    token("nostr-key", "nsec1", r"[02-9ac-hj-np-z]{58}"),
    token("minisign-key", "RWRTY0Iy RWQA", r"[A-Za-z0-9+/]{100,}={0,2}"),
    Rule(
        "solana-key",
        r"\[((?:\d{1,3},[ ]?){63}\d{1,3})\]",
        (),
        says="64 bytes as numbers",
    ),
    Rule(
        "password-hash",
        r"(\$(?:2[abxy]?|1|5|6|y|7|apr1|argon2(?:id|i|d)|scrypt|sm3|krb5\w*|pbkdf2[\w-]*)\$[^\s:\"'`;|)]{20,})",
        (
            "$2",
            "$1$",
            "$5$",
            "$6$",
            "$y$",
            "$7$",
            "$apr1$",
            "$argon2",
            "$scrypt",
            "$krb5",
            "$pbkdf2",
        ),
        says="hashes of crypt, bcrypt, Argon2, scrypt, Kerberos",
    ),
    Rule(
        "password-hash",
        r"\b((?:pbkdf2_sha\d+|pbkdf2:sha\d+:\d+|scrypt:\d+:\d+:\d+|bcrypt_sha256|argon2)\$[^\s\"'`,;|)]{30,})",
        ("pbkdf2", "scrypt:", "bcrypt_sha256$", "argon2$"),
    ),
    Rule("password-hash", r"(SCRAM-SHA-\d+\$\d+:[A-Za-z0-9+/=$:]{40,})", ("SCRAM-SHA-",)),
    Rule(
        "password-hash",
        r"\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT)\}([A-Za-z0-9+/$.]{16,}={0,2})",
        ("{S", "{MD5}", "{CRYPT}"),
    ),
    Rule(
        "password-hash", r":\d+:[0-9a-fA-F]{32}:([0-9a-fA-F]{32}):::", (":::",), says="NTLM hashes"
    ),
    Rule(
        "one-time-code-secret",
        r"(?i)otpauth://[^\s\"'<>]*[?&]secret=([A-Z2-7]{16,}=*)",
        ("otpauth://",),
    ),
    Rule(
        "one-time-code-secret",
        r"\b(?:totp|otp|2fa|mfa|two-factor|authenticator|einmalcode)[^\n]{0,40}?[\s:=\"'`]"
        r"([A-Z2-7]{16,})\b",
        ("totp", "otp", "2fa", "mfa", "two-factor", "authenticator"),
        any_case=True,
        proof="random",
    ),
    Rule(
        "openvpn-key",
        r"BEGIN OpenVPN Static key V1-+\s+((?:[ \t>]*[0-9a-f]{32}\s+)+[ \t>]*[0-9a-f]{32})",
        ("OpenVPN Static key",),
        spans_lines=True,
    ),
    token(
        "paseto",
        "v1.local. v2.local. v3.local. v4.local.",
        r"[A-Za-z0-9_-]{40,}(?:\.[A-Za-z0-9_-]+)?",
    ),
    Rule("wifi-password", BEGINS + r"WIFI:[^\s]*?P:((?:[^;\\\s]|\\.)+);", ("WIFI:",)),
    Rule("bitlocker-key", BEGINS + r"((?:\d{6}-){7}\d{6})\b", ()),
    Rule(
        "one-time-code-secret",
        r"\b(?:totp|otp|2fa|mfa|two-factor|authenticator)[^\n]{0,40}?[\s:=\"'`]"
        r"((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})\b",
        ("totp", "otp", "2fa", "mfa", "two-factor", "authenticator"),
        any_case=True,
    ),
    Rule(
        "recovery-codes",
        r"(?:recovery|backup|scratch|emergency|wiederherstellungs\w*)[ -]?"
        r"(?:codes?|keys?|schlüssel)"
        r"[^\n:]{0,40}?(?:[:\n]|\\n| is | = )\s*"
        rf"((?:(?:[ \t>*`+-]|\d{{1,2}}[.)]|\\n)*{_CODE}`?[ \t]*(?:[,;\n]|\\n)?\s*)*(?:[ \t>*`+-]|\d{{1,2}}[.)]|\\n)*{_CODE})\b",
        ("recovery", "backup", "scratch", "emergency", "wiederherstellung"),
        any_case=True,
        spans_lines=True,
    ),
    Rule(
        "seed-phrase",
        rf"{_SEED_NAMES}[^\n]{{0,60}}\n+((?:{_ITEM}[ \t]*\n){{11,23}}{_ITEM})",
        (
            "seed",
            "mnemonic",
            "recovery",
            "wallet",
            "backup phrase",
            "secret words",
            "助记词",
            "恢复短语",
        ),
        any_case=True,
        spans_lines=True,
        says="a recovery phrase of a wallet, a word on each line",
    ),
)
