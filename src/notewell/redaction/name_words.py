"""What the words of a name say, in any language and spelling: `schluessel`, `klucz_api`, `credentails`, `wifikey`.

    name ──▶ words (camelCase, snake, kebab, dotted, run together) ──▶ folded ──▶ the head ──▶ its family

Folded: without case and accents, so `clé`, `CLE` and `cle` are one word. The head is the last word
(`api_token`), or in some languages the first (`chiave_api`); the words behind it must then say what
the head belongs to. Long heads are also known with one letter wrong.
"""
# ruff: noqa: E501 - a table is read as a whole

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.redaction.plausible import QUALIFIERS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

Head: TypeAlias = Literal["password", "secret", "token", "key"]

_LETTERS = str.maketrans("ıłøđðßæœ", "iloddsao")


@lru_cache(maxsize=8192)
def folded(text: str) -> str:
    """Without case and accents: `Clé` and `cle` are the same word."""
    lower = text.casefold()
    if not lower.isascii():
        parts = unicodedata.normalize("NFKD", lower)
        lower = "".join(char for char in parts if not unicodedata.combining(char))
    return lower.translate(_LETTERS)


def folded_set(words: str) -> frozenset[str]:
    return frozenset(folded(word) for word in words.split())


_HUMPS = re.compile(r"[A-Z]+(?![a-zà-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")
_NO_LETTERS = re.compile(r"[_\W\d]+")


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """`dbPassword2`, `DB_PASSWORD`, `db-password`: the words, folded."""
    if name.isascii():
        return tuple(word.lower() for word in _HUMPS.findall(name))
    # A combining mark is no letter: it would cut a word of Thai or Hindi.
    whole = unicodedata.normalize("NFC", name)
    parts = _NO_LETTERS.split(folded(_HUMP.sub("_", whole)))
    return tuple(part for part in parts if part)


# Heads by language, as they are written. `_` stands between the words of one: `codice_segreto`, `codiceSegreto`.
_SPELLINGS: dict[Head, str] = {
    "password": (
        "passphrase passwort kennwort losungswort zugangscode zugriffscode mot_de_passe code_acces code_secret phrase_secrete phrase_secrète"
        " contraseña contrasena contrasenya codigo_secreto palavra_passe palavra_de_passe codigo_acesso codice_segreto codice_accesso parola_dordine"
        " wachtwoord toegangscode lösenord losenord adgangskode kodeord passord salasana tunnussana lykilorð haslo hasło hasla hasła heslo hesla jelszo jelszó jelszava"
        " sifre şifre sifresi şifresi parola salasõna slaptazodis slaptažodis lozinka zaporka geslo mat_khau mật_khẩu kata_sandi kata_laluan sandi fjalekalim pasahitza contrasinal"
        " пароль пароля парола лозинка κωδικός κωδικος κωδικός_πρόσβασης συνθηματικό 密码 密碼 口令 暗码 暗號 通行碼 パスワード パスフレーズ パスコード 合言葉 暗証番号 비밀번호 비번 암호 패스워드"
        " كلمة_المرور كلمة_السر كلمه_المرور كلمه_السر كلمة_مرور كلمة_سر رمز_الدخول رمز_المرور رمز_عبور گذرواژه پسورد סיסמה סיסמא סיסמת קוד_גישה पासवर्ड कूटशब्द পাসওয়ার্ড รหัสผ่าน கடவுச்சொல் პაროლი գաղտնաբառ"
    ),
    "secret": (
        "geheimnis geheimwort secreto segreto segredo sekret tajemství tajemstvi tajemnica hemlighet hemmelighed hemmelighet salaisuus rahasia"
        " секрет таємниця μυστικό tajny_klucz tajny_klíč tajny_klic gizli_anahtar kunci_rahasia khoa_bi_mat khóa_bí_mật clé_secrète cle_secrete clave_secreta llave_secreta chiave_segreta chave_secreta"
        " geheime_sleutel geheimer_schlüssel geheimer_schluessel hemlig_nyckel hemmelig_nøgle salainen_avain titkos_kulcs cheie_secreta секретный_ключ секретний_ключ таен_ключ tajni_kljuc"
        " 密钥 密鑰 私钥 私鑰 秘钥 金钥 シークレット 秘密鍵 共通鍵 비밀키 비밀_키 시크릿 개인키 المفتاح_السري مفتاح_سري السر סוד מפתח_סודי गुप्त_कुंजी"
    ),
    "token": "jeton belirteç belirtec токен žeton zugriffstoken 令牌 凭证 憑證 トークン 토큰 رمز_الوصول الرمز_المميز אסימון टोकन",
    "key": (
        "schlüssel schluessel schlussel clé cle clef llave clave chiave chave sleutel klucz klucza klíč klic kľúč kluc ključ kljuc nyckel nøgle nogle nøkkel nokkel avain kulcs anahtar anahtarı anahtari kunci khóa khoa cheie"
        " ключ ключа κλειδί 密匙 鍵 キー 키 مفتاح کلید מפתח कुंजी"
    ),
}
_HEADS: dict[Head, frozenset[str]] = {
    family: folded_set(words.replace("_", "")) for family, words in _SPELLINGS.items()
}
_FAMILIES: dict[str, Head] = {word: family for family in _HEADS for word in _HEADS[family]}
# A word with one letter wrong still has one of these parts.
_PARTS_OF_LONG = (
    "passp phrase hprase creden entials contras wacht woord adgan gskode kennw schlu sleut"
)


