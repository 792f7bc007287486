"""What people say and paste around a password (`§`) or a code of digits (`¤`), in eighteen languages."""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

SPOKEN: dict[str, tuple[str, ...]] = {
    "en": (
        "§ is my password", "\"§\" is the wifi password", "§ - that's the password for the NAS", "`§`, that's the router password", "§ (admin password)",
        "the new pw for jira? it's §", "what's the wifi password?\n§", "Q: what's the admin password?\nA: §", "anna: what's the pw?\nbob: it's §",
        "> password for the printer?\n§", "User: what was the vpn password again?\nAssistant: It's `§`.", "pls use § as pw", "I always use § as my password",
        "her password is still §", "the password should be §", "password's §", "pw's §", "our pass is §", "I set it to §, that's the new password",
        "remind me: the password for netflix is §", "netflix password §", "my Netflix login is anna@mail.test / §", "login anna@mail.test, pass §",
        "anna@mail.test:§", "anna@mail.test / §", "user anna pass §", "user: anna\npass: §", "Username: anna\nPassword: §", "login: anna pw: §", "id anna pwd §",
        "un: anna pw: §", "root/§ on the pi", "the login for the camera is admin/§", "log into the router with admin and §", "credentials are anna and §",
        "ssh pi@10.0.0.4 and type § when asked", "sudo password for the box is §", "the password hint is useless, just type §", "Please note down: password §",
        "the password to the zip file is \"§\"", "the archive is protected with §", "unlock the pdf with §", "passphrase: §", "the key's passphrase is §",
        "I changed my password from apple to §", "I've updated the password to §", "password reset to §", "reset password: §", "temporary password is §, change it",
        "Wifi: HomeNet\nPass: §", "SSID: HomeNet, key: §", "network HomeNet, password §", "Guest wifi HomeNet - §", "the wifi is HomeNet and the password is §",
        "Password for guest wifi → §", "Password (case sensitive): §", "Password [prod]: §", "Pass­word: §", "PASSWORD : §", "Password = '§'", "password:\t§",
        "**password** §", "Password: **§**", "Password: *§*", "Password: \"§\"", "Password: ‘§’", "Password: «§»", "Password: <§>", "the password, §, is on the sticker",
        "password (§)", "the password (§) is old", "password -- §", "Password… §", "my psswd is §", "my passowrd is §", "da password is §", "psw: §", "pass word: §",
        "Enter password: §", "[sudo] password for anna: §", "anna@10.0.0.4's password: §", "Password for 'https://anna@git.corp.test': §", "New password: §\nRetype new password: §",
        "my PIN is ¤", "PIN: ¤", "pin code ¤", "the pin for the card is ¤", "PIN ¤", "pin=¤", "the door code is ¤", "alarm code: ¤", "gate code ¤", "garage keypad: ¤",
        "the safe combination is ¤", "the code for the front door is ¤", "voicemail pin ¤", "SIM PIN ¤, PUK ¤", "phone passcode: ¤", "iPad passcode is ¤", "unlock code ¤",
        "your verification code is ¤", "¤ is your verification code", "OTP: ¤", "Use ¤ as your login code.", "one-time code ¤", "2FA code: ¤", "confirmation code: ¤",
        "cvv ¤", "CVC: ¤", "security code ¤", "Security question: first pet? Answer: §", "mother's maiden name: §", "secret answer is §", "safe word is §", "the codeword is §",
    ),
    "de": (
        "§ ist mein Passwort", "mein Passwort lautet §", "das PW ist §", "PW: §", "Kennwort lautet §", "Passwort vom Router: §", "Das Passwort fürs WLAN heißt §", "WLAN-Kennwort §",
        "Benutzername: anna\nKennwort: §", "Benutzer anna, PW §", "Zugang: anna / §", "Anmeldung mit anna und §", "Wie ist das Passwort?\n§", "Was ist das Passwort? – Es ist §", "Ich habe das Passwort auf § gesetzt",
        "Neues Passwort ab heute: §", "Passwort (neu): §", "Passwort bitte nicht weitergeben: §", "Codewort: §", "Zugangscode: ¤", "Meine PIN ist ¤", "Geheimzahl: ¤", "Türcode ¤", "Die PIN lautet ¤", "Alarmanlage Code ¤", "TAN: ¤", "Die PIN der Karte ist ¤",
    ),
    "fr": (
        "§ est mon mot de passe", "mon mdp c'est §", "le mot de passe c'est §", "mot de passe du wifi: §", "MDP = §", "Identifiant : anna\nMot de passe : §", "login anna mdp §", "compte anna / §",
        "C'est quoi le mot de passe ?\n§", "j'ai changé le mot de passe pour §", "nouveau mot de passe → §", "le code wifi est §", "code d'accès : ¤", "mon code PIN est ¤", "code PIN : ¤", "le digicode est ¤", "code de la porte : ¤", "le code de l'alarme est ¤",
    ),
    "es": (
        "§ es mi contraseña", "mi clave es §", "la contraseña del wifi es §", "contraseña nueva → §", "Usuario: anna\nContraseña: §", "usuario anna clave §", "cuenta anna / §", "¿Cuál es la contraseña?\n§", "la contra es §", "contraseña (temporal): §",
        "pon § como contraseña", "mi PIN es ¤", "el pin es ¤", "código de la puerta: ¤", "código de acceso ¤", "la clave de la alarma es ¤", "el código de verificación es ¤",
    ),
    "pt": (
        "§ é minha senha", "a senha do roteador é §", "senha nova: §", "Usuário: anna\nSenha: §", "login anna senha §", "qual é a senha?\n§", "a senha continua sendo §", "palavra-passe nova: §", "coloquei a senha §", "meu PIN é ¤", "código do portão: ¤", "senha do cartão: ¤", "o código de acesso é ¤",
    ),
    "it": (
        "§ è la mia password", "la password del router è §", "password nuova: §", "Utente: anna\nPassword: §", "utente anna pass §", "qual è la password?\n§", "la parola d'ordine è §", "ho messo § come password", "il mio PIN è ¤", "codice PIN: ¤", "codice del cancello: ¤", "il codice dell'allarme è ¤",
    ),
    "nl": (
        "§ is mijn wachtwoord", "het ww is §", "ww: §", "wachtwoord van de router: §", "Gebruikersnaam: anna\nWachtwoord: §", "gebruiker anna ww §", "wat is het wachtwoord?\n§", "nieuw wachtwoord → §", "wachtwoord wordt §", "mijn pincode is ¤", "pincode: ¤", "de code van de deur is ¤", "toegangscode ¤",
    ),
    "pl": (
        "§ to moje hasło", "hasło do routera to §", "hasło: §", "Login: anna\nHasło: §", "login anna hasło §", "jakie jest hasło?\n§", "nowe hasło → §", "ustawiłem hasło na §", "mój PIN to ¤", "kod PIN: ¤", "kod do bramy: ¤", "kod do drzwi to ¤",
    ),
    "ru": (
        "§ — мой пароль", "пароль от роутера: §", "пароль такой: §", "Логин: anna\nПароль: §", "логин anna пароль §", "какой пароль?\n§", "новый пароль → §", "поменял пароль на §", "пароль у нас §", "мой ПИН-код ¤", "пин: ¤", "код от двери: ¤", "код домофона ¤", "код подтверждения: ¤",
    ),
    "tr": (
        "şifrem §", "modem şifresi: §", "Kullanıcı adı: anna\nŞifre: §", "kullanıcı anna şifre §", "şifre ne?\n§", "yeni parola → §", "wifi parolası §", "şifreyi § yaptım", "PIN kodum ¤", "kapı kodu: ¤", "PIN: ¤", "doğrulama kodu: ¤",
    ),
    "zh": (
        "§是我的密码", "路由器密码：§", "密码就是§", "用户名：anna\n密码：§", "账号anna密码§", "密码是多少？\n§", "新密码→§", "密码改成§了", "wifi密码 §", "密码设为§", "口令是§", "我的PIN码是¤", "门禁密码：¤", "验证码：¤", "验证码是¤", "保险箱密码¤",
    ),
    "ja": (
        "ルーターのパスワードは§です", "パスワードは§", "ユーザー名：anna\nパスワード：§", "パスワードは何ですか？\n§", "新しいパスワード→§", "パスは§です", "パスワードを§にしました", "PINは¤です", "暗証番号は¤です", "暗証番号：¤", "認証コード：¤", "ドアのコードは¤",
    ),
    "ko": (
        "공유기 비밀번호는 §", "비번 §", "아이디: anna\n비밀번호: §", "비밀번호가 뭐야?\n§", "새 비밀번호 → §", "비밀번호를 §로 바꿨어", "암호는 §입니다", "PIN은 ¤", "현관 비밀번호는 ¤", "인증번호: ¤", "인증번호는 ¤입니다",
    ),
    "ar": (
        "كلمة مرور الراوتر: §", "كلمة السر الجديدة هي §", "الباسورد §", "باسورد الواي فاي: §", "ما هي كلمة المرور؟\n§", "رمز PIN هو ¤", "رمز الباب: ¤", "رمز التحقق: ¤",
    ),
    "hi": (
        "राउटर का पासवर्ड § है", "पासवर्ड = §", "नया पासवर्ड § है", "यूज़र: anna\nपासवर्ड: §", "पासवर्ड क्या है?\n§", "मेरा पिन ¤ है", "पिन: ¤", "ओटीपी ¤ है",
    ),
    "sv": (
        "§ är mitt lösenord", "lösenordet till routern är §", "Användarnamn: anna\nLösenord: §", "vad är lösenordet?\n§", "nytt lösenord: §", "min PIN-kod är ¤", "portkod: ¤", "koden till dörren är ¤",
    ),
    "cs": ("heslo k routeru je §", "Uživatel: anna\nHeslo: §", "jaké je heslo?\n§", "můj PIN je ¤", "kód ke dveřím: ¤"),
    "vi": ("mật khẩu wifi là §", "mật khẩu mới: §", "Tên đăng nhập: anna\nMật khẩu: §", "mã PIN là ¤", "mã xác nhận: ¤"),
}  # fmt: skip

