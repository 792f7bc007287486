"""Recall on the second set of fakes: weak values, composed names, sentences, commands."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.redaction.fakes.wide import WIDE_ROWS, every_wide_sample
from tests.redaction.test_recall import REDACT

LEAST_RECALL = {
    "named": 0.95,
    "spoken": 0.92,
    "dialogs": 0.92,
    "typed": 0.88,
    "settings": 0.93,
    "sessions": 0.8,
}
"""What is reached also on the wordings that are aside. Half of the values are plain words,
numbers and names: without the rules for them recall is .25 (named), .23 (spoken),
.41 (dialogs) and .63 (typed)."""


@pytest.fixture(scope="module")
def missed() -> dict[tuple[str, bool], list[str]]:
    found: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for sample in every_wide_sample(21):
        gone = sample.secret not in REDACT(sample.text)
        found[sample.row, sample.is_aside].append("" if gone else sample.text)
    return found


@pytest.mark.parametrize("row", WIDE_ROWS)
@pytest.mark.parametrize("is_aside", [False, True])
def test_weak_values_are_masked_in_each_row(
    missed: dict[tuple[str, bool], list[str]], row: str, is_aside: bool
) -> None:
    texts = missed[row, is_aside]
    left = [text for text in texts if text]
    assert len(texts) >= 150
    assert 1 - len(left) / len(texts) >= LEAST_RECALL[row], left[:40]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASS=dragon", "dragon"),
        ("my PIN is 4821", "4821"),
        ("KENNWORT=sunflower", "sunflower"),
        ("MOT_DE_PASSE: Kestrel.maple42", "Kestrel.maple42"),
        ("password: maple-otter-cedar", "maple-otter-cedar"),
        ("hunter2 is my password", "hunter2"),
        ("what's the wifi password?\nsunflower", "sunflower"),
        ("USER anna\nPASS dragon", "dragon"),
        ("docker secret create db <(echo dragon)", "dragon"),
        ("CREATE USER anna IDENTIFIED BY dragon;", "dragon"),
        ('<property name="db.password">dragon</property>', "dragon"),
        ('variable "db_password" {\n  default = "dragon"\n}', "dragon"),
        ('#define WIFI_PW "dragon"', "dragon"),
        ("user,password\nanna,dragon", "dragon"),
        ("Security question: first pet? Answer: Fluffy", "Fluffy"),
        ("482913 is your verification code", "482913"),
        ("visa card 4539 5787 6362 1486, cvv 382", "4539 5787 6362 1486"),
        ('let db_pass: &str = "dragon";', "dragon"),
        ('api_key: Some("x4KcTqpxs7Lm".to_owned()),', "x4KcTqpxs7Lm"),
        ("INSERT INTO users (name, password) VALUES ('eva', 'dragon'), ('bo', 'x');", "dragon"),
        ('read -r user smtp_passwd <<< "eva fiscally1720"', "fiscally1720"),
        ('setValue("Shrimp.bangkok940", forHTTPHeaderField: "X-DbPassword")', "Shrimp"),
        ("> <name>ftp_pwd</name>\n>   <value>maple-otter-cedar</value>", "maple-otter"),
        ("/msg NickServ identify eva dragon", "dragon"),
        ("AWS Secret Access Key [None]: x4KcTqpxs7Lm", "x4KcTqpxs7Lm"),
        ("password = 'pe=j/oxFJ?b9DN'", "oxFJ"),
        ('printf "Apricot7987_\\nApricot7987_\\n" | passwd eva', "Apricot7987_"),
        ("密码是：钦枟鶥4640", "钦枟鶥4640"),
        ("[09:12] mira: need the login\n[09:13] otto: mira\n[09:13] otto: dragon", "dragon"),
        ("- [ ] change the mail password (currently gandalf)", "gandalf"),
        ("ποιος είναι ο κωδικός;\nθάλασσα-ήλιος-βουνό", "θάλασσα-ήλιος-βουνό"),
        ("какой пароль?\nподсолнух", "подсолнух"),
        ("Service, Login, Password\nPlex, mira, maple-otter-cedar", "maple-otter-cedar"),
        ("passwords:\n- laptop lanterncometwalnut", "lanterncometwalnut"),
        ('{"role": "user", "content": "48HarborOtter <- the admin pw"}', "48HarborOtter"),
    ],
)
def test_a_weak_secret_is_masked_where_nothing_else_can_be(text: str, secret: str) -> None:
    assert secret not in REDACT(text)


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password()",
        "password = form_value\nlogin(form_value)",
        "token = None",
        "The password is stored in the vault.",
        "The password is incorrect.",
        "j'ai oublié mon mot de passe",
        "salasana on vanhentunut",
        "$password = $_POST['password'] ?? '';",
        "$request->validate(['password' => 'required|min:8|confirmed']);",
        ': "${DB_PASSWORD:?DB_PASSWORD must be set}"',
        "login ok user=anna method=password ip=10.89.172.22",
        "password: !vault-ref secret/app#password",
        "PublicKey = sMUS4Xx15k4Vj7CqVivHVQf5e/2Prw3Fy9H/qXpyJlo=",
        '"password": "Пароль",',
        "PASS src/app.test.js",
        "exit code 4821",
        "Heslo bylo změněno",
        "hasło jest nieprawidłowe",
        "You need an API key or a base URL\ntitle: Synthetic",
        "what is the password policy?\nsee below",
        "did you change the password?\nyesterday",
        "    password?: string;\n    passwordHash: Buffer;",
        "Password rotation: every 47 days by the team.",
        "sorry, it's complicated",
        "the password module",
        "is the password case sensitive?\n\nsku,name,price,stock",
        "proxy_pass http://app:18789;",
        'let password: &str = get_password("main");',
        "privateKey: buffer.toString('base64url')",
        '    "getpw",\n    "getpwent",\n    "getpwnam",',
        "Pass :meth:`peek` a default value",
        "INSERT INTO users (name, password) VALUES (?, ?);",
        "INSERT INTO users (name, password) VALUES ('anna', crypt(:pw, gen_salt('bf')));",
        "use --token instead of --password",
        'resource "random_password" "various" {',
        "Authorization: Bearer ${TOKEN}",
        'read -r user pass <<< "$LINE"',
        "    password: str\n\n    @property\n    def user(self) -> str: ...",
    ],
)
def test_words_types_and_code_beside_a_name_stay(text: str) -> None:
    assert REDACT(text) == text