_SHORT = ("cle", "sandi", "geslo")
"""In other words, too: these are looked for between other words of a name."""


def name_patterns() -> tuple[str, ...]:
    """What a name in another language or spelling contains, as patterns without case."""
    spelt = (word for words in _SPELLINGS.values() for word in words.split())
    return (
        *(word.replace("_", "[ _.-]?") for word in spelt if word not in _SHORT),
        *_PARTS_OF_LONG.split(),
        *(f"[._-]{word}|{word}(?:[._-]|api|secr|priv|wifi|acc|ssh|db)" for word in _SHORT),
    )


def _begins(word: str) -> Iterator[str]:
    """The first two parts of a word, however they are joined: one part may be an ordinary word."""
    first, gap, rest = word.partition("_")
    signs = ("", " ", "_", ".", "-") if gap else ("",)
    return (first + sign + rest.partition("_")[0] for sign in signs)


def name_literals() -> tuple[str, ...]:
    """A text without any of these has no such name."""
    spelt = {word for words in _SPELLINGS.values() for word in words.split()} - {*_SHORT}
    spelt = {joined for word in spelt for joined in _begins(word)}
    ends = (
        ("", "_"),
        ("", "-"),
        ("", "."),
        ("_", ""),
        ("-", ""),
        (".", ""),
        ("", "api"),
        ("", "secr"),
    )
    short = (f"{before}{word}{behind}" for word in _SHORT for before, behind in ends)
    return (*sorted(spelt), *_PARTS_OF_LONG.split(), *short)


_MODIFIERS = folded_set(
    "api app web http rest auth oauth wifi wlan wpa vpn ssh ftp smtp imap mail email db sql mysql pg postgres redis ldap aws s3 admin root user client server service konto account"
    " secret geheim geheime geheimer geheimen geheimes privat private privater privee prive secrete secreta secreto segreta segreto privada privado privata privato tajny tajna tajne prywatny prywatna soukromy hemlig hemmelig hemligt salainen titkos gizli ozel rahasia secreta секретный секрет приватный закрытый μυστικο mat bimat"
    " access acces acceso acesso accesso zugang zugangs zugriff zugriffs toegang toegangs dostepu pristupovy pristup atkomst adgang tilgang erisim hozzaferesi доступа"
    " encryption verschluesselung verschlusselung chiffrement cifrado cifratura criptografia szyfrowania sifrovaci kryptering sifreleme шифрования signing signature signatur firma podpisu webhook master shared session sitzung"
    " wartung maintenance backup sicherung prod production dev test live old new main license lizenz licence licencia licenca licenza licencji recovery"
    " ключ ключа قاعدة 秘密 接口 私 暗号化 비밀 암호화 접근"
)
"""What tells the key of a lock from the key of a map."""

