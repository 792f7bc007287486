"""Names of secrets in any language and spelling, and values that a person chose for them."""

from __future__ import annotations

import pytest
from tests.redaction.fakes.chosen import chosen_samples
from tests.redaction.test_recall import LEAST_RECALL, REDACT

from notewell.redaction.name_words import head_of, is_one_edit_away, words_of
from notewell.redaction.names import family_of


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("zugriffscode", "password"),
        ("phraseSecrète", "password"),
        ("CODICE_SEGRETO", "password"),
        ("palavra-passe", "password"),
        ("codigo.acesso", "password"),
        ("vpnSchluessel", "key"),
        ("llave_api", "key"),
        ("chave-privada", "key"),
        ("klíč_api", "key"),
        ("nyckel_wifi", "key"),
        ("tajny_klíč", "secret"),
        ("titkos-kulcs", "secret"),
        ("kunciRahasia", "secret"),
        ("закрытый_ключ", "key"),
        ("таємниця", "secret"),
        ("μυστικό", "secret"),
        ("DB密码", "password"),
        ("API令牌", "token"),
        ("APIキー", "key"),
        ("كلمة_السر", "password"),
        ("credentilas", "secret"),
        ("passhprase", "password"),
        ("wachtwoor", "password"),
    ],
)
def test_a_name_tells_its_kind_in_its_language_and_spelling(name: str, head: str) -> None:
    assert head_of(name) == head


@pytest.mark.parametrize(
    "name",
    [
        "control", "contrast", "クッキー", "쿠키", "clave_primaria", "schluessel_laenge",
        "klucz_obcy", "public_key", "phrases", "essentials", "clear", "vehicle_id",
        "cache_schluessel",
    ],
)  # fmt: skip
def test_a_name_of_something_else_tells_nothing(name: str) -> None:
    assert head_of(name) is None


