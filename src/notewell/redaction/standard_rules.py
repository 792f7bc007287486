"""Key material and standard formats: JWT, JWE, JWK, wallets, password hashes, one-time codes."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from notewell.redaction.rules import BEGINS, Rule, token

_B58 = r"[1-9A-HJ-NP-Za-km-z]"
_SEED_NAMES = (
    r"(?:seed|mnemonic|recovery|wallet|backup phrase|secret words|助记词|恢复短语|シード|니모닉)"
)
_ITEM = r"[ \t>*-]*(?:\d{1,2}[.):]?[ \t]*)?[a-z]{3,8}"
_GROUPS = r"(?:[A-Za-z0-9]{4}[ -]){3,7}[A-Za-z0-9]{4}"
_BYTE = "(?:0x)?[0-9A-Fa-f]{2}"
_KEY_OF_BYTES = r"(?:app|nwk|net|network|link|session|join|gen|fnwk|snwk|aes|enc|encryption|master|secret|private|root|device|auth|security|pre-?shared)[ _-]?(?:s|sint|senc|app)?[ _-]?key|\bpsk|\bltk|\birk"
_KEYS_OF_BYTES = (
    "skey", "appkey", "nwkkey", "netkey", "psk", "linkkey", "link key", "link_key", "network key", "network_key", "networkkey", "security_key", "security key", "master key", "master_key",
    "masterkey", "aes key", "aes_key", "aeskey", "encryption key", "encryption_key", "device key", "device_key", "root key", "pre_shared", "preshared", "pre-shared", "session key", "private key", "enc_key", "sintkey",
)  # fmt: skip
_WORDS_NAMES = (
    r"seed|mnemonic|recovery phrase|backup phrase|wallet|semilla|mnem[oó]nic\w*|mnemoni\w*|frase de recuperaci[oó]n|frase de recupera[cç][aã]o|frase[- ](?:seme|semente|secreta)|phrase de r[eé]cup[eé]ration|phrase secr[eè]te|phrase mn[eé]monique"
    r"|wiederherstellungs\w*|merkphrase|seed-?phrase|semeno|fráze|fraza|fraz[ęy]|herstelzin|сид|мнемо\w*|助记词|助記詞|恢复短语|復元フレーズ|ニーモニック|シード|니모닉|복구 구문|시드"
)
_PRIVATE_DER = (
    "IBADANBgkqhkiG9w0BAQEFAASC", "MHcCAQEEI", "MC4CAQAwBQYDK2Vw", "MIGHAgEAMBMGByqGSM49", "IBAAKCAQEA", "IBAAKCAgEA", "b3BlbnNzaC1rZXktdjE",
)  # fmt: skip
"""How private keys begin in base64, without their fence: PKCS#8 and PKCS#1 of RSA, EC, Ed25519, OpenSSH."""
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
        proof="token",
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
    Rule(
        "private-key",
        rf"((?:M[A-Za-z0-9]{{5,9}})?(?:{'|'.join(_PRIVATE_DER)})[A-Za-z0-9+/]{{20,}}(?:(?:\\n|[\s\"'\\+>])*[A-Za-z0-9+/]{{40,}})*(?:(?:\\n|\s)*[A-Za-z0-9+/]{{4,}})?={{0,2}})",
        _PRIVATE_DER,
        spans_lines=True,
        says="a private key in base64, without its fence",
    ),
    Rule(
        "app-password",
        rf"(?:app(?:lication)?[ -]?(?:specific)?[ -]?(?:password|passwort|passwd|pw|pass|kennwort)s?|app-?passwort|mot de passe d.application|contraseña de aplicaci[oó]n|senha de app|wp-json|gmail|icloud|wordpress)\b[^\n]{{0,50}}?[ \"'`:=]({_GROUPS})(?:$|[\s\"'`.,;)|<])",
        (
            "app pass",
            "app-pass",
            "apppass",
            "app pw",
            "application pass",
            "application-pass",
            "app-specific",
            "app specific",
            "gmail",
            "icloud",
            "wordpress",
            "wp-json",
            "passe d",
            "contraseña de ap",
            "senha de app",
        ),
        any_case=True,
        proof="grouped",
        says="a password of an application, in groups of four",
    ),
    Rule("app-password", rf"[\w.@-]:({_GROUPS})[\"']", ("-u ", "--user"), proof="grouped"),
    Rule("recovery-key", BEGINS + r"([A-Z0-9]{4}(?:-[A-Z0-9]{4}){5,7})\b", (), proof="grouped"),
    Rule("license-key", BEGINS + r"([A-Z0-9]{5}(?:-[A-Z0-9]{5}){4})\b", (), proof="grouped"),
    Rule(
        "app-password", BEGINS + r"([A-Za-z0-9]{5}(?:-[A-Za-z0-9]{5}){4})\b", (), proof="grouped"
    ),
    Rule("recovery-key", r"\b(Es[A-Za-z0-9]{2}(?: [A-Za-z0-9]{4}){10,11})\b", ("Es",)),
    Rule(
        "key-bytes",
        rf"(?:{_KEY_OF_BYTES})[\"'`]?(?:\[\d*\])?[ \t]*[:=]?[ \t]*(?:new byte\[\])?[\[{{(\"'`]?[ \t\n]*((?:{_BYTE}[ \t:,-]{{1,3}}\s?){{15,63}}{_BYTE})\b",
        _KEYS_OF_BYTES,
        any_case=True,
        spans_lines=True,
        says="the bytes of a key, as a device shows them: `AppSKey: 4F 31 …`",
    ),
    Rule(
        "key-bytes",
        r"(?:network|link|security|encryption|aes|master|pre_?shared)_?key[\"'`]?[ \t]*[:=][ \t]*\[\s*((?:\d{1,3}\s*,\s*){15,31}\d{1,3})\s*\]",
        _KEYS_OF_BYTES,
        any_case=True,
        spans_lines=True,
    ),
    Rule(
        "wireguard-key",
        r"(?:wg gen(?:key|psk)|private ?key|privatekey|preshared ?key)[^\n]{0,60}\n[ \t>$#|]*([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)(?:$|\s)",
        ("genkey", "genpsk", "private", "preshared"),
        any_case=True,
        spans_lines=True,
        says="a key below the command that made it",
    ),
    Rule(
        "url-token",
        r"https?://([0-9a-f]{32}):[0-9a-f]{32}@",
        (),
        says="both keys of a Sentry DSN",
    ),
    Rule(
        "seed-phrase",
        rf"(?:{_WORDS_NAMES})[^\n:：=]{{0,24}}[:：=][ \t\n\"'`>]*((?:[a-z\x{{80}}-\x{{10ffff}}]+[,、]?[ \x{{3000}}])+[a-z\x{{80}}-\x{{10ffff}}]+)",
        (
            "seed",
            "mnem",
            "recovery",
            "backup phrase",
            "wallet",
            "semilla",
            "recupera",
            "frase",
            "phrase",
            "wiederherstellung",
            "merkphrase",
            "fraz",
            "fráz",
            "herstelzin",
            "сид",
            "мнемо",
            "助记词",
            "助記詞",
            "恢复短语",
            "復元フレーズ",
            "ニーモニック",
            "シード",
            "니모닉",
            "복구",
            "시드",
        ),
        any_case=True,
        spans_lines=True,
        proof="words",
        says="a recovery phrase in any language, behind its name",
    ),
    token("django-key", "django-insecure-", r"[^\s\"'`]{20,}"),
    Rule("laravel-key", r"\b(base64:[A-Za-z0-9+/]{43}=)", ("base64:",)),
    Rule(
        "wordpress-salt",
        r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['\"],\s*['\"]([^\n]{20,}?)['\"]\s*\)",
        ("AUTH_", "LOGGED_IN_", "NONCE_"),
    ),
    Rule(
        "gossip-key",
        r"\bencrypt[\"']?\s*[:=]\s*[\"']([A-Za-z0-9+/]{22,43}={1,2})[\"']",
        ("encrypt",),
        proof="random",
    ),
    Rule(
        "dns-key",
        r"(?i)\bsecret\s+\"([A-Za-z0-9+/]{16,}={0,2})\"\s*;",
        ("secret", "Secret"),
        says="a TSIG key",
    ),
    Rule("unseal-key", r"Unseal Key \d+: ([A-Za-z0-9+/=]{40,})", ("Unseal Key",)),
    Rule("yubikey-code", r"\b(cccccc[cbdefghijklnrtuv]{38})\b", ("cccccc",)),
    Rule(
        "erlang-cookie",
        r"(?:-setcookie|ERLANG_COOKIE=|RELEASE_COOKIE=)[ \"']*([A-Za-z0-9_-]{12,})",
        ("cookie", "COOKIE="),
    ),
    Rule(
        "wallet-key",
        r"\b((?:suiprivkey1|ed25519_e?sk1|root_xsk1|acct_xsk1|addr_xsk1)[02-9ac-hj-np-z]{40,})",
        ("suiprivkey1", "sk1"),
    ),
    Rule(
        "wallet-key",
        r"\b((?:edsk|edesk|spsk|p2sk)[1-9A-HJ-NP-Za-km-z]{50,})",
        ("edsk", "edesk", "spsk", "p2sk"),
    ),
    Rule("wallet-key", r"\b(PVT_(?:K1|R1)_[1-9A-HJ-NP-Za-km-z]{45,})", ("PVT_",)),
    Rule("wallet-key", r"\bed25519:([1-9A-HJ-NP-Za-km-z]{80,90})\b", ("ed25519:",)),
    Rule("wallet-key", r"\bed25519-priv-(0x[0-9a-f]{64})", ("ed25519-priv-",)),
    Rule(
        "wallet-key",
        r"(?:private|secret|priv|signer|deployer|wallet)[ _-]?(?:key|keypair)?[^\n]{0,30}?[\s:=\"'`]((?:0x)?[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{86,88})\b",
        (
            "private key",
            "private_key",
            "privatekey",
            "secret key",
            "secret_key",
            "secretkey",
            "priv_key",
            "signer",
            "deployer",
            "wallet",
        ),
        any_case=True,
        proof="random",
    ),
)
