"""What people tell each other in chats, mails and notes, in twenty-four languages: `§` is a password, `¤` a code of digits.

a prefix of each line (a stamp, a speaker, a mark of a list) × a wording of one to three lines × a value
"""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

PREFIXES = (
    ("", ""), ("[09:12] mira: ", "[09:13] otto: "), ("3/14/26, 08:05 - Mira: ", "3/14/26, 08:06 - Otto: "), ("Mira: ", "Otto: "), ("<mira> ", "<otto> "),
    ("> ", "> "), ("- ", "- "), ("* [ ] ", "* [ ] "), ("2. ", "3. "), ("2026-03-14 08:05 ", "2026-03-14 08:06 "), ("**Mira:** ", "**Otto:** "),
    ('{"role": "user", "content": "', '{"role": "assistant", "content": "'), ("** TODO ", "   "),
)  # fmt: skip
"""Of the first line, and of those below it."""

DIALOGS: dict[str, tuple[str, ...]] = {
    "en": (
        "what's the admin password?\n§", "whats the nas pw again\n§", "anyone knows the grafana password\nI used §", "remind me of the root password please?\nit was § I think", "password for the printer?\ntry §",
        "need the login for jenkins\nmira\n§", "could you send me the vpn password\nsure, §", "which pin did we use for the safe?\n¤", "what's the door code?\nit's ¤", "passcode of the ipad?\n¤",
        "the password is (without the brackets) §", "change the mail password (currently §)", "network key on the back of the modem: §", "old password §, new password §", "Plex: mira, pw §", "NAS, mira, pw §",
        "u: mira p: §", "p: § u: mira", "Grafana login: mira / §", "you can log in with §", "log in with mira / § please", "Passcode: ¤", "key box code ¤", "§ = pw for the backup host", "sorry, now it's § (password changed)",
        "the password is apple-old\nno wait, §", "§ <- wifi password", "the password § still works", "password for the shared drive of the design team: §", "wifi password of the cabin is §", "the alarm code at the office is ¤",
        "passwords:\n- laptop §\n- mail §", "Recovery codes:\n- [ ] ¤\n- [ ] ¤", "Service, Login, Password\nPlex, mira, §", "wifi is HomeNet and the code is §", "if it asks for a password use §",
        "my password for the bank is §, don't tell", "Wifi\nHomeNet\npassword §", "pw still §", "reset the root pw from § to §", "the safe opens with code ¤", "the passphrase for the key is §",
    ),
    "de": ("wie war nochmal das Passwort?\n§", "Passwort vom NAS?\nes ist §", "hat jemand das WLAN-Passwort\n§ glaub ich", "Passwort ändern (aktuell §)", "altes Passwort §, neues Passwort §", "WLAN-Schlüssel auf der Rückseite vom Router: §", "Türcode ist ¤", "sorry, jetzt ist es §", "Nextcloud Login: mira / §", "PIN vom Tresor?\n¤", "das Passwort lautet jetzt §"),
    "fr": ("c'est quoi le mot de passe du wifi ?\nc'est §", "quel est le mdp\n§", "changer le mot de passe (actuellement §)", "ancien mot de passe §, nouveau mot de passe §", "le mot de passe de la box est §", "code de la porte ?\n¤", "connecte-toi avec mira / §", "désolé, c'est §", "clé wifi derrière la box : §"),
    "es": ("¿cuál era la contraseña?\n§", "cual es la clave del wifi\nes §", "cambiar contraseña (actual §)", "la contraseña del router es §", "contraseña vieja §, contraseña nueva §", "¿el PIN de la caja?\n¤", "perdón, es §", "código de la puerta ¤"),
    "pt": ("qual é a senha do wifi?\né §", "qual a senha mesmo\n§", "trocar a senha (atual §)", "a senha do servidor é §", "senha antiga §, senha nova §", "entra com mira / §", "código do portão: ¤"),
    "it": ("qual era la password?\n§", "mi dici la password del wifi?\nè §", "cambiare password (attuale §)", "vecchia password §, nuova password §", "scusa, è §", "codice del cancello ¤", "accedi con mira / §"),
    "nl": ("wat is het wachtwoord?\nhet is §", "weet iemand het wifi-wachtwoord\n§", "wachtwoord wijzigen (nu §)", "oud wachtwoord §, nieuw wachtwoord §", "het wachtwoord van de router is §", "deurcode ¤"),
    "pl": ("jakie jest hasło do wifi?\n§", "jakie było hasło\nto §", "zmienić hasło (obecnie §)", "stare hasło §, nowe hasło §", "hasło do serwera to §", "kod do bramy ¤"),
    "cs": ("jaké je heslo na wifi?\n§", "jaké bylo heslo\nje §", "změnit heslo (nyní §)", "staré heslo §, nové heslo §", "heslo na server je §", "kód ke dveřím ¤"),
    "ro": ("care e parola?\n§", "care era parola de la wifi\neste §", "schimbă parola (acum §)", "parola veche §, parola nouă §", "parola de la router este §", "codul de la ușă ¤"),
    "hu": ("mi a jelszó?\n§", "mi volt a wifi jelszó\n§", "a jelszó §", "régi jelszó §, új jelszó §", "a router jelszava §", "kapukód ¤"),
    "fi": ("mikä on salasana?\n§", "mikä se wifin salasana oli\nse on §", "vaihda salasana (nyt §)", "vanha salasana §, uusi salasana §", "reitittimen salasana on §", "ovikoodi ¤"),
    "sv": ("vad är lösenordet?\ndet är §", "vad var wifi-lösenordet\n§", "byt lösenord (nu §)", "gammalt lösenord §, nytt lösenord §", "lösenordet till routern är §", "portkod ¤", "koden till dörren är ¤"),
    "no": ("hva er passordet?\ndet er §", "hva var wifi-passordet\n§", "bytt passord (nå §)", "gammelt passord §, nytt passord §", "passordet til ruteren er §", "koden til døren er ¤"),
    "da": ("hvad er adgangskoden?\ndet er §", "hvad var kodeordet\n§", "gammel adgangskode §, ny adgangskode §", "adgangskoden til routeren er §"),
    "tr": ("şifre neydi?\n§", "wifi şifresi nedir\n§", "şifreyi değiştir (şu an §)", "eski şifre §, yeni şifre §", "modemin şifresi §", "kapı kodu ¤"),
    "el": ("ποιος είναι ο κωδικός;\n§", "τι κωδικό έχει το wifi\nείναι §", "ο κωδικός του router είναι §", "παλιός κωδικός §, νέος κωδικός §"),
    "uk": ("який пароль?\n§", "який пароль від вайфаю\nце §", "змінити пароль (зараз §)", "старий пароль §, новий пароль §", "пароль від роутера §", "код від дверей ¤"),
    "ru": ("какой пароль от вайфая?\n§", "напомни пароль?\nэто §", "сменить пароль (сейчас §)", "старый пароль §, новый пароль §", "пароль от роутера теперь §", "код от подъезда ¤"),
    "vi": ("mật khẩu wifi là gì?\n§", "mật khẩu là gì vậy\nlà §", "mật khẩu cũ §, mật khẩu mới §", "mật khẩu của router là §", "mã cửa ¤"),
    "id": ("apa password wifinya?\n§", "kata sandinya apa\n§", "sandi lama §, sandi baru §", "password wifinya §", "kata sandi router adalah §", "kode pintu ¤"),
    "zh": ("wifi密码是多少？\n§", "密码是什么\n§", "旧密码§，新密码§", "路由器的密码是 §", "门禁密码 ¤", "抱歉，密码是§"),
    "ja": ("Wi-Fiのパスワードは何？\n§", "パスワード教えて\n§です", "古いパスワードは§、新しいパスワードは§", "ルーターのパスワードは § です"),
    "ko": ("와이파이 비밀번호 뭐야?\n§", "비번 뭐였지\n§", "이전 비밀번호 §, 새 비밀번호 §", "공유기 비밀번호는 § 입니다", "현관 비밀번호 ¤"),
    "he": ("מה הסיסמה?\n§", "מה הסיסמה של הווייפיי\nזה §", "סיסמה ישנה §, סיסמה חדשה §", "הסיסמה של הראוטר היא §"),
}  # fmt: skip
