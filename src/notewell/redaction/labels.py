"""Names that say password, in settings, code and speech: `DB_PASS`, `smtpKennwort`, `mot de passe`, `пароль`.

    text ──▶ LABEL (RE2: an identifier or a word with a telling stem) ──▶ is_password_label ──▶ beside.py

A stem proves little (`passed`, `bypass`, `passwordLength`), so the words of an identifier decide.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from notewell.redaction.plausible import QUALIFIERS, word_set

# Long stems may be anywhere in an identifier.
STEMS = "|".join((
    "passwor|passwd|passphras|passcode|passwrd|pasword|paswd|psswd|pswd|pwrd|passphr|p@ss|p/w|[us]pwd|passkey|p[aos][swdor]{3,7}[dt]",
    "pass[ -]word|pass[ -]phrase|pass[ -]code|code ?word|safe ?word",
    "kennwort|passwort|paßwort|losungswort|codewort|geheimwort",  # de
    "mot[ _.-]?de[ _.-]?pass?e|phrase secrète|code secret",  # fr
    "contraseñ|contrasen|contrseñ|contaseñ|contrasenya",  # es, ca
    "palavra[ _.-]?passe|codice segreto|parola d'ordine|parola chiave",  # pt, it
    "wachtwoord|toegangscode|lösenord|losenord|adgangskode|kodeord|passord|salasana|lykilorð",  # nl, sv, da, no, fi, is
    "hasł[oa]|hasłem|jelsz[óo]|jelszav|şifre|parool|salasõna|slaptažod|slaptazod",  # pl, hu, tr, et, lt
    "lozink|zaporka|mật[ _]khẩu|mat[ _.-]?khau|kata[ _.-]?sandi|kata[ _.-]?laluan",  # hr, sr, vi, id, ms
    "cl[eé][ _-]?secr[eè]te|секретный[ _]ключ|geheime?[rn]?[ _-]?(?:sleutel|schlüssel|schluessel)|clave[ _-]?secreta|chiave[ _-]?segreta|chave[ _-]?secreta",
    "парол|лозинк|кодовое слово|κωδικ|συνθηματικ",  # ru, uk, bg, sr, el
))  # fmt: skip
# Short stems must be words of their own.
SHORT = (
    "pass|pwd|pw|psw|psk|mdp|ww|clave|senha|wi-?fi[ -]?(?:key|code)|wlan[ -]?(?:key|schlüssel|code)|cl[ée] wi-?fi|code wi-?fi|wpa[ -]?(?:key|psk|2)?[ -]?key|parola|parol|haslo|heslo|hesla|geslo|sifre|sifresi|sifra|sandi|mima"
    "|bindpw|rootpw|userpw|passw|contra|lösen|losung|cred|creds|credential|credentials|pin[_.-]?code"
)
_CAMEL = (
    "Mdp|Pass|Pw|Pwd|Psk|Senha|Clave|Heslo|Haslo|Sifre|Parola|Geslo|Creds?|Credentials?|PinCode"
)
OTHER = "|".join((
    "密码|密碼|提取码|访问码|口令|暗码|暗號|通行碼",
    "パスワード|パスフレーズ|パスコード|合言葉|パス(?:は|：)",
    "비밀번호|비번|암호|패스워드",
    "كلم[ةه][ _]?(?:ال)?(?:مرور|سر)|(?:ال)?باسو?رد|رمز عبور|گذرواژه|پسورد|پاس ورڈ",
    "पासवर्ड|कूटशब्द|পাসওয়ার্ড|கடவுச்சொல்|รหัสผ่าน|סיסמ[הא]|პაროლი|գաղտնաբառ",
))  # fmt: skip
LABEL = rf"((?:{STEMS})|(?:(?:\b|_)(?:{SHORT})|(?-i:[a-z0-9](?:{_CAMEL})))(?:\b|[_\d]|(?-i:[A-Z]))|(?-i:[A-Z](?:PWD?|PASS)|[a-z](?:pwd?|pass))(?:\b|_)|(?P<other>{OTHER}))"
"""The stem; `label_around` reads the name around it."""

_REMOVED = re.compile(rb"(?:\n|\A)-\w[\w.-]{2,40}[\"']?(?:[ ]=[ ]|=|:[ ])")
"""A line that a diff removes: `-password = …`."""
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
MAX_NAME_BYTES = 48
_REST = re.compile(
    r"[A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff\u1e00-\u1eff-]{0,40}(?:\.(?:prod|dev|test|new|old|default|main|live|value|plain|admin|root|user|client|server|db|wifi|mail|backup|eu|us|\d{1,2})\b)?"
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_PASSWORDS = word_set(
    "password passwd pass pw pwd psw passw psk passphrase passcode passwort kennwort losung losungswort codewort"
    " geheimwort mdp clave senha contra contrasena contraseña parola parol wachtwoord ww lösen haslo heslo"
    " hesla geslo sifre şifre sifra sandi mima bindpw rootpw userpw passkeys psswd pswd passwrd codeword safeword"
    " contrasenya parool lozinka zaporka slaptazodis slaptažodis jelszo jelszó salasana losenord lösenord passord"
    " adgangskode kodeord cred creds credential credentials passe segreto sshpass pincode p@ss p/w contrasenia contrasenha passphr pwrd paswd upwd spwd paßwort toegangscode passwor"
)
_ENDINGS = (
    "password", "passwd", "passphrase", "passwort", "kennwort", "pwd", "wachtwoord", "passcode", "motdepasse",
    "clesecrete", "geheimesleutel", "geheimschluessel", "geheimerschluessel", "clavesecreta", "chiavesegreta", "chavesecreta", "palavrapasse", "palavradepasse", "katasandi", "sifresi", "şifresi", "jelszava", "passphr", "pwrd", "upwd", "spwd", "dbpw", "paswd", "matkhau", "contrasena", "adgangskode", "lösenord", "passord", "salasana", "senha",
)  # fmt: skip
_TRAILING = QUALIFIERS | word_set(
    "bd db banco bazy databaze databazi baze veritabani datenbank database utente usuario usuário utilisateur user nutzer benutzer bruker"
    " acceso acesso acces access zugang amministratore administrador admin administrator root secreta secrete segreta secret geheim"
    " wifi wlan ftp smtp imap mail email vpn ssh sql mysql pg postgres redis ldap api app server servidor serwera serveur rete host nas"
    " val str string s es en et er in a e i o u n r m"
)
# What a dialog says about a password, and words that only contain the stem.
_OTHER_USE = word_set(
    "show hide forgot forget reset confirm repeat change enter invalid missing wrong toggle has is use needs require"
    " requires validate check verify no without bypass compass trespass encompass overpass underpass multipass surpass"
    " first second single two one per render second by all tests test can will did does to on off if"
)


def _misspellings(word: str) -> frozenset[str]:
    """One letter left out, doubled, wrong, or two exchanged."""
    letters = "aeioprsdtwqz0"
    found = {word[:at] + word[at + 1 :] for at in range(1, len(word))}
    found |= {word[:at] + word[at] + word[at:] for at in range(len(word))}
    found |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    found |= {
        word[:at] + letter + word[at + 1 :] for at in range(1, len(word)) for letter in letters
    }
    return frozenset(found - {"passwords", "passworded"})


_MISSPELT = (
    _misspellings("password")
    | _misspellings("passwort")
    | _misspellings("kennwort")
    | {"passowrds", "pasword"}
)


def label_around(match: Any) -> tuple[int, int, str]:
    """Start and end (in bytes) of the name whose stem `match` is, and the name."""
    data: bytes = match.string
    start, end = match.span(1)
    if match.group("other") is None:
        # The boundary of a short stem is part of the match.
        before = data[max(0, start - MAX_NAME_BYTES) : start]
        start -= len(before) - len(before.rstrip(_NAME_BYTES))
        if data[start : start + 1] == b"-" and _REMOVED.match(data, start - 1 if start else 0):
            start += 1
        rest = _REST.match(data[end : end + MAX_NAME_BYTES].decode("utf-8", "ignore"))
        end += len(rest[0].encode()) if rest else 0
    return start, end, data[start:end].decode("utf-8", "replace")


@lru_cache(maxsize=4096)
def is_password_label(name: str) -> bool:
    """Whether the value of `name` is a password; not for `passed`, `passwordLength`, `showPassword`."""
    if not name.isascii() or " " in name:
        return _is_foreign_label(name)
    words = [word.lower() for word in _HUMPS.findall(name)]
    if "for" in words[1:]:
        words = words[: words.index("for", 1)]
    if "".join(words[-3:]).endswith(_ENDINGS):
        return _OTHER_USE.isdisjoint(words[:-1])
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words or name[:1] == "1" or not _OTHER_USE.isdisjoint(words[:-1]):
        return False
    last, joined = words[-1], "".join(words[-3:])
    if last in _OTHER_USE:
        return False
    if (
        last in _PASSWORDS
        or joined.endswith("pincode")
        or last in _MISSPELT
        or joined.endswith(_ENDINGS)
    ):
        return True
    # `pgpass`, `dbpw`, `DBPASS`: run together.
    return last.endswith(("pass", "pw")) and len(last) <= 12 and last not in _OTHER_USE


def _is_foreign_label(name: str) -> bool:
    """A word of another script, or several words; an ending of a case or an article may follow."""
    lower = name.lower()
    return not lower.endswith(("words", "phrases", "codes"))
