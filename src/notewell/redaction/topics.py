"""What people talk of when they tell a secret, by language. Data for `sentences.py` and `asked.py`."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

PASSWORDS = "|".join((
    r"pass ?words?\b|pass ?phrase|pass-?code|passwd|passwrd|pasword|passowrd|passwort|paßwort|kennwort|p@ss\b|\bp/w\b|\b(?:pw|pwd|psw|passw|mdp|ww|psk)s?\b|\bpa?s{1,3}(?:[or]{0,3}w[or]{0,4}|w?[or]{2,4})d?[dt]\b|\bkennw?\.|\bpassw\.|pass[ ]?(?:4|for)[ ]|(?:memorable|secret|safe|code)[ -]?word\b|(?:mot|parola) d['e][ ]?(?:code|ordine)|palabra clave",
    "mots? de passe|contraseñ|contrasen|palavra-passe|senha|wachtwoord|lösenord|losenord|adgangskode|kodeord|passord|salasana",
    r"пасс?[ув]орд|\bš?ifra\b|\bšifr[aeu]\b|jelsz[óoa]|şifre|sifre|\bparol|hasł[oa]|\bhasl[oa]\b|\bhesl[oae]|\bgeslo|lozink|zaporka|mật khẩu|kata sandi|\bsandi|\bclave\b|codice segreto",
    "парол|лозинк|κωδικ|συνθηματικ|密码|密碼|口令|提取码|パスワード|パスコード|パスフレーズ|비밀번호|비번|암호|패스워드|كلمة (?:ال)?(?:مرور|سر)|باسورد|पासवर्ड|รหัสผ่าน|סיסמ[הא]",
))  # fmt: skip
"""Regular expressions of RE2, without case."""

CODES = "|".join((
    r"\bpins?\b|\bpin-?(?:code|kod)|\bpuk\b|(?:door|gate|key ?box|lock ?box|safe|alarm|entry|access|garage|locker|bike|unlock|auth|security|backup|recovery|rescue|wi-?fi|wlan|guest|pairing|voicemail|building|invite|verification|login|sms|2fa)[ -]?(?:codes?|combination|pin)\b",
    r"\bcodes? (?:for|to|of|der|für|zum|zur|vom|pour|de|du|del|van|voor)\b|(?:tür|haus|tor|zugangs|zugriffs|sicherheits|alarm|wiederherstellungs|bestätigungs|einmal|deur|poort|toegangs|herstel)codes?\b|(?:port|dör|dør|larm|alarm|återställnings|gjenopprettings|gendannelses)kode?[nrt]?\b",
    r"\bcódigos? d|\bcodic[ei] d|\bcodul\b|\bkod (?:do|na|pin)\b|\bkodu\b|\bkód|\bkode (?:pintu|til|pin|otp|pemulihan)|\bkoden (?:till|til)\b|\w*koodi\b|\bкод |mã (?:pin|cửa|số|khóa|mở|xác|khôi)|a kapu|kapukód",
    "门禁|门锁|验证码|恢复码|暗証番号|認証コード|현관|인증 ?(?:번호|코드)|복구 ?코드|קוד ה|رمز ال|पिन",
))  # fmt: skip
NETWORK_KEYS = (
    r"(?:wi-?fi|wlan|network|netzwerk|router|pre-?shared|wpa2?)[ -]?(?:keys?|schlüssel)\b|cl[ée] (?:wi-?fi|réseau|du wi-?fi)|clave (?:del? )?wi-?fi|chave (?:do )?wi-?fi|chiave (?:del )?wi-?fi"
    r"|wifi-?(?:sleutel|nøkkel|nyckel|kulcs|avain|kode[nt]?|code|koden)|ключ (?:от )?(?:wi-?fi|вайфая)|klucz (?:do )?wi-?fi"
)
KEYS = r"\b(?:api|license|licence|product|recovery|master|encryption|access|auth|bearer)[ -](?:key|token|secret)\b|client secret|cl[ée] (?:d['’])?api|密钥|密鑰"
LOGINS = r"\blog-?ins?\b|\blocked out of\b|\blog(?:ged)? (?:in|into)\b|\bsign (?:in|into)\b|\bcred(?:s|entials?)\b|zugangsdaten|zugang\b|anmeld|identifiants?|credenciales|credenziali|credenciais|inloggegevens|inloggen|logowani|\bentra com\b|\baccedi\b|connecte-toi|einloggen|логин|вход|логін|oturum|giriş|belépés|přihl|innlogging|inloggning|kirjautu|σύνδεση|đăng nhập|masuk|autentific|账号|ログイン|로그인"
MENDED = r"\bsorry\b|\bno wait\b|\boops\b|\bi meant\b|\bscratch that\b|\bwait,? no\b|entschuldigung|désolé|\bpardon\b|\bperdón|\bscusa|desculp|\bsorry,|извини|прости|beklager|förlåt|\bbocs|anteeksi|\bpardon|özür|maaf|xin lỗi|przepraszam|promiň|scuze|συγγνώμη|вибач|抱歉|ごめん|미안"
NETWORKS = r"\bwi-?fi\b|\bwlan\b|\bssid\b|\bguest network\b|вайфай|wifin|와이파이|无线"

COURTESY = "|".join((
    "please|pls|plz|thx|thanks|thank you|ty|cheers|until|till|because|don['’]t|do not|but|and|so|if|btw|ok|bitte|danke|bis|aber|und|merci|svp|jusqu|mais|et|gracias|por favor|hasta|pero|y|grazie|per favore|fino|ma|e",
    "obrigad[oa]|por favor|até|mas|bedankt|aub|tot|maar|en|proszę|dzięki|ale|do|prosím|díky|tack|takk|kiitos|пожалуйста|спасибо|до|и|но|будь ласка|дякую|lütfen|teşekkürler|köszi|mulțumesc",
))  # fmt: skip
"""What follows a value in a message and belongs to it no more. Regular expressions without case."""
CLOSED = rf"[\"'`”“»*_|]{{0,3}}[ \t]*(?:$|\n|\\n|[.,;!?)\]…。，]|[(\[–—|/#<\"}}]|-[ -]|[:;=]-?[)(DPp]|(?<=[ \t])(?:{COURTESY})(?![\w-])|[^\x00-\u024f\u0400-\u04ff])"
"""The end of a value in a message."""
ITS = r"it['’]?s|its|it is|it should be|is now|now|ist es|jetzt ist es|es ist|das ist|c['’]est|es|è|é|jest|to|det är|det er|se on|este|là|είναι|это|це|זה|az"
IS = "|".join((
    "is|was|are|be|it was|use|try|it['’]?s|its|it is|is now|should be|must be|became|becomes|remains|reads|=|set to|changed to|reset to|now|still|currently",
    "ist|war|lautet|heißt|est|c['’]est|était|es|era|sigue siendo|é|è|era|jest|to|byl[oa]?|je|är|var|er|on|oli|este|e|a fost|là|adalah|ini|itu|oldu|olarak|είναι|ήταν|это|був|це|быль?|был|היא|זה|هو|هي|है|คือ|is nu|wordt|lett|van|volt",
))  # fmt: skip
AGED = "old|new|alt|neu|ancien|nouveau|vieja|nueva|antigua|anterior|antiga|nova|velha|vecchia|nuova|oud|nieuw|veche|nouă|noua|lama|baru|cũ|mới|gammal|ny|ישנה|חדשה|القديمة|الجديدة|eski|yeni"
CURRENTLY = "currently|now|still|was|is|at the moment|aktuell|derzeit|jetzt|noch|actuellement|actual|actualmente|atual|attuale|nu|nå|nyt|obecnie|nyní|сейчас|зараз|şu an|jelenleg|acum|τώρα|sekarang|hiện tại|现在|今は|지금"
QUESTIONS = "|".join((
    "what|what['’]?s|whats|which|who|whose|anyone|anybody|somebody|someone|remember|remind|need|send|give|got|know|have|forgot|where|can|could|may|tell|again",
    "wie|was|welche[sr]?|wer|hat|kennt|weiß|brauche|nochmal|quel|quelle|quoi|qui|cuál|cual|qué|quién|recuerdas|dame|qual|quem|chi|che|quale|wat|welk|wie|weet|jaki|jakie|jaka|kto|jaké|jaký|jak|kdo",
    "какой|какая|какое|кто|яки[йм]|яка|який|хто|ne|neydi|nedir|neymiş|kim|hangi|vad|vilke[nt]|vem|hva|hvad|hvilke[nt]|hvem|mikä|mitä|kuka|mi|mik|milyen|melyik|ki|care|ce|cine|cum|ποιο[ςι]?|ποια|τι|gì|nào|ai|apa|berapa|siapa|מה|מי|ما|क्या",
))  # fmt: skip
QUESTION_SIGNS = "什么|多少|几|啥|何|教えて|뭐|무엇|뭔|알려|อะไร"
NO_ANSWERS = frozenset(
    """
    yes yeah yep nope nothing none idk dunno sorry sure okay thanks thank maybe later tomorrow never hello hey
    what which where when here there done good great nice cool right wrong same this that exactly hmmm well wait please
    kein keine keins nein danke bitte gern gerne doch morgen später nichts ahnung merci non rien demain désolé gracias nada mañana
    luego obrigado obrigada não sim grazie prego niente domani dopo nee bedankt straks nie tak dziękuję jutro нет да спасибо
    завтра позже не знаю ні так дякую hayır evet yarın teşekkürler nej tack imorgon nei takk kiitos huomenna nem igen köszi holnap
    nu da mersi mulțumesc mâine όχι ναι ευχαριστώ αύριο không vâng tidak terima kasih besok ano díky zítra děkuji ingen inte
    best regards cheers greetings sincerely yours love gruß grüße grüsse viele liebe cordialement bises saludos saluti abraço groeten groetjes pozdrawiam pozdrav hälsningar hilsen terveisin
    assistant system human user password passwort login admin root guest unknown yours mine ours theirs neither either both
    """.split()  # noqa: SIM905
)
"""What people answer who do not tell it."""