TYPED = (
    "USER anna\nPASS §", "220 ready\nUSER anna\n331 Password required\nPASS §\n230 ok", "a1 LOGIN anna §", "A001 LOGIN \"anna\" \"§\"", "AUTH §", "AUTH anna §", "> AUTH default §",
    "login: anna\nPassword: §", "expect \"assword:\"\nsend \"§\\r\"", "expect \"*?assword:*\" { send \"§\\n\" }", "send -- \"§\\r\"", "child.sendline('§')  # password",
    "docker secret create db_pass <(echo §)", "printf '§' | docker secret create db_password -", "echo -n '§' | docker secret create pw -", "echo '§' | podman secret create pw -", "printf \"§\" | gh secret set DB_PASS",
    "kubectl create secret generic db --from-literal=password=§", "kubectl create secret docker-registry r --docker-username=anna --docker-password=§", "vault kv put secret/db password=§", "vault kv put -mount=secret app pw=§",
    "vault write auth/userpass/users/anna password=§", "aws ssm put-parameter --name /db/password --type SecureString --value §", "aws secretsmanager create-secret --name db-pass --secret-string §", "gcloud sql users set-password anna --instance=db --password=§",
    "az keyvault secret set --vault-name v --name dbpass --value §", "heroku config:set DB_PASS=§", "doppler secrets set DB_PASS=§", "pass insert -e mail <<< '§'", "op item create --category=login password=§", "bw login anna@mail.test §", "security add-generic-password -a anna -s svc -w §",
    "secret-tool store --label=x user anna <<< §", "keyring set svc anna <<< \"§\"", "passwd anna <<< §", "echo 'anna:§' | chpasswd", "echo -e \"§\\n§\" | passwd anna", "echo § | sudo -S ls", "echo § | passwd --stdin anna", "yes § | passwd anna",
    "mysql -uanna -p§ db", "mysql --user=anna --password='§'", "psql postgres://anna:§@db/app", "PGPASSWORD=§ psql", "createuser --pwprompt # §", "mongosh -u anna -p § --authenticationDatabase admin", "mongo --username anna --password §", "redis-cli -a §", "redis-cli -u redis://:§@h:6379",
    "CONFIG SET requirepass §", "requirepass §", "masterauth §", "ALTER USER anna WITH PASSWORD '§';", "CREATE USER 'anna'@'%' IDENTIFIED BY '§';", "CREATE USER anna IDENTIFIED BY §;", "ALTER USER anna IDENTIFIED BY \"§\";", "SET PASSWORD FOR 'anna'@'%' = '§';", "SET PASSWORD = PASSWORD('§');", "GRANT ALL ON *.* TO 'a'@'%' IDENTIFIED BY '§'",
    "CREATE LOGIN anna WITH PASSWORD = '§';", "CREATE ROLE anna LOGIN PASSWORD '§';", "db.createUser({user: 'anna', pwd: '§', roles: []})", "db.auth('anna', '§')", "ALTER LOGIN sa WITH PASSWORD=N'§'", "create user anna password '§'", "dba.changeUserPassword(\"anna\", \"§\")",
    "curl -u anna:§ https://h.test/", "curl -uanna:§ h.test", "curl --user \"anna:§\" h.test", "curl -d 'username=anna&password=§' h.test", "curl -F password=§ h.test", "curl --data-urlencode 'pass=§' h.test", "curl -H 'X-Password: §' h.test", "wget --password § h.test", "http POST h.test user=anna password=§",
    "sshpass -p § ssh anna@h", "sshpass -p'§' ssh anna@h", "sshpass -p \"§\" scp a b:", "lftp -u anna,§ h", "lftp -e 'open -u anna,§ ftp://h'", "ncftp -u anna -p § h", "smbclient -U anna%§ //h/s", "mount -t cifs -o user=anna,pass=§ //h/s /m", "net use x: \\\\h\\s § /user:anna", "plink -pw § anna@h", "pscp -pw § a h:", "winscp sftp://anna:§@h",
    "ldapsearch -D cn=a -w § -b dc=x", "bindpw §", "rootpw §", "kinit anna <<< §", "ipmitool -U anna -P § power on", "snmpget -v3 -u anna -A § h", "openssl enc -k § -in a", "openssl pkcs12 -in a -passin pass:§", "gpg --passphrase '§' -d a", "zip -P § a.zip a", "7z a -p§ a.7z b", "unrar x -p§ a.rar", "qpdf --password=§ --decrypt a b", "keytool -storepass § -list", "ansible-playbook -e ansible_password=§ p.yml", "ansible_ssh_pass=§", "h1 ansible_user=anna ansible_ssh_pass=§",
    "nmcli dev wifi connect HomeNet password §", "wpa_passphrase HomeNet §", "psk=\"§\"", "iwctl --passphrase § station wlan0 connect HomeNet", "netsh wlan set profileparameter name=x keyMaterial=§", "wpa_passphrase=§", "machine h.test login anna password §", "machine h.test\n  login anna\n  password §", "db.test:5432:app:anna:§", "*:*:*:anna:§",
    "anna:§", "https://anna:§@h.test/x", "ftp://anna:§@h.test", "proxy=http://anna:§@px:8080", "\"proxy\": \"http://anna:§@px:8080\"", "imap.login('anna', '§')", "s.login(\"anna\", \"§\")", "auth=('anna', '§')", "HTTPBasicAuth('anna', '§')", "requests.get(u, auth=('anna','§'))", "client.login(user, '§')", "paramiko_client.connect('h', username='anna', password='§')", "new MongoClient(u, {auth: {user: 'anna', password: '§'}})", "mysqli_connect('h', 'anna', '§', 'db')", "new PDO($dsn, 'anna', '§')", "DriverManager.getConnection(url, \"anna\", \"§\")", "sqlplus anna/§@db", "rman target sys/§", "impdp anna/§ full=y", "exp anna/§@db", "connect anna/§@db", "isql -U anna -P §", "sqlcmd -S h -U sa -P §", "bcp t out f -U sa -P §", "tsql -S h -U sa -P '§'", "cqlsh -u anna -p § h", "cypher-shell -u neo4j -p §", "influx -username anna -password §", "rabbitmqctl add_user anna §", "mosquitto_pub -u anna -P § -t x", "svn co --username anna --password § u", "hg clone https://anna:§@h/r", "twine upload -u anna -p § d/*", "npm login --password=§", "docker login -u anna -p § r", "helm repo add r u --username anna --password §", "oc login -u anna -p §", "xfreerdp /u:anna /p:§ /v:h", "vncviewer -passwd <(echo §)", "x11vnc -passwd §", "htpasswd -b f anna §", "htpasswd -nb anna §", "useradd -p § anna", "New-LocalUser anna -Password (ConvertTo-SecureString '§' -AsPlainText -Force)", "$cred = New-Object PSCredential('anna', (ConvertTo-SecureString \"§\" -AsPlainText -Force))", "cryptsetup open /dev/sdb x <<< §", "echo -n § | cryptsetup luksFormat /dev/sdb -", "restic: RESTIC_PASSWORD=§ restic backup", "BORG_PASSPHRASE='§' borg create", "rclone config create r ftp user anna pass §", "rclone obscure §", "mega-login anna@mail.test §", "youtube-dl -u anna -p § u", "yt-dlp --username anna --password § u", "telnet h\nlogin: anna\npassword: §\n$", "enable secret §", "username anna password 0 §", "username anna privilege 15 secret §", "snmp-server community § RO", "set system login user anna authentication plain-text-password §", "/user add name=anna password=§ group=full", "d-i passwd/root-password password §", "rootpw --plaintext §", "chpasswd: {list: 'anna:§'}", "chpasswd:\n  list: |\n    anna:§", "users:\n  - name: anna\n    plain_text_passwd: §", "basic_auth:\n  username: anna\n  password: §", "tls:\n  key_password: §",
)  # fmt: skip
