"""The words that announce a secret, by language. Data for `phrases.py` and `tables.py`."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

SHORT_PASSWORDS = "pwd|pw|mdp|clave|codice|parola|parol|senha|sandi|hasł[oa]|haslo|heslo|losung"
LONG_PASSWORDS = "|".join((
    "pass ?words?|pass ?phrase|pass-?code|passwd|wi-?fi (?:key|code)",
    "passwort|kennwort|wlan-schlüssel",  # de
    "mot de passe|phrase secrète|code wi-?fi",  # fr
    "contraseñ[ae]|contrasena",  # es
    "codice segreto",  # it
    "palavra-passe|wachtwoord",  # pt, nl
    "lösenord|losenord|adgangskode|kodeord|passord|salasana",  # sv, da, no, fi
    "jelszó|jelszo|şifre|sifre",  # hu, tr
    "mật khẩu|kata sandi",  # vi, id
    "пароль|пароля|паролем|кодовое слово",  # ru, uk
    "κωδικός|κωδικό|κωδικος",  # el
))  # fmt: skip
LATIN_PASSWORDS = f"{LONG_PASSWORDS}|{SHORT_PASSWORDS}"
"""Regular expressions, without case. Up to three letters may follow: `Lösenordet`, `şifresi`.
Short ones must not be the end of another word."""

OTHER_PASSWORDS = "|".join((
    "密码|密碼|口令|暗码",
    "パスワード|暗証番号|合言葉|パスフレーズ",
    "비밀번호|비번|암호|패스워드",
    "كلمة المرور|كلمة السر|كلمة مرور|كلمة سر|الرقم السري",
    "पासवर्ड|कूटशब्द",
    "รหัสผ่าน",
    "סיסמה|סיסמא|הסיסמה",
))  # fmt: skip
"""Scripts without spaces, or whose words we take as they are."""

SHORT_SECRETS = "key|clé|cle|geheim|avain|khóa|kunci|chave|klucz|klíč|ключ"
LONG_SECRETS = "|".join((
    "token|secret|credential|bearer|api ?key",
    "schlüssel|geheimnis",
    "jeton|chiave|segreto|segredo|sleutel",
    "nyckel|nøgle|kulcs|anahtar|belirtec|belirteç|cheie",
    "токен|секрет|κλειδί",
))  # fmt: skip
LATIN_SECRETS = f"{LONG_SECRETS}|{SHORT_SECRETS}"

OTHER_SECRETS = "|".join((
    "密钥|密鑰|令牌|秘钥|金钥",
    "キー|トークン|シークレット|秘密鍵",
    "키|토큰|비밀키|시크릿",
    "مفتاح|الرمز المميز|رمز",
    "कुंजी|टोकन",
    "מפתח|אסימון",
))  # fmt: skip

VERBS = "|".join((
    "is|are|was|were|be|to|as|it'?s|that'?s|with|uses?|set to|called|now|reads",
    "ist|lautet|war|auf|heißt|est|était|sera|en|es|era|a|è|é|in|para|jest|to|är|er|on|je|este|là",
    "adalah|είναι|היא|هي|है|คือ|is nu|wordt",
))  # fmt: skip

ACCOUNTS = (
    "login|log in|logins|sign in|signin|creds|credentials|zugangsdaten|identifiants|credenciales"
    "|credenziali|credenciais|inloggegevens|dane logowania|logowanie|accès|wifi|wi-fi|wlan"
    "|zugang|konto|compte|cuenta|conta|account:|log in as|logged in as|accedi|entra com|log ind|log into|sign into|logged into|логин|вход|账号|帐号|ログイン|auth-user-pass|anmeldung|acceso|accesso"
)

_PLAIN_LITERALS = (
    "password", "pass word", "passphrase", "pass phrase", "passcode", "pass-code", "passwd",
    "passwort", "pwd", "pw", "kennwort", "losung", "wi-fi ", "wifi ", "wlan-", "mot de passe",
    "mdp", "phrase secr", "contrase", "contrasena", "clave", "parol", "codice", "senha",
    "palavra-passe", "wachtwoord", "hasło", "hasła", "haslo", "heslo", "lösenord", "losenord",
    "adgangskode", "kodeord", "passord", "salasana", "jelsz", "şifre", "sifre", "mật khẩu",
    "sandi", "парол", "кодовое", "κωδικ", "code wi",
    "token", "secret", "key", "credential", "bearer", "schlüssel", "geheim", "clé", "cle ",
    "cle:", "jeton", "chiave", "segret", "chave", "segredo", "sleutel", "klucz", "klíč", "nyckel",
    "nøgle", "avain", "kulcs", "anahtar", "belirte", "khóa", "kunci", "cheie", "ключ", "токен",
    "секрет", "κλειδ",
)  # fmt: skip
LITERALS: tuple[str, ...] = (
    *_PLAIN_LITERALS,
    *OTHER_PASSWORDS.split("|"),
    *OTHER_SECRETS.split("|"),
)
