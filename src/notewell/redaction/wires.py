"""Where protocols, programs and their files have a secret: one fact a line, as their manuals say it.

    program or protocol │ what is before the secret │ what it must look like

`WEAK` masks a plain word, too: nothing but a secret can be there. `CHOSEN` asks for a password that
is no word, because the same option means something else elsewhere.
"""
# ruff: noqa: E501 - a fact stands on one line

from __future__ import annotations

from typing import NamedTuple

from notewell.redaction.rules import Proof, Rule

WEAK: Proof = "weak"
CHOSEN: Proof = "argument"
_VALUE = r"""["'`]?([^\s"'`<>|;,)]+)"""
_QUOTED = r"""["']([^"'\n\s]{3,120})["']"""
_SAME = r"[^\n|;&]*?"
_LINE = r"(?m)^[ \t>+$#*-]*(?:\d{1,5}[ ]{1,3})?"
_NAME = (
    r"(?:[\w.-]*(?:passw|pwd|secret|token|credential|api_?key|passphrase)[\w.-]*|pass|pw|auth|psk)"
)


class Fact(NamedTuple):
    """A place of a secret."""

    kind: str
    before: str
    """A pattern up to the secret; with the group, if it has one of its own."""
    literals: str
    """One of these words is in each match; `|` parts them."""
    proof: Proof = WEAK
    value: str = _VALUE
    spans_lines: bool = False
    says: str = ""


