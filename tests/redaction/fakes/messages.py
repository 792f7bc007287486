"""Passwords that people chose, in messages whose words are not those of the rules, and the places of programs.

MENTIONS    `§` a chosen password anywhere in a line that talks of one
PLAIN       `§` also a plain word: the grammar leaves no doubt
AROUND      the value is in another line than its topic
WIRES       places of protocols, programs and their files
"""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random

from tests.redaction.fakes.making import ALPHABETS, DIGITS, Sample, some

MESSAGE_ROWS = ("mentions", "plain", "around", "wires")
_WORDS = tuple(
    """
    birch copper heron lagoon nutmeg pigeon plaster quiver shovel spindle thicket trumpet tundra velcro
    cobble drizzle furnace gravel hazel juniper knuckle lobster mustard orbit parsnip radish sparrow
    Wiese Brunnen Kirsche Hafen Nebel colline lavande citron fuego ventoso sentiero nuvola
    """.split()  # noqa: SIM905
)
_TAILS = (
    "",
    "",
    "",
    ", thanks",
    " please",
    " (only this week)",
    " - Mona",
    ". Ask me if it fails",
    " :)",
    "\nbest, Mona",
    ", keep it to yourself",
    " until Sunday",
)
_HEADS = ("", "", "- ", "> ", "[08:41] mona: ", "ps: ", "hi Ivo, ", "* ", "Mona: ", "2. ")


def chosen(random: Random) -> str:
    """What a person or a generator makes; no plain word."""
    one, two, three, four = random.sample(_WORDS, 4)
    digits = some(random, DIGITS, random.choice([2, 3, 4]))
    leet = one.lower().translate(str.maketrans("aeo", "430"))
    return random.choice([
        f"{one.title()}{digits}", f"{one.title()}.{two.lower()}{digits}", f"{one.title()}-{digits}", f"{one.title()}!{digits}", f"{one.title()}{two.title()}{three.title()}",
        f"{one}-{two}-{three}-{four}".lower(), f"{one}.{two}.{three}.{four}".lower(), f"{one.title()}{two.title()}{digits}", f"{leet.title()}{digits}!", f"{one.title()}_{two.lower()}_{digits}",
        some(random, ALPHABETS["an"], 11) + "3K", "x" + some(random, ALPHABETS["sym"], 12) + "4", f"{one.title()}{two.title()}{three.title()}!",
    ])  # fmt: skip


def plain(random: Random) -> str:
    return random.choice(_WORDS).lower()


