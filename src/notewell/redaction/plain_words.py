"""Words that stand where a password could be, and are none. Data for `weak_values.py`.

A plain word is masked only where nothing but a password can be: `DB_PASS=dragon`. These words are
written there for another reason: they are types, states, instructions, or names of the thing itself.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from notewell.redaction.plausible import word_set

TYPES = word_set(
    "string str text value values number boolean bool true false null none nil undefined void any"
    " object unknown char varchar nvarchar bytes byte int integer float double long date uuid array"
    " list dict map set tuple enum type types const let var function func method class field fields"
    " column param params parameter parameters option options property attribute variable literal"
    " plain plaintext cleartext hash hashed hashes sha256 md5 bcrypt argon2 argon2i argon2id pbkdf2 scrypt sha512 sha1 base64 hex utf8 ascii json yaml"
    " xml env file path url uri input textbox textarea email form secretstr optional required self this cls"
    " user username users login name names admin root guest test tests testing tester postgres mysql example"
    " sample demo dummy mock fake foo bar baz qux foobar todo tbd default defaults custom auto automatic"
    " never always prompt stdin stdout keyring keychain vault env_var environ config configs configuration"
    " settings setting data item items key keys token tokens secret secrets credential credentials auth"
    " password passwords passwd passphrase passcode passwort kennwort pass pwd pin code codes"
    " private public local remote internal external inherit basic digest bearer oauth oauth2 ldap"
    " argument arguments args kwargs arg opts props state request response req res body header headers query"
    " session cookie client server host port database account profile model entity record row cell"
    " mypassword mypass yourpassword changeme changeit redacted masked hidden encrypted secure"
    " pending success failed failure error errors warning info debug trace skipped passed fail"
)
STATES = word_set(
    "wrong correct incorrect right invalid valid empty blank missing needed mandatory necessary"
    " unset set stored saved kept hidden shown visible safe unsafe weak strong stronger secure insecure"
    " long short longer shorter unique different same equal expired old new current temporary permanent"
    " unchanged changed unknown known available unavailable enabled disabled active inactive allowed forbidden"
    " supported unsupported ignored deprecated obsolete sensitive insensitive shared personal random"
    " there here below above next following attached inside outside elsewhere everywhere somewhere"
    " case only also just still already again soon later today tomorrow yesterday now then once"
    " good bad fine okay sure simple easy hard complex trivial obvious important critical special"
    " used reused typed entered sent given asked checked verified rejected accepted leaked lost forgotten"
    " rotated generated required optional ready done printed displayed provided specified configured"
    " falsch richtig leer ungültig gültig erforderlich notwendig abgelaufen sicher unsicher geheim bekannt"
    " gesetzt geändert gespeichert vergessen verschlüsselt neu alt lang kurz gleich anders"
    " incorrecta correcta vacía inválida válida obligatoria segura débil nueva vieja caducada incorrecto"
    " incorrecte invalide vide obligatoire faux expiré sécurisé nouveau incorreta inválido obrigatória vazia"
    " sbagliata errata vuota obbligatoria scaduta onjuist ongeldig leeg verplicht verlopen veilig"
    " неверный неправильный пустой обязателен верный yanlış geçersiz boş zorunlu doğru"
    " vanhentunut väärä väärin unohtunut oublié perdu expirée changé refusé nefunguje neplatné zapomenuté vypršelo wygasło zmienione"
    " niepoprawne zapomniane vergeten gewijzigd scaduto dimenticato dimenticata cambiata olvidada olvidado caducado cambiada esquecida expirou"
    " expirada alterada trocada unuttum değişti glemt utløpt udløbet forkert feil glömt utgånget lejárt hibás elfelejtett expirat expirată"
    " uitată greșită incorectă schimbată kedaluwarsa salah lupa sai hết quên working broken locked correctly"
    " změněno změněn změněna nastaveno nastaven uloženo odesláno zmieniono ustawione zapisane wysłane ändrat ändrad sparat endret lagret satt ændret gemt vaihdettu tallennettu lähetetty megváltozott elküldve mentve"
    " schimbat setată salvată trimisă modificat cambiado modificado guardada enviada alterado definida salva enviado modifié enregistré envoyé gewijzigd opgeslagen değiştirildi kaydedildi gönderildi diubah disimpan dikirim"
    " quel quelle quels quelles welches wessen expire expires expiry špatně špatné chybné вайфая вайфай wifi"
    " błędne nieprawidłowe puste wymagane fel felaktigt ogiltigt tomt"
)
INSTRUCTIONS = word_set(
    "enter type choose pick select confirm repeat reset forgot change create generate update show hide"
    " copy paste see read write use using ask click tap press check verify validate provide specify"
    " store save keep remember note add remove delete get make do does did is are was were be been being"
    " must should shall will would can could may might have has had not yes no maybe please thanks"
    " the a an and or but if else when while where what which who whom why how this that these those it its"
    " for from with without within into onto over under about after before between by of on in at to as"
    " you your yours my mine our ours their his her me we they he she them us someone anyone everyone"
    " return returns raise raises import export await async new null"
    " pair pairs combination entry entries lookup such same well treated known also like phrase manager policy field prompt protected protection authentication based hashing strength length"
    " rotation generator recovery storage verification column less sharing"
    " oder und nicht ein eine der die das mit von für bitte siehe wird wurde"
    " neydi nedir neymiş nerede hangi kimde bilen varmı quoi déjà cuál qual quale welche nochmal welk jakie jaké какой какая який яка milyen mikä hvad hvilken vilket apa berapa ποιος ποια"
    " pas est les des une pour dans avec sur por para con que los las una sem com não"
)
TELLING = (
    "pass", "pwd", "secret", "token", "credential", "kennwort", "contrase", "wachtwoord", "lösenord",
    "senha", "api-key", "api_key", "apikey", "placeholder", "redacted", "passwor", "username", "encrypt", "decrypt",
    "парол", "hasł", "heslo", "şifre", "κωδικ", "jelsz", "salasana", "adgangskode", "kodeord", "лозинк", "clave", "hash", "vault", "config", "setting", "param", "prompt", "input", "getenv", "environ",
)  # fmt: skip
"""A value with one of these in it names a secret; it is none: `db-root-password`."""

BEHIND_PASSWORD = word_set(
    "age aging analysis attack attacks attempt attempts auth authentication auditing autofill backend backends based box boxes breach"
    " breaches builder cache callback category changes character characters check checker checks checking client command complexity"
    " confidential confirmation connection constraint constraints context control cracker cracking crypto database dialog digest disclosure"
    " dump element encoder encoding encryption entropy environment error errors event exception explicitly exposure expiration"
    " failure failures feature fields file files filter first flag flow fonts format function generation generators grant guess guessing guidelines handling hasher"
    " hashes helper hint hints history howto icon information input inputs instead issue issues keeper label leak leaks library lifetime link links list lists"
    " lock logging login logins loss managers management masking match mechanism meter method migration mismatch mode modes module module modules notes notification option options"
    " override page parameter parser picker plugin policies policy present properties protecting provider question recovering regex register"
    " reminder replacement request requests requirement requirements reset resets resetting response retrieval reuse review rotation rule rules safety salt"
    " scheme screen scripts security selection sender service session setter settings setup sheet source spray spraying standard statement stealer step stores string"
    " strategy stuffing submission support sync system table template theft tips tool tools transfer twice type update updates upgrade"
    " usage util utils validation validator validators value values variable vault verifier view viewer visibility widget window workflow"
    " back basename incident email mail message sms hygiene practices etiquette basics checklist training audit escrow safe notebook book"
)
"""Nouns that `password` is the first part of."""
NOT_PLAIN = TYPES | STATES | INSTRUCTIONS

COMMON = word_set("abc123 letmein changeit qwerty iloveyou trustno1 welcome1 admin123 1q2w3e4r")
"""Passwords that half the world has: examples write them, too, but behind the name of a password they are one."""