COMMANDS = (
    Fact("command-password", rf"\bsudo[ ](?:-\w+[ ])*-\w*S\w*\b{_SAME}<<<[ ]*", "sudo"),
    Fact("command-password", r"\becho[ ]+(?:-\w+[ ]+)*([^\s|]+)[ ]*\|[ ]*sudo[ ]+(?:-\w+[ ]+)*-\w*S", "sudo", value="", says="`echo … | sudo -S`"),
    Fact("command-password", r"\b(?:smbclient|ftp|lftp|kinit|mount\.cifs|psql|mysql|ssh|su|passwd|cryptsetup)\b[^\n]*<<-?[ ]*['\"]?(?:EOF|END|PW|PASS\w*)['\"]?[ ]*\n[ \t]*", "<<", CHOSEN, r"(\S+)[ \t]*\n[ \t]*(?:EOF|END|PW|PASS)", spans_lines=True, says="a here-document that answers a prompt"),
    Fact("command-password", r"\bsmbclient\b[^\n]*<<-?[ ]*['\"]?EOF['\"]?[ ]*\n[ \t]*", "smbclient", WEAK, r"([^\s;]+)[ \t]*\nEOF", spans_lines=True),
    Fact("command-password", rf"\bcurl\b{_SAME}[ ](?:-\w*u|--user|-U|--proxy-user)[ =]*[\"']?[\w.@%\\-]*:", "curl", says="`curl -u anna:…`, `curl -u :…`"),
    Fact("command-password", rf"\b(?:wget|aria2c|axel)\b{_SAME}--(?:http-|ftp-|proxy-)?passw(?:or)?d[ =]", "wget|aria2c|axel"),
    Fact("header-token", r"(?:--header|-H)[ =]*[\"']?X-[\w-]*(?:Token|Key|Secret|Auth|Password)[\w-]*:[ ]*", "--header|-H ", WEAK),
    Fact("command-password", r"\b(?:htpasswd)[ ]+-\w*n\w*b\w*[ ]+\S+[ ]+|\bhtpasswd[ ]+-\w*b\w*n\w*[ ]+\S+[ ]+", "htpasswd"),
    Fact("command-password", rf"\b(?:docker|podman|nerdctl|helm|oc|az|buildah|skopeo)\b{_SAME}\blogin\b{_SAME}[ ](?:-p[ ]?|--password[ =])", "login"),
    Fact("command-password", r"--(?:requirepass|masterauth|primaryauth|tls-key-file-pass)[ =]+", "requirepass|masterauth|primaryauth|tls-key-file-pass"),
    Fact("command-password", rf"\b(?:docker|podman|nerdctl)\b{_SAME}[ ](?:-e|--env)[ =]?[\"']?{_NAME}=", "docker|podman|nerdctl", says="`podman run -eDB_PASSWORD=…`"),
    Fact("command-password", rf"\bhelm\b{_SAME}--set(?:-string)?[ =][\"']?(?:[\w.,=-]*?[.,])??{_NAME}=", "helm"),
    Fact("command-password", rf"\b(?:ldappasswd|ldapmodify|ldapadd|ldapsearch|ldapwhoami)\b{_SAME}[ ]-[saw][ ]?", "ldap"),
    Fact("command-password", rf"\b(?:psexec|wmiexec|smbexec|atexec|bloodhound-python|certipy|evil-winrm|rubeus|kerbrute|ldapdomaindump|netexec|nxc|crackmapexec|enum4linux-ng|impacket-\w+)(?:\.py|\.exe)?\b{_SAME}[ ]-p[ ]?", "psexec|wmiexec|smbexec|atexec|netexec|crackmapexec|bloodhound|certipy|evil-winrm|kerbrute|ldapdomaindump|nxc|enum4linux|impacket"),
    Fact("command-password", r"\b(?:impacket-\w+|\w+\.py)[ ]+(?:-\w+[ ]+)*[\"']?(?:[\w.-]+/)?[\w.$-]+:", "impacket|.py ", WEAK, r"""["']?([^\s"'@/:]{3,})["']?@[\w.-]+"""),
    Fact("command-password", r"\bopenssl[ ]passwd[ ](?:-\w+[ ])*(?:-salt[ ]\S+[ ])?", "openssl", WEAK, r"""["']?([^\s"'`<>|;-][^\s"'`<>|;]*)"""),
    Fact("command-password", r"\b(?:pass(?:in|out|word)?[ ])[\"']?pass:[\"']?", "pass:"),
    Fact("command-password", rf"\b(?:pdftk|qpdf)\b{_SAME}(?:(?:user|owner|input)_pw|--password=|--encrypt[ ])[ ]?", "pdftk|qpdf"),
    Fact("command-password", rf"\bnmcli\b{_SAME}\b(?:password|psk|wifi-sec\.psk)[ ]+", "nmcli"),
    Fact("command-password", r"\bnetsh\b[^\n]*?\bkeyMaterial=", "netsh"),
    Fact("command-password", rf"\b(?:iwctl|wpa_cli|iw)\b{_SAME}(?:passphrase|psk)[ ]+(?:\d+[ ]+)?(?:psk[ ]+)?", "iwctl|wpa_cli"),
    Fact("command-password", rf"\b(?:x?freerdp3?|rdesktop|mstsc|cmdkey|net|winrs|runas|schtasks|sc\.exe)\b{_SAME}[ ]/(?:p|pass|password|pwd|rp):", "freerdp|rdesktop|mstsc|cmdkey|winrs|schtasks"),
    Fact("command-password", rf"\bp4\b{_SAME}[ ]-P[ ]+", "p4 "),
    Fact("command-password", rf"\b(?:svn|hg|cvs|git-svn)\b{_SAME}--password[ =]", "svn|hg |cvs"),
    Fact("command-password", r"\bjenkins-cli(?:\.jar)?\b[^\n]*?-auth[ ]+[\"']?[\w.@-]+:", "jenkins-cli"),
    Fact("command-password", rf"\b(?:gradlew?|mvnw?|ant|java|sbt)\b{_SAME}[ ]-[PD][\w.-]*(?:[pP]ass(?:word|wd|phrase)?|[tT]oken|[sS]ecret|[kK]ey[pP]ass)=", "ass=|assword=|asswd=|assphrase=|oken=|ecret=", says="`gradle -PossrhPassword=…`"),
    Fact("command-password", rf"\b(?:fly(?:ctl)?|heroku|glab|wrangler|vercel|netlify|doppler|railway|supabase|dokku|eb|firebase)\b{_SAME}\b(?:secrets?|config|env|variables?|setenv)(?::set|[ ]set|[ ]put|[ ]add)[ ]{_SAME}\w*(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY|PASS|PWD)=", "fly |flyctl|heroku|glab|wrangler|vercel|netlify|doppler|railway|supabase|dokku|eb setenv|firebase", says="`fly secrets set DB_PASSWORD=…`"),
    Fact("command-password", rf"\b(?:terraform|tofu|packer|terragrunt|ansible-playbook|ansible|pulumi|nomad)\b{_SAME}(?:-var|--var|-e|--extra-vars)[ =]?[\"']?(?:[\w.]+=[^\s\"']*[ ])*{_NAME}=", "terraform|tofu|packer|terragrunt|ansible|nomad", says="`terraform apply -var db_password=…`"),
    Fact("command-password", r"\becho[ ]+[\"']?\w*(?:TOKEN|PASSWORD|PASS|SECRET|KEY|PWD)\w*=", "echo", WEAK, r"""([^\s"'`$<>|;)]+)["']?[ ]*>>""", says='`echo "TOKEN=…" >> $GITHUB_ENV`'),
    Fact("command-password", r"\breg[ ]add\b[^\n]*?/v[ ]+\w*(?:[pP]assword|[sS]ecret|[tT]oken)\w*[ ][^\n]*?/d[ ]+", "reg add"),
    Fact("command-password", rf"\blftp\b{_SAME}-u[ ]*[\"']?[\w.@-]+[\"']?,", "lftp"),
    Fact("command-password", r"--(?:auth|basic-auth|http-auth|proxy-auth|userpwd|credentials?|creds|login)[ =][\"']?[\w.@-]+:", "--auth|-auth|--userpwd|--cred|--login", CHOSEN, r"""([^\s"'`<>|;)/]+)""", says="`--auth anna:…`"),
    Fact("command-password", r"[ ]--(?:pw|pass|passwd|pwd)[ =]", "--pw|--pass", WEAK),
    Fact("command-password", r"\b(?:ejabberdctl|prosodyctl)[ ](?:register|change_password)[ ]+\S+[ ]+\S+[ ]+", "ejabberdctl|prosodyctl"),
    Fact("command-password", r"\b(?:turnadmin)\b[^\n]*?[ ]-p[ ]+", "turnadmin"),
    Fact("command-password", rf"\b(?:keytool|jarsigner|apksigner|signtool)\b{_SAME}-{{1,2}}(?:storepass|keypass|new|srcstorepass|deststorepass|ks-pass|key-pass)[ =]+(?:pass:)?", "keytool|jarsigner|apksigner"),
    Fact("command-password", rf"\b(?:snmpwalk|snmpget|snmpset|snmpbulkwalk|snmptrap|onesixtyone)\b{_SAME}[ ]-(?:c|A|X|k|K)[ ]*", "snmp"),
    Fact("command-password", rf"\b(?:kadmin|kadmin\.local|kinit)\b{_SAME}(?:-w|-pw)[ ]+", "kadmin|kinit"),
    Fact("command-password", rf"\b(?:vboxmanage|VBoxManage|qm|virsh|vmrun)\b{_SAME}(?:--password|-gp|-cipassword|--cipassword)[ =]+", "oxmanage|oxManage|qm |virsh|vmrun"),
)  # fmt: skip
PROGRAMS = (
    Fact("command-password", rf"\b(?:hydra|medusa|ncrack|patator|crowbar)\b{_SAME}[ ]-p[ ]+", "hydra|medusa|ncrack|patator|crowbar"),
    Fact("command-password", r"(?i)\bnet[ ]+user[ ]+[\w.$-]+[ ]+", "net user|net  user|NET USER", WEAK, r"""["']?([^\s"'/*<>|-][^\s"'<>|]*)["']?[ ]+/(?:add|domain|active)"""),
    Fact("command-password", r"(?i)\bnet[ ]+use[ ]+(?:\S:[ ]+)?\\\\\S+[ ]+", "net use|NET USE", WEAK, r"""["']?([^\s"'/*<>|]+)["']?[ ]+/user:"""),
    Fact("command-password", r"\bkeyMaterial[ =]+", "keyMaterial", WEAK),
    Fact("command-password", r"\b(?:bw[ ]unlock|keepassxc-cli[ ]\S+[ ]--password)[ ]+", "bw unlock|keepassxc-cli", WEAK, r"""["']?([^\s"'`<>|;$-][^\s"'`<>|;]*)"""),
    Fact("command-password", r"(?m)^[ \t>]*(?:msf\d?[^>\n]{0,40}>[ ]*)?set[ ]+(?:(?:SMB|HTTP|FTP|SSH|DB|WINRM)?_?PASS(?:WORD)?|SMBPass|HttpPassword|BIND_PASSWORD)[ ]+", "set PASS|set SMB|set HTTP|set Http|set FTP|set SSH|set DB|set BIND|set WINRM", WEAK),
    Fact("command-password", r"sonar\.(?:login|password|token)[=: ]+", "sonar.", CHOSEN),
    Fact("list-password", r"(?m)^[ \t>]*\[?[\w.-]+\]?:(?:25|465|587)[ \t]+[\w.@+-]+:", ":25|:465|:587", WEAK, says="`[smtp.example]:587 anna:…` of Postfix"),
    Fact("command-password", rf"\b(?:turnserver|turnadmin|coturn)\b{_SAME}[ ]-u[ ]+[\w.-]+:", "turnserver|turnadmin|coturn"),
    Fact("settings-password", r"(?m)^[ \t>]*user=[\w.-]+:", "user=", WEAK, r"([^\s@/:]{4,})[ \t]*\r?(?:$|\n)"),
    Fact("settings-password", r"\{(?:PLAIN|CLEAR(?:TEXT)?|plain)\}", "{PLAIN}|{CLEAR|{plain}", WEAK, r"([^\s:\"'<>,;]{3,})"),
    Fact("sql-password", r"(?i)\bsp_addlinkedsrvlogin\b[^\n]*,[ ]*N?'", "addlinkedsrvlogin", WEAK, r"([^'\n\s]+)'[ ;]*(?:$|\n)"),
    Fact("settings-password", r"\bpassword\([^)\n]*?(?:value|defaultValue):[ ]?['\"]", "password(", WEAK, r"([^'\"\n]+)['\"]"),
    Fact("settings-password", r"(?m)^[ \t]*\[[\w.-]+\][ \t]*\r?\n(?:[\w-]+[ ]?=[^\n]*\n){0,8}?(?:secret|md5secret|remotesecret)[ ]?=>?[ ]?", "secret", WEAK, r"([^\s;\"']+)", spans_lines=True, says="`secret=…` of a peer of Asterisk"),
    Fact("settings-password", r"(?m)^[ \t]*client[ ][^\n{]+\{[^}]{0,200}?\bsecret[ ]?=[ ]?", "client ", WEAK, r"([^\s;\"'}]+)", spans_lines=True, says="`client … { secret = … }` of FreeRADIUS"),
    Fact("settings-password", r"(?:asterisk|sip|pjsip|iax|voip)[^\n]{0,40}\bsecret[ ]?=>?[ ]?", "secret", CHOSEN),
    Fact("command-token", r"\baws[ ]configure[ ]set[ ]+(?:--profile[ ]\S+[ ]+)?aws_(?:secret_access_key|session_token)[ ]+", "aws configure", WEAK),
    Fact("npm-auth", r"\bnpm[ ](?:config[ ])?set[ ]+\S*_(?:authToken|auth|password)[ =]+", "npm set|npm config", WEAK),
    Fact("cookie", r"(?i)\b(?:set-)?cookie:[ ]*(?:[^\n=;]+=[^\n;]*;[ ]?)*?[\w.-]*(?:session\w*|sid|auth\w*|token)=", "ookie:", CHOSEN, r"([^\s;\"',]{6,})"),
    Fact("command-password", rf"\b(?:snmpwalk|snmpget|snmpset|snmpbulkwalk|snmptrap)\b{_SAME}[ ]-X[ ]*", "snmp"),
    Fact("command-password", r"[ ]-{1,2}(?:deststorepass|destkeypass|srckeypass)[ =]+", "storepass|destkeypass|srckeypass"),
    Fact("command-password", rf"\bdrush\b{_SAME}(?:upwd|user[:-]password)[ ]+\S+[ ]+", "drush"),
    Fact("command-password", r"(?:^|[\s>])(?:CONNECT|connect|conn)[ ]+[\w$]+/", "CONNECT |connect |conn ", WEAK, r"""["']?([^\s@"'/]+)["']?@\w"""),
    Fact("command-password", r"\bAUTH[ ]+(?:\w+[ ]+)?", "AUTH ", WEAK, r"""["']?([^\s"'<>]+)["']?[ \t]*\r?\n[ \t>]*(?:[\d.:]+>[ ]*)?\+?OK\b""", spans_lines=True, says="`AUTH …` of Redis and its `+OK`"),
    Fact("command-password", r"[\"'][-]{1,2}[\w-]*(?:passw(?:or)?d|passphrase|secret|token|api-key|pass)[\"'],[ ]*[\"']", 'word", |word\', |phrase", |secret", |secret\', |token", |token\', |key", |pass", |pass\', |passwd", ', CHOSEN, r"([^\"'\n\s$]+)[\"']", says='`["serve", "--admin-password", "…"]`'),
    Fact("settings-password", r"\bcat[ ]+\S*?(?:vault[-_.]?pass(?:word|wd)?(?:\.txt)?|master\.key|/credentials/\w+\.key|secret_key_base|passw(?:or)?d(?:\.txt)?|token(?:\.txt)?)[ \t]*\r?\n[ \t>]*", "cat ", CHOSEN, r"([^\s<>]+)[ \t]*(?:<|\r?\n|$)", spans_lines=True, says="`cat .vault_pass` and what it shows"),
    Fact("command-password", r"(?:private-key|preshared-key)[ ]+<\(echo[ ]+", "-key <(", WEAK),
    Fact("pin", r"(?mi)^[ \t>*•+-]*(?:\d{1,2}[.)][ ]*)?[^\s:][^\n:]{1,24}:[ ]*(?:code|pin|kod|kode|código|codice)[ ]+", ": code |: Code |: PIN |: pin |: kod |: Kod |: kode |: código |: codice ", WEAK, r"(\d{4,8})[ \t]*(?:\(|$|\r?\n)", says="`4. Building: code …`"),
    Fact("pin", r"(?i)\b(?:user|installer|master|engineer|duress|guest|service) code[ :]+", "user code |installer code |master code |engineer code |duress code |guest code |service code ", WEAK, r"(\d{4,8})\b"),
    Fact("pin", r"(?mi)^[ \t>*-]*(?:safe|tresor|\w*lock|locker|coffre|vault|combination)[^\n:]{0,20}:[ ]*", "afe:|resor:|ock:|ocker:|offre:|ault:|ombination:", "shape", r"(\d{1,2}-\d{1,2}-\d{1,2})\b", says="`Safe: 12-34-56`"),
    Fact("pin", r"\bcodi d(?:e|el|['’])[^\n\d]{0,30}[ ]", "codi d", WEAK, r"(\d{4,8})\b"),
    Fact("pin", r"(?:,|\b(?:die|the|el|la|le|il|mein|meine|my))[ ]PIN[ ](?:is |ist |es |est )?", ", PIN |die PIN |the PIN |el PIN |la PIN |le PIN |il PIN |meine PIN |my PIN ", "shape", r"(\d{4,8})\b"),
    Fact("password", r"\bKenncode:[ ]*", "Kenncode:", WEAK),
    Fact("wifi-password", r"(?mi)^[ \t>*•+-]*(?:\d{1,2}[.)][ ]*)?(?:wi-?fi|wlan|ssid)[ ]+[\"“„'][^\"”“'\n]+[\"”“'][ ]?[:=–-][ ]*", 'WLAN "|Wi-Fi "|WiFi "|wifi "|wlan "|SSID "|WLAN „|WLAN “|Wi-Fi “|WLAN \'|Wi-Fi \'', WEAK, r"""([^\s"'`<>]+)[ \t]*(?:\(|$|\r?\n)"""),
    Fact("list-password", r"(?i)\|\|[ ]?(?:user\w*|login|account|name|benutzer\w*)[ ]?\|\|[ ]?(?:password|passwd|pw|kennwort|passwort)[ ]?\|\|[ ]*\r?\n\|[^|\n]+\|[ ]*", "assword|asswort|Kennwort", WEAK, r"([^\s|]+)", spans_lines=True, says="a table of a wiki"),
    Fact("password", r"\b(?:min|din|vores|vår|hans|hendes|hennes) kode[nr]? er[ ]", "kode er |koden er ", CHOSEN),
    Fact("password", r"(?i)\b(?:login|user|username)[ ]?/[ ]?(?:pass\w*|pw|pwd)[ ]?[:=][ ]*[\w.@-]+(?:[ ]?/[ ]?|[ ]+|:)", "/pass|/pw|/ pass|/ pw|/Pass|/PW", WEAK, says="`login/pass: anna …`"),
)  # fmt: skip
PROTOCOLS = (
    Fact("authorization", r"(?i)\b(?:authorization|www-authenticate|authentication-info)[\"']?:[ ]*[\"']?digest[ ][^\n]*?\bresponse=[\"\\]*", "igest ", WEAK, r"([0-9a-f]{32,128})", says="the response of a digest: `Digest username=…, response=…`"),
    Fact("multipart-password", rf"(?i)content-disposition:[ ]*form-data;[ ]*name=\"?{_NAME}\"?[^\n]*\r?\n(?:[^\n:]+:[^\n]*\r?\n)*[ \t>]*\r?\n[ \t>]*", "ontent-|ONTENT-", WEAK, r"([^\s]+)", spans_lines=True, says="a field of a multipart form"),
    Fact("protocol-password", r"\bUGFzc3dvcmQ6?=*\r?\n(?:[ \t>]*[A-Z]{1,2}:[ ]*|[ \t>]*)", "UGFzc3dvcmQ", "token", r"([A-Za-z0-9+/]{4,}={0,2})", spans_lines=True, says="the answer to `334 UGFzc3dvcmQ6` of SMTP"),
    Fact("url-password", r"\bsips?:[\w.+-]+:", "sip:|sips:", WEAK, r"([^\s@;>\"']+)@"),
    Fact("protocol-password", r"/connect[ ]+\S+[ ]+(?:-\w+[ ]+)*\+?\d{2,5}[ ]+", "/connect "),
    Fact("protocol-password", r"/(?:msg|quote|query)[ ]+(?:nickserv|ns|chanserv|q@\S+)[ ]+(?:identify|register|auth|ghost|set password)[ ]+(?:[\w-]+[ ]+)??", "nickserv|NickServ|chanserv", WEAK, r"([^\s]+)(?:[ ]+\S+@\S+)?[ \t]*(?:\r?\n|$)"),
    Fact("protocol-password", r"(?m)^open[ ][^\n]+\n[ \t]*user[ ]+\S+[ ]+", "open ", WEAK, spans_lines=True, says="`user anna …` of an FTP script"),
    Fact("url-token", r"[?&](?:pw|pass|passwd|pwd|password|client_secret|api_?key|access_token|auth_token|secret)=", "?p|&p|secret=|key=|token=", CHOSEN, r"""([^\s&"'`<>#;()\[\]]+)"""),
    Fact("url-token", r"[?&](?:u|user|username|login|name|email)=[^\s&\"']+&(?:amp;)?(?:p|pw|pass|pwd|password)=", "&p|;p", WEAK, r"""([^\s&"'`<>#;()\[\]]+)""", says="`?u=anna&p=…`"),
    Fact("url-token", r"[?&]client_secret=", "client_secret=", WEAK, r"""([^\s&"'`<>#;]+)"""),
    Fact("url-password", r"\burl=[a-z]+://[\w.-]+:", "url=", WEAK, r"([^\s@/]+)@"),
)  # fmt: skip
FILES = (
    Fact("settings-password", rf"{_LINE}(?:bindpw|bind_pw|rootpw|requirepass|masterauth|registration_shared_secret|static-auth-secret|signing\.(?:password|key[iI]d\.password)|lt-cred-mech-secret|turn_shared_secret|ctrl_interface_secret|macaroon_secret_key|form_secret)[ ]?[=:][ ]?", "bindpw|bind_pw|rootpw|requirepass|masterauth|secret|signing.", CHOSEN, r"""["']?([^\s"'`<>|;)]+)["']?[ \t]*\r?(?:$|\n|#)"""),
    Fact("settings-password", rf"{_LINE}(?:static-auth-secret|lt-cred-mech-secret|registration_shared_secret|bindpw)[=: ]+", "static-auth-secret|lt-cred-mech-secret|registration_shared_secret|bindpw"),
    Fact("settings-password", r"\bcredential[\"']?[ ]?:[ ]?[\"']", "credential", CHOSEN, r"([^\"'\n\s]{3,120})[\"'][^\n]{0,80}?\burls?\b[\"']?[ ]?:[ ]?\[?[\"'](?:turns?|stuns?):", says="`credential` of a TURN server"),
    Fact("settings-password", r"\burls?[\"']?[ ]?:[ ]?\[?[\"'](?:turns?|stuns?):[^\n]{0,120}?\bcredential[\"']?[ ]?:[ ]?[\"']", "credential", CHOSEN, r"([^\"'\n\s]{3,120})[\"']"),
    Fact("list-password", r"(?m)^#[ \t]*(?:chap|pap)-secrets[^\n]*\n(?:#[^\n]*\n)*[ \t]*[\w.@\"*-]+[ \t]+[\w.*\"-]+[ \t]+", "-secrets", WEAK, spans_lines=True, says="`anna pppoe … *` of chap-secrets"),
    Fact("list-password", rf"{_LINE}\"?[\w.@-]+\"?[ \t]+(?:pppoe|pptpd?|l2tpd?|xl2tpd|ppp|\*)[ \t]+", "pppoe|pptp|l2tp|ppp | * ", CHOSEN, r"""["']?([^\s"'*]{3,})["']?[ \t]+(?:\*|[\d.]+)[ \t]*\r?(?:$|\n)"""),
    Fact("list-password", rf"{_LINE}[\w.@%\"-]*[ ]*:[ ]*(?:EAP|PSK|XAUTH|NTLM|PIN|PKCS12[ ]\S+|RSA[ ]\S+|ECDSA[ ]\S+)[ ]+", ": EAP|: PSK|: XAUTH|: NTLM|: PIN|: RSA|: PKCS12", WEAK, _QUOTED, says='`anna : EAP "…"` of ipsec.secrets'),
    Fact("list-password", r"(?m)^\"[\w.@-]+\"[ ]+\"", '" "', CHOSEN, r"([^\"\n\s]{4,120})\"[ \t]*(?:\"[^\"\n]*\"[ \t]*)?\r?(?:$|\n)", says='`"anna" "…"` of userlist.txt of PgBouncer'),
    Fact("directive-password", r"\bcreateUser[ ]+[\w.-]+[ ]+(?:-e[ ]\S+[ ]+)?(?:SHA|MD5|SHA-?\d+)[ ]+", "createUser", WEAK, says="`createUser anna SHA … AES …` of SNMP"),
    Fact("directive-password", r"\bcreateUser[ ]+[\w.-]+[ ]+(?:SHA|MD5|SHA-?\d+)[ ]+\S+[ ]+(?:AES|DES)[ ]+", "createUser", WEAK),
    Fact("directive-password", r"\b(?:crypto isakmp key|isakmp key|pre-shared-key(?: (?:local|remote))?|key-string|ip ospf (?:authentication-key|message-digest-key \d+ md5)|ntp authentication-key \d+ md5|standby \d+ authentication|vrrp \d+ authentication|ppp chap password|wpa-psk ascii)[ ]+(?:[067][ ])?", "isakmp key|pre-shared-key|key-string|ospf|ntp authentication|standby |vrrp |ppp chap|wpa-psk", CHOSEN),
    Fact("directive-password", r"(?:[:>#][ ]|\bconsole\b[^\n]{0,12})enable (?:secret|password)(?: \d)?[ ]+", "enable "),
    Fact("element-password", r"(?i)<\w*(?:password|passwd|passphrase)\w*>\s*<value>\s*", "assword>|asswd>|assphrase>", WEAK, r"([^\s<>]+)\s*<", spans_lines=True, says="`<Password><Value>…` of an unattended Windows"),
    Fact("element-token", r"(?i)<(?:\w+:)?\w*(?:session_?token|access_?token|auth_?token|api_?key|session_?id|client_?secret|security_?token|ticket)>\s*", "oken>|ey>|ession_id>|essionid>|essionId>|ession_Id>|essionID>|ession_ID>|ecret>|icket>", CHOSEN, r"([^\s<>]+)\s*</", spans_lines=True),
    Fact("element-password", r"(?i)<!--[ ]*(?:password|passwd|pwd|secret|token|api ?key)[ ]*-->\s*<\w+>\s*", "<!--", WEAK, r"([^\s<>]+)\s*<", spans_lines=True),
    Fact("voicemail-pin", rf"{_LINE}\d{{2,6}}[ ]?=>[ ]?", "=>", WEAK, r"([^\s,;]+),[^,\n]+,[^\s,]+@[\w.-]+", says="`101 => …,Anna,anna@…` of Asterisk's voicemail"),
    Fact("protocol-password", r"\bregister[ ]?=>[ ]?[\w.+-]+(?:@[\w.-]+)?:", "register", WEAK, r"([^\s@:/]+)(?::[\w.-]+)?@"),
    Fact("cookie", r"(?i)\"name\"[ ]?:[ ]?\"(?:set-)?cookie\"[ ]?,[ ]?\"value\"[ ]?:[ ]?\"(?:[^\"=\n]*=[^\";\n]*;[ ]?)*?[\w.-]*(?:sid|sess\w*|token|auth\w*|jwt|remember\w*)=", 'ookie"', CHOSEN, r"([^\";\n]{6,})", says="headers of a HAR file"),
    Fact("authorization", r"(?i)\"(?:name|key)\"[ ]?:[ ]?\"(?:proxy-)?authorization\"[ ]?,[ ]?\"value\"[ ]?:[ ]?\"(?:(?:basic|bearer|token|negotiate|digest|apikey)[ ])?", 'uthorization"', CHOSEN, r"([^\"\s]{6,})\""),
    Fact("form-password", r"\"text\"[ ]?:[ ]?\"(?:[^\"\n]*?&)?(?:passw(?:or)?d|pass|pwd|pw|pin|token|secret|client_secret)=", "asswd=|assword=|pass=|pwd=|pw=|pin=|token=|secret=", WEAK, r"([^\"&\s]+)"),
    Fact("settings-password", r"\bpassword\(name:[ ]?'[^'\n]*',[ ]?defaultValue:[ ]?'", "defaultValue", WEAK, r"([^'\n]+)'"),
    Fact("settings-password", r"\baws_secret_access_key=", "aws_secret_access_key=", WEAK, r"([^\s;'\"&]+)"),
    Fact("sql-password", r"(?i)\b\w*(?:passw(?:or)?d|pass|pwd)\w*[ ]?=[ ]?(?:md5|sha1|sha2|sha256|password|crypt|encrypt|old_password)\([ ]?'", "md5(|MD5(|Md5(|sha1(|SHA1(|Sha1(|sha2(|SHA2(|Sha2(|sha256(|SHA256(|Sha256(|assword(|ASSWORD(|crypt(|CRYPT(|Crypt(", WEAK, r"([^'\n\s]+)'", says="`SET user_pass = MD5('…')`"),
    Fact("settings-password", r"(?m)^\[client\w*\][ \t]*\r?\n(?:[^\[\n]*\n){0,8}?pass(?:word)?[ ]?=[ ]?", "[client", WEAK, r"""["']?([^\s"'#]+)""", spans_lines=True, says="`.my.cnf`"),
    Fact("settings-password", r"\bpassword='([^'\n]+)'(?:[ ]+\w+=|[\"']?[ \t]*$)", "password='", WEAK, "", says="a connection string of libpq"),
    Fact("settings-token", r"(?m)^(?:[ \t>+-]*-[ ]+)?(?:export|set|env)[ ]+\w*(?:TOKEN|PASSWORD|PASSWD|SECRET|API_?KEY|PASS|PWD)=", "TOKEN=|PASSWORD=|PASSWD=|SECRET=|KEY=|PASS=|PWD=", WEAK, r"""["']?([^\s"'`$<>|;,()]+)["']?[ \t]*\r?(?:$|\n|#|&&)""", says="`export DEPLOY_TOKEN=…`"),
    Fact("settings-token", r"(?m)^[ \t]*(?:ENV|ARG)[ ]+\w*(?:TOKEN|PASSWORD|PASSWD|SECRET|API_?KEY|PASS|PWD)[ =]", "ENV |ARG ", WEAK, r"""["']?([^\s"'`$<>|;,()]+)["']?[ \t]*\r?(?:$|\n|#|\\)""", says="`ENV API_TOKEN …` of a Dockerfile"),
    Fact("settings-token", r"(?m)^[ \t]*with:[ \t]*\n(?:[ \t]+[\w-]+:[^\n]*\n){0,8}?[ \t]+[\w-]*(?:token|password|passwd|secret|api[-_]key|key)[ ]?:[ ]+[\"']", "with:", CHOSEN, r"([^\"'\n\s$]{4,})[\"']", spans_lines=True, says="inputs of a step of GitHub Actions"),
    Fact("settings-password", r"(?m)^[ \t]*(?:env|environment|variables|secrets):[ \t]*\n(?:[ \t]+[\w-]+:[^\n]*\n){0,12}?[ \t]+\w*(?:PASSWORD|PASSWD|_PASS|_PW|PWD)[ ]?:[ ]+", "env:|environment:|variables:|secrets:", WEAK, r"""["']?([^\s"'`$<>|;,(){}\[\]]+)["']?[ \t]*\r?(?:$|\n|#)""", spans_lines=True, says="variables of a pipeline"),
    Fact("settings-password", r"\bset[ ]+\$?\w*(?:secret|token|password|passwd|api_?key)\w*[ ]+[\"']", "\";|\" ;|';|' ;", CHOSEN, r"([^\"'\n\s]{4,})[\"'][ ]?;"),
    Fact("settings-password", r";[ ]?(?:Pwd|PWD|pwd|Password|password|PASSWORD)[ ]?=[ ]?", ";Pwd|;PWD|;pwd|;Password|;password|;PASSWORD|; Pwd|; PWD|; Password", WEAK, r"""([^\s;"'`<>{}$]+)(?:;|["']|[ \t]*\r?(?:$|\n))""", says="`…;Uid=anna;Pwd=…` of ODBC"),
    Fact("cookie", r"\b(?:laravel_session|connect\.sid|sessionid|session_id|PHPSESSID|JSESSIONID|_session_id|XSRF-TOKEN|csrftoken|rack\.session|remember_token|auth_token|ASP\.NET_SessionId|(?:__Secure-)?(?:next-auth|authjs)\.session-token|wordpress_logged_in_\w+)=", "session=|sessionid=|session_id=|connect.sid=|SESSID=|SESSIONID=|SessionId=|XSRF-TOKEN=|csrftoken=|session-token=|remember_token=|auth_token=|wordpress_logged_in", "random", r"([\w%.~+/=-]{16,})", says="`sessionid=…`, `connect.sid=…`"),
    Fact("puk", r"\bPUK[12]?[ ]?[:=]?[ ]*", "PUK", WEAK, r"(\d{8})\b"),
    Fact("pin", r"\bPUK[12]?[ ]?[:=]?[ ]*\d{8}[ ,;|/]+PIN[12]?[ ]?[:=]?[ ]*", "PUK", WEAK, r"(\d{4,8})\b"),
    Fact("pin", r"\bPIN[12]?[ ]?[:=][ ]*", "PUK", WEAK, r"(\d{4,8})\b[ ,;|/]+PUK"),
    Fact("recovery-key", r"(?i)\bfilevault\b[^\n]{0,40}?[\s\"'`=:]", "ilevault|ileVault", "shape", r"([A-Z0-9]{4}(?:-[A-Z0-9]{4}){5})\b"),
    Fact("one-time-code-secret", r"(?i)\b(?:setup|manual entry|authenticator|einrichtungs)[ -]?(?:key|schlüssel)[ :=]+", "etup key|etup-key|anual entry key|uthenticator key|inrichtungsschlüssel", "shape", r"((?:[a-z2-7]{4}[ ]){3,15}[a-z2-7]{4})\b"),
    Fact("directive-password", r"\b(?:tacacs|radius)(?:-server)?[ ](?:[\w.]+[ ]){0,4}?key[ ](?:[067][ ])?", "tacacs|radius", "shape", r"([0-9A-F]{8,}|[^\s\"'<>;:]{6,}\d)(?:\s|$)"),
    Fact("ethereum-key", r"\baccounts:[ ]?\[?[\s\"'`]*(?:0x)?", "accounts:", "shape", r"([0-9a-f]{64})\b"),
)  # fmt: skip
FACTS = (*COMMANDS, *PROGRAMS, *PROTOCOLS, *FILES)
WIRE_RULES = tuple(
    Rule(
        fact.kind,
        f"(?:{fact.before}){fact.value}",
        tuple(fact.literals.split("|")),
        proof=fact.proof,
        spans_lines=fact.spans_lines,
        says=fact.says,
    )
    for fact in FACTS
)