MENTIONS = (
    "if the box prompts you for the password just hit it with §",
    "I put § into the password field and it let me in",
    "the machine took § for a password yesterday",
    "please replace § by something better, it is still the root password",
    "we all share § there, yes one password for everybody",
    "the password used to be § and nobody touched it",
    "try the password with a capital letter: §",
    "tell Ivo that § opens the archive (password, not pin)",
    "my password for the forum leaked, it was §",
    "don't write the password § on the whiteboard again",
    "the password should be changed from § to something else",
    "the printer's password, §, is on the back",
    "admin password? still §",
    "password of the day: §",
    "for the record, password = §",
    "§ - password of the old laptop",
    "§ (that's the password for the projector)",
    "§ is what I set as password",
    "the new password, valid from tomorrow, will be §",
    "root / § (password is the same on both)",
    "I had to reset my password, now it's §",
    "password wasn't §, sorry",
    "password (temporary!) §",
    "passwort fürs archiv steht auf dem zettel: §",
    "hab als passwort § genommen",
    "das kennwort war früher mal §",
    "mit § als kennwort kommst du rein",
    "le mot de passe du serveur, c'est §",
    "j'ai mis § comme mot de passe",
    "la contraseña que puse fue §",
    "puse § de contraseña",
    "ho messo § come password",
    "come password prova §",
    "a senha que eu usei foi §",
    "het wachtwoord dat ik koos: §",
    "ustawiłem § jako hasło",
    "jako heslo jsem dal §",
    "поставил § как пароль",
    "şifre olarak § yazdım",
    "jag satte lösenordet till §",
    "密码我设成了 §",
    "パスワードは § にしました",
    "비밀번호를 § 로 바꿨어요",
    "passwrod for the wiki: §",
    "pasword is § now",
)
PLAIN = (
    "password: §",
    "the password is §",
    "my password is §",
    "wifi password: §",
    "the passphrase is §",
    "pw: §",
    "pw §",
    "Passwort: §",
    "das Passwort ist §",
    "Kennwort: §",
    "mot de passe : §",
    "le mot de passe est §",
    "contraseña: §",
    "la contraseña es §",
    "la password è §",
    "a senha é §",
    "wachtwoord: §",
    "het wachtwoord is §",
    "hasło: §",
    "heslo: §",
    "пароль: §",
    "passphrase: § trumpet radish heron",
    "the passphrase is: lagoon § nutmeg pigeon",
)
AROUND = (
    "Passwords for the workshop:\nlathe - §\nmill - §",
    "logins\nrouter: §\nnas: §",
    "here come the passwords\n\nmail: §\nvpn: §",
    "I'll send the password separately\n§",
    "password comes in the next line\n\n§",
    "pi: §\nmona: §\n(these are the passwords)",
    "The password for the backup disk is\n\n    §",
    "Zugangsdaten\nDrucker: §\nScanner: §",
    "Password:\n§\nregards",
    "what did you set as password?\n§",
    "mots de passe :\nimprimante : §\nserveur : §",
)
WIRES = (
    "Content-Disposition: form-data; name=\"passphrase\"\r\n\r\n§\r\n--b", "POST /login?user=mona&pass=§ HTTP/1.1", "<Password><Value>§</Value></Password>", "<password><value>§</value></password>", "mona : EAP \"§\"", ": PSK \"§\"", "# pap-secrets\nmona * § *", "mona l2tpd § *", "\"mona\" \"§\"",
    "snmpwalk -v2c -c § 10.0.0.9", "createUser mona SHA § AES", "iwctl --passphrase § station wlan0 connect Home", "nmcli con modify Home wifi-sec.psk §", "keytool -list -keystore k.jks -storepass §", "terraform plan -var 'admin_password=§'", "helm upgrade app ./c --set global.db.password=§", "podman run -e DB_PASSWORD=§ app",
    "gradle publish -PrepoPassword=§", "mvn -Dgpg.passphrase=§ verify", "curl --user mona:§ https://h.example/x", "curl -u :§ https://h.example/x", "ldapadd -D cn=a -w § -f x.ldif", "openssl pkcs12 -in a.p12 -passin pass:§ -nodes", "openssl passwd -6 §", "lftp -u mona,§ ftp.h.example", "htpasswd -nb mona §", "ejabberdctl register mona h.example §",
    "qpdf --password=§ --decrypt a.pdf b.pdf", "echo § | sudo -S reboot", "smbclient //h/x -U mona <<EOF\n§\nEOF", "export NPM_TOKEN=§", "ENV DB_PASSWORD §", "echo \"API_TOKEN=§\" >> $GITHUB_ENV", "env:\n  DB_PASSWORD: §\n", "register => mona:§@sip.h.example/200", "2001 => §,Mona,mona@h.example", "requirepass §", "static-auth-secret=§",
    "/msg NickServ identify §", "/connect irc.h.example 6697 §", "open h.example\nuser mona §\nbinary", "p4 -u mona -P § sync", "java -jar jenkins-cli.jar -auth mona:§ who-am-i", "reg add HKLM\\X /v DefaultPassword /t REG_SZ /d §", "{\"name\":\"Cookie\",\"value\":\"session_id=§\"}", "{\"text\": \"user=mona&password=§\"}",
    "UPDATE users SET password = MD5('§') WHERE id = 1", "crypto isakmp key § address 10.0.0.2", "sip:mona:§@h.example", "http://10.0.0.3 (mona, §)", "10.0.0.3 mona:§", "xfreerdp /v:h /u:mona /p:§", "impacket-wmiexec corp/mona:§@10.0.0.5", "flyctl secrets set DB_PASSWORD=§", "svn co --username mona --password § https://h.example/r",
)  # fmt: skip


def every_message(seed: int) -> Iterator[Sample]:
    random = Random(seed)
    for row, wordings, make in (("mentions", MENTIONS, chosen), ("plain", PLAIN, plain), ("around", AROUND, chosen), ("wires", WIRES, chosen)):  # fmt: skip
        for wording in wordings:
            for _ in range(5):
                value = make(random)
                head, tail = (
                    (random.choice(_HEADS), random.choice(_TAILS))
                    if row in {"mentions", "plain"}
                    else ("", "")
                )
                text = head + wording.replace("§", value) + tail
                yield Sample(row, wording, value, text, zlib.crc32(wording.encode()) % 4 == 0)