_TRAILING = QUALIFIERS | folded_set(
    "string bd db banco bazy databaze databazi baze veritabani datenbank database banque utente usuario utilisateur user nutzer benutzer bruker gebruiker uzytkownika uzivatele kullanici"
    " acceso acesso acces access accesso zugang amministratore administrador administrateur administratora admin admina administrator root servidor serwera serveur server serwis rete host nas"
    " wifi wlan ftp smtp imap mail email correo poczty vpn ssh sql mysql pg postgres redis ldap api app aplikacji secreta secreto segreta segreto secret secrete privada privado privata privee tajny tajne rahasia"
    " cliente client kunde klant klient klienta aplicacion aplicacao application applicazione anwendung servicio servico servizio service dienst пользователя админа базы сервера доступа шифрования апи المستخدم"
)
_FILLERS = word_set(
    "for of to from on at in fur fuer zum vom pour du de del do da di dla para per voor van til till na"
)
"""`passwordForBackup`: any words may follow."""

_NO_HEAD = folded_set(
    "public pub offentlicher publica publico pubblica publik primary primaria foreign obcy fremd fremdschlussel column spalte sort hash cache index laenge lange length name feld field typ type id"
    " reset forgot show hide confirm repeat invalid missing wrong change update"
)
LEAST_LETTERS = 8
"""Shorter words have neighbours with another meaning: `secret` and `secrets`, `parola` and `parole`."""

_LONG_HEADS: tuple[tuple[str, Head], ...] = tuple(
    (word, family)
    for family, words in (
        *_HEADS.items(),
        ("password", {"passphrase"}),
        ("secret", {"credential", "credentials", "clientsecret"}),
        ("token", {"accesstoken", "authtoken"}),
    )
    for word in sorted(words)
    if len(word) >= LEAST_LETTERS and word.isascii()
)
_SPELT = frozenset(word for word, _ in _LONG_HEADS) | {"passwords", "passphrases", "passworts"}
_OTHER_WORDS = word_set("crossword sword swordfish buzzword foreword password-less paraphrase")
MAX_NAME_WORDS = 6


@lru_cache(maxsize=4096)
def misspelt_head(word: str) -> Head | None:
    """The family of a long head with one letter missing, added, wrong or exchanged."""
    if len(word) < LEAST_LETTERS - 1 or word in _SPELT or word in _OTHER_WORDS:
        return None
    # Most words differ at both ends: then they differ by more than one letter.
    begin, end = word[:3], word[-3:]
    near = (one for one in _LONG_HEADS if one[0].startswith(begin) or one[0].endswith(end))
    return next((family for head, family in near if is_one_edit_away(word, head)), None)


def is_one_edit_away(one: str, other: str) -> bool:
    """True for equal words, too."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if start is None:
        return True
    a, b = one[start:], other[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


@lru_cache(maxsize=8192)
def head_of(name: str) -> Head | None:
    """What a value of this name is, where the name is not plain English; None if it does not say."""
    words = words_of(name)
    if not words or len(words) > MAX_NAME_WORDS or not _NO_HEAD.isdisjoint(words):
        return None
    for at in range(len(words)):
        for end in range(min(len(words), at + 4), at, -1):
            family = _family("".join(words[at:end]), alone=words[:at] + words[end:])
            if family and _belongs(words[end:], is_latin=words[at].isascii()):
                return family
    return None


def _belongs(rest: tuple[str, ...], *, is_latin: bool) -> bool:
    """Whether the words behind a head say what it opens; in other scripts that is any word."""
    if not rest or rest[0] in _FILLERS or not is_latin:
        return True
    return all(one in _TRAILING or one in _MODIFIERS or one.isdigit() for one in rest)


def _family(word: str, alone: tuple[str, ...]) -> Head | None:
    if family := _FAMILIES.get(word):
        return family if family != "key" or not alone or not _MODIFIERS.isdisjoint(alone) else None
    # Run together: `wlanschluessel`, `DB密码`.
    for at in range(1, len(word) - 1):
        family = _FAMILIES.get(word[at:])
        if family and (word[:at] in _MODIFIERS or (family != "key" and not word[at:].isascii())):
            return family
    return misspelt_head(word)


def is_joined_to_key(word: str) -> bool:
    """`wifikey`, `sshkey`: run together with what the key opens."""
    return word.endswith("key") and word[:-3] in _MODIFIERS