def test_a_letter_may_be_missing_added_wrong_or_exchanged() -> None:
    spellings = ("lantern", "lntern", "lanntern", "lamtern", "lanetrn")
    assert all(is_one_edit_away(one, "lantern") for one in spellings)
    assert not is_one_edit_away("lantren", "altnern")
    assert words_of("dbPassword2") == ("db", "password", "2")
    assert family_of("passwordForBackups") == "password"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('client_secret = "HollowPebbleTram7"', "HollowPebbleTram7"),
        ("webhook_secret: Thistle-2291  # rotate", "Thistle-2291"),
        ("SIGNING_KEY=gravel.otter.plinth", "gravel.otter.plinth"),
        ("API_TOKEN=40817", "40817"),
        ("refresh_token: vermouth", "vermouth"),
        ("{host: db-1, shared_secret: Thistle-2291, pool: 4}", "Thistle-2291"),
        ('let signingKey: String = "gravel_otter_plinth"', "gravel_otter_plinth"),
        ("apiToken!: string = 'Herbst2031'", "Herbst2031"),
        ('hook_secret <- "gravel-otter-plinth"', "gravel-otter-plinth"),
        ('{ftp_pass, <<"wZq!91kd">>}.', "wZq!91kd"),
        ('(def deploy-token "Thistle2291")', "Thistle2291"),
        ('  :client-secret "Thistle2291"', "Thistle2291"),
        ("set bot_token to Thistle_2291 on the host", "Thistle_2291"),
        ("[password] vermouth", "vermouth"),
        ("passphrase|HollowPebbleTram", "HollowPebbleTram"),
        ("Key=APP_SECRET,Value=k2Wq8tR", "k2Wq8tR"),
        ("name: AUTH_TOKEN\nvalue: gravel_otter_plinth", "gravel_otter_plinth"),
        ("<param><name>shared_secret</name><value>vermouth</value></param>", "vermouth"),
        ("-master_key: HollowPebbleTram\n+master_key: ${KEY}", "HollowPebbleTram"),
        ("ftppwd: kTzvQmW", "kTzvQmW"),
        ("vpnkey=Thistle_2291", "Thistle_2291"),
        ("klucz_api: Thistle2291", "Thistle2291"),
        ("<codice_accesso>vermouth</codice_accesso>", "vermouth"),
        ("пароль_базы = 'vermouth'", "vermouth"),
        ("パスワード=Herbst2031!", "Herbst2031!"),
        ("credentilas: Thistle_2291", "Thistle_2291"),
        ("FTP_PASSWORD_BACKUP=gravel_otter_plinth", "gravel_otter_plinth"),
        ("hookSecretEu = 'kR7wq2Lm9Zt4Xb8v'", "kR7wq2Lm9Zt4Xb8v"),
        ("oldPasswordBackup: HollowPebbleTram7", "HollowPebbleTram7"),
        ("clave_secreta_2: Thistle2291", "Thistle2291"),
        ("$NasMdpRoot = 'Thistle2291'", "Thistle2291"),
        ('public string PsswordOld { get; set; } = "gravel.otter.plinth";', "gravel.otter"),
        ('["password"]=>\n  string(8) "Kr7wTq2L"', "Kr7wTq2L"),
        ("Login(user=mona, password=Kr7wTq2LmZ, retries=2)", "Kr7wTq2LmZ"),
        ("{Host:db1 SmtpPass:Kr7wTq2L Port:25}", "Kr7wTq2L"),
        (
            '<Key>Password</Key>\n<Value ProtectInMemory="True">vermouth44</Value>',
            "vermouth44",
        ),
        ('hookSecret = T.pack "Kr7wTq2LmZx93"', "Kr7wTq2LmZx93"),
        ('@Value("${shop.token.old:Kr7wTq2LmZx93}")', "Kr7wTq2LmZx93"),
        ('(defvar klucz-api "Kr7wTq2LmZx93")', "Kr7wTq2LmZx93"),
        ('{ftp_pass_old, "vermouth44"},', "vermouth44"),
        ("let(:root_password_old) { 'gravel_otter_plinth' }", "gravel_otter_plinth"),
        ("p.add_argument('--senha', default='gravel.otter.plinth')", "gravel.otter"),
        ("conf/mail.ini:12:smtp_passwort = gravel_otter_plinth", "gravel_otter_plinth"),
        ("     7→smtp_passwort: gravel_otter_plinth", "gravel_otter_plinth"),
    ],
)
def test_a_value_that_a_person_chose_is_masked(text: str, secret: str) -> None:
    assert secret not in REDACT(text)


@pytest.mark.parametrize("is_aside", [False, True])
def test_at_least_97_of_100_chosen_values_are_masked(*, is_aside: bool) -> None:
    samples = [
        one for seed in (31, 32) for one in chosen_samples(seed) if one.is_aside == is_aside
    ]
    left = [one.text for one in samples if one.secret in REDACT(one.text)]
    assert len(samples) >= 400
    assert 1 - len(left) / len(samples) >= LEAST_RECALL, left[:40]


@pytest.mark.parametrize(
    "text",
    [
        "secret: backup-secret",
        "PASSWORD_MIN_LENGTH=12",
        "passwordResetUrl: https://h.example/reset",
        "connect(user=login, password=passwd, timeout=4)",
        "secretKeyRef: db-backup",
        "secretName: ingress-tls",
        "token: string",
        "access_token: string;",
        "  clientSecret: Buffer",
        'type: "token", value: "comma"',
        "eos_token = 'end_of_turn'",
        'storageKey: "sidebar-width"',
        'defaultSessionKey: "hook:ingress"',
        'keys: ["password", "apiKey", "authorization", "token"]',
        "export GROQ_API_KEY=gsk_...",
        "api_key = os.environ[name]",
        "client_secret: client_secret,",
        "const token = tokens.next();",
        'api_key = "test-key-1"',
        "auth: identity",
        "color-token: brand-primary-500",
        "クッキー: 有効です1",
        "primary_key = order_number",
        "schluessel_laenge: 4096",
        "pin: left",
        "phrase: hello-world-again",
    ],
)
def test_types_entries_and_examples_stay(text: str) -> None:
    assert REDACT(text) == text
