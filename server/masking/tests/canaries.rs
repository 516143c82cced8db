//! Secrets in inputs in every form that YAML and the tools behind it have, and what a log shows of each.

use kubeonkube_masking::{MASK, MaskedRun, Masker, hide_in_document, hide_in_script};

/// Variables, and the secrets in them as a log may print them.
const SECRETS: &[(&str, &[&str])] = &[
    // The notations of YAML.
    ("password: canary-p1", &["canary-p1"]),
    (r#"password: "canary-\x41\u0042\n""#, &["canary-AB"]),
    (
        r#"smtp_password: "canary-first\ncanary-second\nc3""#,
        &["canary-first", "canary-second", r"canary-first\ncanary-second"],
    ),
    ("password: \"canary-\\\n   joined\"", &["canary-joined"]),
    ("password: \"canary-a\n  canary-b\"", &["canary-a canary-b"]),
    ("password: 'canary''s'", &["canary's", r"canary\'s"]),
    ("password: canary-a\n  canary-b", &["canary-a canary-b"]),
    ("password: >-\n  canary-a\n  canary-b\n", &["canary-a canary-b"]),
    ("password: |2\n    canary-a\n  canary-b\n", &["canary-a", "canary-b"]),
    ("password: |\n  x7!q\n  canary-b\n", &["x7!q", "canary-b"]),
    ("password:\n  canary-below", &["canary-below"]),
    // YAML reads these as a tag, as an anchor, and as a key.
    ("password: !canary-tag", &["!canary-tag", "canary-tag"]),
    ("a: {password: !!canary-tag, b: c}", &["canary-tag"]),
    ("passwords: {bob: !<canary-tag>}", &["!<canary-tag>"]),
    ("password: &canary-anchor-name", &["&canary-anchor-name", "canary-anchor-name"]),
    ("\"db_password: canary-key\": 1", &["canary-key"]),
    ("db-password=canary-key: 1", &["canary-key"]),
    ("? password\n: canary-explicit", &["canary-explicit"]),
    ("\"pass\\x77ord\": canary-escaped", &["canary-escaped"]),
    ("{\"a\": {\"api_token\":\"canary-json\"},\n \"b\": [1]}", &["canary-json"]),
    ("a: {token: canary-flow, b: c}", &["canary-flow"]),
    ("shared: &s canary-anchor\npassword: *s", &["canary-anchor"]),
    ("base: &b\n  x: canary-merged\nsecrets:\n  <<: *b", &["canary-merged"]),
    ("password: !unsafe 'canary-{{tag'", &["canary-{{tag"]),
    ("env:\n- name: DB_PASSWORD\n  value: >\n    canary-x\n    canary-y\n", &["canary-x canary-y"]),
    ("db: {<<: {x: canary-merge}}\npassword: '{{ db.x }}'", &["canary-merge"]),
    ("password: !!binary Y2FuYXJ5LWJpbmFyeQ==", &["canary-binary"]),
    ("password: canary-crlf\r\nb: c\r\n", &["canary-crlf"]),
    ("a: b\n---\npassword: canary-second-document", &["canary-second-document"]),
    ("password: 0123456", &["0123456", "42798"]),
    ("password: 1_234_567", &["1234567"]),
    ("password: 12:30:45", &["45045"]),
    ("api_tokens: [[canary-inner], {value: canary-item}]", &["canary-inner", "canary-item"]),
    (
        "password: can<ary>&/1 2",
        &["can%3Cary%3E%26/1%202", "can%3Cary%3E%26%2F1+2", "can&lt;ary&gt;&amp;/1 2", r"can\u003cary\u003e\u0026/1 2"],
    ),
    ("command: htpasswd -nbB bob canary-n", &["canary-n"]),
    ("command: openssl passwd -6 -salt xyz canary-o", &["canary-o"]),
    ("command: usermod -p $(openssl passwd -1 canary-o) bob", &["canary-o"]),
    ("command: lftp -u bob,canary-l sftp://h", &["canary-l"]),
    ("query: SET PASSWORD FOR bob@h = 'canary-q'", &["canary-q"]),
    ("shell: printf \"%s\" canary-f | sudo -S ls", &["canary-f"]),
    ("shell: read -r DB_TOKEN <<< canary-r", &["canary-r"]),
    ("ldif: |\n  dn: cn=a\n  userPassword:: canary-ldif\n", &["canary-ldif"]),
    ("lines: [radius-server host h key 7 canary-7, enable secret 0 canary-0]", &["canary-7", "canary-0"]),
    ("line: createUser bob SHA canary-sha AES canary-aes", &["canary-sha", "canary-aes"]),
    // References and templates.
    ("password: '{{ base.db }}'\nbase: {db: canary-dotted, x: y}", &["canary-dotted"]),
    ("password: \"{{ base['db'] | trim }}\"\nbase: {db: canary-index}", &["canary-index"]),
    ("password: \"{{ x | default('canary-default') }}\"", &["canary-default"]),
    ("command: 'run --password={{ base }}'\nbase: canary-in-command", &["canary-in-command"]),
    ("password: \"{{ a ~ '-' ~ b }}\"\na: canary-a\nb: canary-b", &["canary-a", "canary-b"]),
    ("password: \"{{ x or 'canary-or' }}\"", &["canary-or"]),
    ("password: \"canary-before-{{ x }}\"", &["canary-before-"]),
    ("password: \"{% if x %}canary-if{% endif %}\"", &["canary-if"]),
    // Maps that hold secrets, and pairs of a name and a value.
    ("secrets: {db: canary-map, nested: {a: [canary-deep]}}", &["canary-map", "canary-deep"]),
    ("secrets: {server: {x: canary-below}}", &["canary-below"]),
    ("secrets: {db_password: canary-db, exchange: canary-mail, app_store: canary-app}", &["canary-mail", "canary-app"]),
    (
        "java_key_store: canary-store\napi_token_endpoint: https://canary-webhook",
        &["canary-store", "https://canary-webhook"],
    ),
    ("k3s_tokens: {server: canary-server, agent: canary-agent}", &["canary-server", "canary-agent"]),
    ("api_key: {prod: canary-prod}", &["canary-prod"]),
    ("old_passwords: canary-a, canary-b", &["canary-a", "canary-b"]),
    ("env: [[DB_PASSWORD, canary-list]]", &["canary-list"]),
    (
        "a: [{id: client_secret, value: canary-id}, {label: Password, value: canary-label}, {ParameterKey: DbToken, ParameterValue: canary-cf}]",
        &["canary-id", "canary-label", "canary-cf"],
    ),
    (
        "a: [{envvar: DB_PASSWORD, value: canary-var}, {directive: requirepass, value: canary-line}]",
        &["canary-var", "canary-line"],
    ),
    (
        "spec: [{question_name: Root login, variable: rootlogin, type: password, default: canary-survey}]",
        &["canary-survey"],
    ),
    (
        "x: {type: SecureString, Value: canary-ssm}\ny: {format: password, default: canary-format}",
        &["canary-ssm", "canary-format"],
    ),
    ("output: {db: {sensitive: true, type: string, value: canary-output}}", &["canary-output"]),
    (
        "argument: {type: str, no_log: yes, default: canary-argument}\nv: {masked: 'true', value: canary-masked}",
        &["canary-argument", "canary-masked"],
    ),
    ("basic_auth: {users: {alice: canary-alice, bob: canary-bob}}", &["canary-alice", "canary-bob"]),
    ("http: {basicAuth: {users: {alice: canary-alice}}}", &["canary-alice"]),
    (
        "snmp_community: canary-c\nsnmp: {Community: canary-nested}\nhsm_pin: canary-4711",
        &["canary-c", "canary-nested", "canary-4711"],
    ),
    ("hsm: {slot: 1, pin: canary-4711}\nconf: \"rocommunity canary-ro\\nother line\"", &["canary-4711", "canary-ro"]),
    ("snmpd: |\n  rwcommunity canary-rw1 10.0.0.0/8\n  rocommunity public\n", &["canary-rw1"]),
    // Entities and CDATA of XML.
    ("xml: '<a><password>canary-X&amp;z</password></a>'", &["canary-X&z", "canary-X&amp;z"]),
    ("xml: '<a><b:token>canary-X&#38;y&#x3c;z</b:token></a>'", &["canary-X&y<z"]),
    ("xml: '<property name=\"password\" value=\"canary-&quot;q&quot;\"/>'", &["canary-\\\"q\\\""]),
    ("xml: '<password><![CDATA[canary-<x]>&y]]></password>'", &["canary-<x]>&y"]),
    ("xml: '<entry key=\"password\">canary-[a]&lt;b</entry>'", &["canary-[a]<b"]),
    // Programs, and what they read from a pipe.
    ("command: ssh-keygen -p -P canary-old -N canary-new -f x", &["canary-old", "canary-new"]),
    ("command: ssh-keygen -p -N canary-new -P canary-old", &["canary-old", "canary-new"]),
    ("shell: printf '%s' 'canary-luks' | cryptsetup luksOpen /dev/sdb data -", &["canary-luks"]),
    ("shell: echo -n canary-luks | sudo cryptsetup open /dev/sdb data", &["canary-luks"]),
    ("shell: echo 'canary-two words' | cryptsetup open /dev/sdb data", &["canary-two words"]),
    ("shell: echo canary-docker | docker secret create db -", &["canary-docker"]),
    ("shell: printf \"%s\\n\" canary-podman | podman secret create db -", &["canary-podman"]),
    ("shell: echo \"bob:canary-ch\" | sudo chpasswd", &["canary-ch"]),
    ("shell: printf 'bob:%s' \"canary-format\" | chpasswd -e", &["canary-format"]),
    ("shell: echo canary-stdin | passwd --stdin bob", &["canary-stdin"]),
    ("shell: echo canary-fd | gpg --batch --passphrase-fd 0 -d x.gpg", &["canary-fd"]),
    ("shell: echo canary-kube | kubectl create secret generic db --from-file=pw=/dev/stdin", &["canary-kube"]),
    ("shell: echo 'canary-two words' | docker login -u bob --password-stdin r", &["canary-two words"]),
    ("shell: echo 'canary-two words' | passwd --stdin bob", &["canary-two words"]),
    ("shell: echo canary-insert | pass insert -e db", &["canary-insert"]),
    ("argv: [mytool, -u, bob, -p, canary-list]\nlogin_args: -u bob -p canary-text", &["canary-list", "canary-text"]),
    ("command: sqlplus -s bob/canary-ora@db1 @x.sql", &["canary-ora"]),
    ("command: rman target=sys/canary-rman@db1", &["canary-rman"]),
    ("command: racadm -r h -u root -p canary-dell getsysinfo", &["canary-dell"]),
    (
        "command: rdesktop -u bob -p canary-rdp h\nargv: [beeline, -n, bob, -p, canary-hive]",
        &["canary-rdp", "canary-hive"],
    ),
    ("command: xfreerdp /u:bob /p:canary-rdp /v:h", &["canary-rdp"]),
    ("command: kadmin -p admin -w canary-krb -q listprincs", &["canary-krb"]),
    ("command: radtest bob canary-bob host 0 canary-nas", &["canary-bob", "canary-nas"]),
    ("command: govc about -u bob:canary-vc@vc.example.test", &["canary-vc"]),
    ("command: govc ls -u 'https://bob:canary-vc@vc/sdk'", &["canary-vc"]),
    ("bundle_secret: eyJhIjoiY2FuYXJ5LWpzb24ifQ==", &["canary-json"]),
    ("wifi_psk: canary-psk", &["canary-psk"]),
    ("basic_auth_users: {alice: canary-user}", &["canary-user"]),
    ("credentials: {gitlab: {username: alice, value: canary-value}}", &["canary-value"]),
    ("extra_env: [{name: DB_PASSWORD, value: canary-env}]", &["canary-env"]),
    ("settings:\n- {key: requirepass, value: canary-setting}", &["canary-setting"]),
    ("headers: [{Name: X-Auth-Token, Value: canary-header}]", &["canary-header"]),
    ("options: [{option: admin-password, val: [canary-option]}]", &["canary-option"]),
    ("m: {kind: Secret, stringData: {db: canary-string-data}}", &["canary-string-data"]),
    ("m: {kind: Secret, data: {db: Y2FuYXJ5LWRhdGE=}}", &["Y2FuYXJ5LWRhdGE=", "canary-data"]),
    // Texts within values.
    ("pair: \"DB_PASSWORD=canary-pair\"", &["canary-pair"]),
    ("env: [DB_PASSWORD=canary-a, \"TOKEN='canary b'\"]", &["canary-a", "canary b"]),
    ("env_file: |\n  A=b\n  export DB_PASSWORD=\"canary c\"\n  password = canary-d\n", &["canary c", "canary-d"]),
    ("backup_command: \"mysqldump --password=canary-dump\"", &["canary-dump"]),
    ("command: 'login --token canary-word -v'", &["canary-word"]),
    ("command: \"login -password 'canary quoted'\"", &["canary quoted"]),
    ("command: [login, --password, canary-argv]", &["canary-argv"]),
    ("command: curl -u me:canary-curl https://x", &["canary-curl"]),
    ("command: \"curl -H 'Authorization: Bearer canary-bearer' https://x\"", &["canary-bearer"]),
    ("command: \"curl -H 'X-Token: canary-header' https://x\"", &["canary-header"]),
    ("command: openssl rsa -passin pass:canary-ssl", &["canary-ssl"]),
    ("command: \"curl -d '{\\\"password\\\": \\\"canary-data\\\"}' x\"", &["canary-data"]),
    ("hook: \"https://example.test/hook?token=canary-url&x=y\"", &["canary-url"]),
    ("hook: \"https://example.test/?x=y&api_key=can%2Fary%21\"", &["can%2Fary%21", "can/ary!"]),
    ("database: postgres://me:canary%40db@db/x", &["canary%40db", "canary@db"]),
    ("registry: https://canary-token@git.example", &["canary-token"]),
    ("dsn: Server=db;User Id=sa;Password=canary;Database=x", &["canary"]),
    ("jdbc: \"jdbc:mysql://db/x?user=me&password=canary-jdbc\"", &["canary-jdbc"]),
    ("xml: <user>me</user><password>canary-xml</password>", &["canary-xml"]),
    ("xml: <property name=\"db.password\" value=\"canary-property\"/>", &["canary-property"]),
    ("netrc: machine x login me password canary-netrc", &["canary-netrc"]),
    ("xml: <password><![CDATA[canary-cdata]]></password>", &["canary-cdata"]),
    ("xml: <property value=\"canary-reversed\" name=\"db.password\"/>", &["canary-reversed"]),
    ("xml: |\n  <name>db.password</name>\n  <value>canary-site</value>\n", &["canary-site"]),
    ("php: \"define('DB_PASSWORD', 'canary-php');\"", &["canary-php"]),
    (
        "text: \"password:canary-a password := canary-b 'password' => 'canary-c'\"",
        &["canary-a", "canary-b", "canary-c"],
    ),
    ("php: |\n  array(\"password\"\n    => \"canary-1\", 'token'\n => 'canary-2')\n", &["canary-1", "canary-2"]),
    (
        "text: |\n  x \"password\":\n\n  \"canary-1\"\n  token\n    : canary-2 x\n  key\n  := canary-3\n",
        &["canary-1", "canary-2", "canary-3"],
    ),
    ("text: |\n  [ \"password\":\n  \"db_token\": \"canary-1\"\n", &["canary-1"]),
    ("conf: |\n  port 1\n  requirepass canary-redis\n  auth_pass \"canary-vrrp\";\n", &["canary-redis", "canary-vrrp"]),
    ("conf: |\n  FROM x\n  ENV DB_PASSWORD canary-image\n", &["canary-image"]),
    ("sql: \"CREATE USER x IDENTIFIED BY 'canary-sql'\"", &["canary-sql"]),
    ("command: sshpass -p canary-ssh ssh m1", &["canary-ssh"]),
    ("command: mysql -uroot -pcanary-mysql db", &["canary-mysql"]),
    ("command: docker login -u me -p canary-docker reg", &["canary-docker"]),
    ("command: echo 'root:canary-echo' | chpasswd", &["canary-echo"]),
    ("command: |\n  login \\\n    --token \\\n    canary-next\n", &["canary-next"]),
    ("dsn: Endpoint=sb://a/;SharedAccessKeyName=r;SharedAccessKey=canary-shared=", &["canary-shared="]),
    ("dsn: me:canary-tcp@tcp(db:3306)/x", &["canary-tcp"]),
    ("hook: https://hooks.slack.com/services/T0/B0/canary-slack", &["T0/B0/canary-slack"]),
    ("hook: https://discord.com/api/webhooks/123456/canary-discord", &["canary-discord"]),
    ("hook: https://x.webhook.office.com/webhookb2/canary-teams", &["canary-teams"]),
    ("url: https://x.example/c?sv=1&sig=canary-sig&se=2", &["canary-sig"]),
    ("file: |\n  db:\n    password: canary-yaml\n", &["canary-yaml"]),
    ("file: |\n  - name: TOKEN\n    value: canary-list\n", &["canary-list"]),
    ("file: '{\"password\": \"canary-inner\"}'", &["canary-inner"]),
    (r#"file: '"{\"password\": \"canary-twice\"}"'"#, &["canary-twice"]),
    ("registry_credentials: |\n  {\"username\": \"alice\", \"password\": \"canary-block\"}\n", &["canary-block"]),
    (
        "docker_auth: '{\"auths\": {\"r\": {\"auth\": \"bWU6Y2FuYXJ5LWRvY2tlcg==\"}}}'",
        &["canary-docker", "bWU6Y2FuYXJ5LWRvY2tlcg=="],
    ),
    ("aws_credentials: |\n  [default]\n  aws_secret_access_key = canary-aws\n", &["canary-aws"]),
    ("base: &b {db: canary-alias}\nreal: *b\npassword: '{{ real.db }}'", &["canary-alias"]),
    ("base: &b {db: canary-merge}\nreal: {<<: *b}\npassword: '{{ real.db }}'", &["canary-merge"]),
    ("passwords: {admin: canary-a1, user: canary-user}", &["canary-a1", "canary-user"]),
    ("command: docker login -pcanary-docker reg", &["canary-docker"]),
    ("command: helm registry login -u me -p canary-helm reg", &["canary-helm"]),
    ("command: crane auth login -u me -p canary-crane reg", &["canary-crane"]),
    ("command: regctl registry login -u me -p canary-regctl reg", &["canary-regctl"]),
    (
        "command: vault operator unseal -address=x Canary4YcanaryYcanaryYcanaryYcanaryYcanary4=",
        &["Canary4YcanaryYcanaryYcanaryYcanaryYcanary4="],
    ),
    ("command: aws ssm put-parameter --name /a --value canary-ssm --type SecureString", &["canary-ssm"]),
    ("command: aws ssm put-parameter --type SecureString --name /a --value 'canary-ssm'", &["canary-ssm"]),
    ("command: curl -u elastic:'canary-curl' https://x", &["canary-curl"]),
    ("command: curl -su elastic:\"canary-curl\" https://x", &["canary-curl"]),
    (
        "a: curl -u 'elastic:canary 1 x' https://x\nb: curl --user elastic:\"canary 2 x\" https://x",
        &["canary 1 x", "canary 2 x"],
    ),
    ("command: echo use mysql -uroot -p'canary-echo'", &["canary-echo"]),
    ("command: install.sh --k3s-extra-args \"--token canary-k3s\"", &["canary-k3s"]),
    ("dsn: me:canary-@tcp@tcp(db:3306)/x", &["canary-@tcp"]),
    ("dsn: me/canary-@ora@//ora:1521/svc", &["canary-@ora"]),
    ("repo_key: 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", &["0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"]),
    ("api_key_info: canary-1", &["canary-1"]),
    ("{sns_token: 'arn:aws:sns:eu-central-1:1:x,password=canary-1'}", &["password=canary-1"]),
    ("{pat: canary-1, otp_seed: canary-2, recovery_codes: [canary-3]}", &["canary-1", "canary-2", "canary-3"]),
    ("{db_kennwort: canary-1, senha: canary-2}", &["canary-1", "canary-2"]),
    ("a: echo canary-1 | kinit admin\nb: ipa-client-install -p admin -w canary-2", &["canary-1", "canary-2"]),
    ("command: snmpwalk -v2c -c canary-snmp host", &["canary-snmp"]),
    ("command: ipmitool -H h -U admin -P canary-ipmi power on", &["canary-ipmi"]),
    (
        "ks: |\n  rootpw --plaintext canary-root\n  d-i passwd/root-password password canary-preseed\n",
        &["canary-root", "canary-preseed"],
    ),
    ("command: sed -i 's/^# requirepass .*/requirepass canary-sed/' x", &["canary-sed"]),
    ("a: |\n  //registry.example.test/:_authToken=canary-npm\n", &["canary-npm"]),
    ("command: 'curl -H \"X-JFrog-Art-Api: canary-jfrog\" https://x'", &["canary-jfrog"]),
    (r"command: printf 'root:canary-printf\n' | chpasswd", &["canary-printf", "root:canary-printf"]),
    ("command: echo -n canary-echo | docker login --password-stdin", &["canary-echo"]),
    ("command: curl -su me:canary-short https://x", &["canary-short"]),
    ("sql: \"ALTER USER x PASSWORD 'canary-sql'\"", &["canary-sql"]),
    ("sql: \"CREATE USER x IDENTIFIED WITH caching_sha2_password BY 'canary-sql'\"", &["canary-sql"]),
    ("conf: |\n  auth_type PASS\n  auth_pass canaryword\n", &["canaryword"]),
    // Beside what is readable: see the other table.
    ("k3s_tokens: {host: canary-host, backend: canary-backend}", &["canary-host", "canary-backend"]),
    ("sealed_secrets: {namespace: kube-system, db: canary-sealed}", &["canary-sealed"]),
    ("env: [[db_password, canary-a]]\nheaders: [[X-Auth-Token, canary-b]]", &["canary-a", "canary-b"]),
    ("command: login --password canary-1", &["canary-1"]),
    ("command: [login, --password, 12345678]", &["12345678"]),
    ("command: cd /tmp && sudo mysqldump -u root -pcanary-dump db", &["canary-dump"]),
    ("command: docker exec -it db mysql -uroot -pcanary-exec", &["canary-exec"]),
    ("command: docker run --rm x curl -u me:canary-curl https://x", &["canary-curl"]),
    ("command: echo canary-in | docker login --password-stdin", &["canary-in"]),
    ("primary_key: canary-4zX9", &["canary-4zX9"]),
    ("wpa2psk: canary-psk", &["canary-psk"]),
    ("text: 'password:canary-1 x/y'", &["canary-1"]),
    ("password: 'user=me;secret=canary-part'", &["user=me;secret=canary-part", "canary-part"]),
    // XML, where one element contains another.
    (
        "xml: |\n  <property name=\"db.password\">canary-a</property>\n  <property name=\"x.password\" value=\"canary-b\"/>\n",
        &["canary-a", "canary-b"],
    ),
    ("xml: '<entry key=\"db.password\">canary-entry</entry>'", &["canary-entry"]),
    ("xml: '<property name=\"db.password\"><value>canary-spring</value></property>'", &["canary-spring"]),
    ("xml: '<property name=\"db.password\" type=\"x\" value=\"canary-far\"/>'", &["canary-far"]),
    ("xml: <AdministratorPassword><Value>canary-windows</Value></AdministratorPassword>", &["canary-windows"]),
    ("xml: |\n  <key>db.password</key>\n  <string>canary-plist</string>\n", &["canary-plist"]),
    // Assignments of programming languages.
    ("rb: |\n  config.password = 'canary-a'\n  :password => \"canary-b\",\n", &["canary-a", "canary-b"]),
    ("php: |\n  $cfg['blowfish_secret'] = 'canary php';\n", &["canary php"]),
    ("py: 'os.environ[\"DB_PASSWORD\"] = \"canary-py\"'", &["canary-py"]),
    ("pl: '$ENV{\"DB_PASSWORD\"} = \"canary-pl\"'", &["canary-pl"]),
    ("ps: '$pw = ConvertTo-SecureString \"canary-ps\" -AsPlainText'", &["canary-ps"]),
    ("hcl: 'variable \"db_password\" { default = \"canary-hcl\" }'", &["canary-hcl"]),
    ("value: \"{{ db_password | default('canary-filter') }}\"", &["canary-filter"]),
    // A space between a name and a value in a longer line.
    ("command: aws configure set aws_secret_access_key canary-aws1", &["canary-aws1"]),
    ("command: nmcli dev wifi connect corp password canary-wifi", &["canary-wifi"]),
    ("conf: |\n  user ops insecure-password canary-1ops\n", &["canary-1ops"]),
    ("conf: 'key \"ddns\" { algorithm hmac-sha256; secret \"canary-bind==\"; };'", &["canary-bind=="]),
    ("command: rabbitmqctl change_password me canary-rabbit", &["canary-rabbit"]),
    ("conf: |\n  proxy_set_header Authorization \"Basic bWU6Y2FuYXJ5LTE=\";\n", &["bWU6Y2FuYXJ5LTE=", "canary-1"]),
    ("command: x /password:canary-slash", &["canary-slash"]),
    // Commands as lists.
    ("argv: [curl, -u, 'me:canary curl', https://x]", &["canary curl"]),
    ("argv: [mysql, -pcanary-mysql]", &["canary-mysql"]),
    ("argv:\n- docker\n- login\n- -p\n- canary-docker\n", &["canary-docker"]),
    ("argv: [sshpass, -p, \"can'ary ssh\", ssh]", &["can'ary ssh"]),
    // Passphrases that are sentences.
    (
        "password: the canary-horse is on fire\ntoken: must not be empty now",
        &["the canary-horse is on fire", "must not be empty now"],
    ),
    ("conf: |\n  password: it has a beak\n  user: x\n", &["it has a beak"]),
    ("msg: 'db_password: correct horse battery'", &["correct horse battery"]),
    ("msg: 'db_password: \"it has a beak\"'", &["it has a beak"]),
    ("note: 'password: open the gate'", &["open the gate"]),
    // Notations in braces that are YAML, too, and templates.
    ("x: \"{password=canaryword, user=alice}\"", &["canaryword"]),
    ("x: |\n  {\n    port 1\n    password = \"canary-hcl\"\n  }\n", &["canary-hcl"]),
    ("x: \"{ password => 'canary-1' }\"\ny: '{:password => \"canary-2\"}'", &["canary-1", "canary-2"]),
    ("x: '[{password=canary-1}]'\ny: '{a: {password=canary-2}}'", &["canary-1", "canary-2"]),
    ("x: '{ requirepass canary-1 }'\ny: '{https://alice:canary-2@h/}'", &["canary-1", "canary-2"]),
    ("app_credentials: '{password=canary-1}'", &["canary-1"]),
    ("x: '{% raw %}password=canary-1{% endraw %}'\ny: \"{% set password = 'canary-2' %}\"", &["canary-1", "canary-2"]),
    // Default values, types and braces of languages.
    ("conf: 'x = ${DB_PASSWORD:-canaryword} ${OTHER_TOKEN-canary-1}'", &["canaryword", "canary-1"]),
    ("py: \"os.getenv('DB_PASSWORD','canaryword')\"", &["canaryword"]),
    (
        "rs: 'let password: &str = \"canary-1\";'\nts: \"const dbPassword: string = 'canary-2'\"",
        &["canary-1", "canary-2"],
    ),
    ("dsn: 'Driver={ODBC};Uid=sa;Pwd={canary-odbc};'", &["canary-odbc"]),
    ("tokens: 'a=canary-1,b=canary-2'", &["canary-1", "canary-2"]),
    // Further programs.
    ("command: mongosh -u a -p canary-mongo", &["canary-mongo"]),
    ("command: mosquitto_pub -t x -P canary-mqtt", &["canary-mqtt"]),
    ("command: vault login -no-print canary-vault", &["canary-vault"]),
    ("a: echo \"canaryword\" | sudo -S apt update\nb: echo canary-1 | sudo -u root -S id", &["canaryword", "canary-1"]),
    ("command: mysqladmin -u root password 'canary-admin'", &["canary-admin"]),
    ("conf: |\n  router bgp 1\n   neighbor 10.0.0.1 password 7 canaryword\n", &["canaryword"]),
    ("command: net user alice canary-net /add", &["canary-net"]),
    ("ps: ConvertTo-SecureString 'canary-ps' -AsPlainText", &["canary-ps"]),
    // Further names.
    ("{github_pat: canary-1, jwt: canary-2, bearer: canary-3}", &["canary-1", "canary-2", "canary-3"]),
    ("{session_cookie: canary-1, preshared: canary-2, totp: canary-3}", &["canary-1", "canary-2", "canary-3"]),
    ("htpasswd: |\n  alice:canary-1\n  bob:canary-2\n", &["canary-1", "canary-2"]),
    // What commands read.
    ("command: chpasswd <<< 'root:canary-here'", &["canary-here", "root:canary-here"]),
    ("script: |\n  chpasswd <<'EOF'\n  root:canary-lines\n  EOF\n", &["canary-lines"]),
    ("script: |\n  expect \"*assword:*\"\n  send \"canary-sent\\r\"\n", &["canary-sent"]),
    ("script: |\n  expect -re \"(?i)password\" { send -- \"canary-brace\\r\" }\n", &["canary-brace"]),
    ("users: |\n  user,password\n  admin,canary-table\n  bob,\"canary-row\"\n", &["canary-table", "canary-row"]),
    // Cookies.
    ("headers: {Cookie: 'theme=dark; sessionid=canary-cookie'}", &["canary-cookie"]),
    ("header: 'Set-Cookie: JSESSIONID=canary-set1; Path=/x'", &["canary-set1"]),
    ("command: curl -b 'session=canary-curl' https://x", &["canary-curl"]),
    // Logins of single programs.
    ("conf: |\n  stats auth me:canary-stats\n", &["canary-stats"]),
    ("sql: \"SET PASSWORD FOR x = PASSWORD('canary-sql')\"", &["canary-sql"]),
    ("conf: |\n  user default on >canary-acl ~* +@all\n", &["canary-acl"]),
    ("conf: |\n  carol : EAP \"canary-eap\"\n", &["canary-eap"]),
    ("lines: |\n  db.example.test:5432:app:user:canary-pg\n", &["canary-pg"]),
    (
        "lines: |\n  db:5432:ab:cd:cafe1234\n  *:*:*:me:canary-any\n  db:65:ab:cd:cafe99\n",
        &["cafe1234", "canary-any", "cafe99"],
    ),
    ("dsn: me/canary-oracle@//ora:1521/svc", &["canary-oracle"]),
    ("command: net ads join -U 'administrator%canary-smb'", &["canary-smb"]),
    ("command: zip -P canary-zip a.zip b", &["canary-zip"]),
    ("command: 7z x a.7z -pcanary-7z", &["canary-7z"]),
    ("command: htpasswd -bc f admin canary-ht", &["canary-ht"]),
    ("command: mc alias set m http://h A canary-mc", &["canary-mc"]),
    ("command: ssh-keygen -N 'canary-ssh' -f k", &["canary-ssh"]),
    ("command: kinit admin <<< \"canary-kinit\"", &["canary-kinit"]),
    ("command: snmpget -v3 -u u -A canary-a -X canary-x h", &["canary-a", "canary-x"]),
    ("secret_list: [{name: x, data: canary-data}]", &["canary-data"]),
    ("db_secret_list: \"['canary-a1', 'canary-b2']\"", &["canary-a1", "canary-b2"]),
    ("bundle: eyJhIjogMSwgInBhc3N3b3JkIjogImNhbmFyeS1qc29uIn0=", &["canary-json"]),
    ("secret_manifest: |\n  kind: Secret\n  data:\n    a: Y2FuYXJ5LWRhdGE=\n", &["Y2FuYXJ5LWRhdGE=", "canary-data"]),
    ("db_secret: |\n  first: canary 1\n  canary-2\n", &["first: canary 1", "canary-2"]),
    ("public_key_password: canary-1", &["canary-1"]),
    (
        "command: \"curl -H \\\"X-Api-Key: canary-1\\\" -H 'Authorization: Bearer canary-2' https://h\"",
        &["canary-1", "canary-2"],
    ),
    ("password: canary-😀", &[r"canary-\U0001F600", r"canary-\\U0001F600"]),
    ("password: ~canary-1", &["~canary-1"]),
    ("command: useradd -p '$6$canary$canary-hash/x1' me", &["$6$canary$canary-hash/x1"]),
    ("max_mind_license_key: canary-1", &["canary-1"]),
    ("key: CanaryHorse", &["CanaryHorse"]),
    ("command: run --prompt-token canary-1 --no-verify-secret canary-2", &["canary-1", "canary-2"]),
    (
        "argv: [run, --prompt-token, canary-1, --password-hash, canary-2, --credentials, canary-3]",
        &["canary-1", "canary-2", "canary-3"],
    ),
    ("a: {key: my-secret-token}\nb: {key: my-key}", &["my-secret-token", "my-key"]),
    ("password: ~/canary-1", &["~/canary-1"]),
    // Names that only look like those of settings and public keys.
    (
        "{public_keypassword: canary-1, pub_keystore: canary-2, public_keys_private: canary-3}",
        &["canary-1", "canary-2", "canary-3"],
    ),
    ("max_mind_credentials: canary-1\nmin_io_secrets: {a: canary-2}", &["canary-1", "canary-2"]),
    ("storage_token_query: '?sv=1&sig=canary-1'", &["?sv=1&sig=canary-1", "canary-1"]),
    ("authorized_users: {bob: canary-1}\na: {authorized_users: 'bob:canary-2'}", &["canary-1", "canary-2"]),
    // A secret that is composed of other variables.
    ("password: 'pre{{ part }}post'\npart: canary", &["precanarypost"]),
    ("password: '{{ a }}-{{ b.c }}'\na: canary\nb: {c: '{{ d }}2'}\nd: x1", &["canary-x12"]),
    ("password: '{{ a }}/{{ a }}'\nh1: {a: can1}\nh2: {a: can2}", &["can1/can1", "can2/can2"]),
    ("password: '{{ x | default(part) }}'\npart: canary-1", &["canary-1"]),
    ("password: '{{ x | d(y.part, true) }}'\ny: {part: canary-1}", &["canary-1"]),
    ("password: \"{{ map.get('k') }}\"\nmap: {k: canary-1}", &["canary-1"]),
    ("password: \"{{ map.get('k', 'x') }}\"\nmap: {k: canary-1}", &["canary-1"]),
    ("password: '{{ list[0] }}'\nlist: [canary-1, x]", &["canary-1"]),
    ("password: '{{ list[-1].pin }}'\nlist: [{pin: canary-1}]", &["canary-1"]),
    // YAML folds a long text at spaces.
    (
        "password: canary-1 horse battery staple canary-2 purple monkey dishwasher elephant tango canary-3 foxtrot zebra-4",
        &[
            "canary-1 horse battery staple",
            "battery staple canary-2 purple",
            "monkey dishwasher elephant tango canary-3",
            "canary-3 foxtrot zebra-4",
            "foxtrot zebra-4",
        ],
    ),
    // The lines as the document has them.
    ("password: >-\n  canary-1\n  canary-2\n", &["canary-1", "canary-2"]),
    ("password: \"canary-1\n  canary-2\\\n  canary-3\"\n", &["canary-1", "canary-2", "canary-3"]),
    ("text: |\n  password: \"canary-1\n    canary-2\"\n", &["canary-1", "canary-2"]),
    ("app_credentials: |\n  db: canary-1\n", &["canary-1"]),
    // A text under a secret name that YAML reads in another way, or that has a line like any other file.
    (
        "web_passwords: |\n  web: !canary-1\n  db: &canary-2 y\n  c: #canary-3\n",
        &["!canary-1", "&canary-2", "#canary-3"],
    ),
    ("app_passwords: |\n  user: canary-1\n", &["canary-1"]),
    ("app_passwords: '{\"user\": \"canary-1\"}'", &["canary-1"]),
    ("app_passwords: |\n  user: canary-1\n  [x\n", &["canary-1"]),
    (
        "app_secrets: |\n  webhook_url = https://x.example/hooks/canary-1\n  api_token = canary-2\n",
        &["https://x.example/hooks/canary-1", "canary-2"],
    ),
    ("app_secret: |\n  AbcdefghIjkl=\n  Canary-horse-battery:\n", &["AbcdefghIjkl=", "Canary-horse-battery:"]),
    ("ssh_keys: 'environment=\"API_TOKEN=canary-1\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIcanary'", &["canary-1"]),
];

/// Variables with a secret, and what stays readable.
const READABLE: &[(&str, &[&str])] = &[
    ("tls_key_usages: [serverAuth]", &["serverAuth"]),
    ("token_issuer: visible-issuer\nprimary_key_column: user_id", &["visible-issuer", "user_id"]),
    ("secret_types: [opaque, dockerconfig]\npassword_prompt: Enter-it", &["dockerconfig", "Enter-it"]),
    ("command: htpasswd -n bob && openssl passwd -6 -stdin < file", &["file", "bob"]),
    (
        "shell: |\n  x=$(cat word | openssl passwd -6 -stdin)\n  usermod x\n  openssl passwd -6 -in pwfile.txt\n",
        &["usermod", "pwfile.txt"],
    ),
    ("- name: Run the openssl passwd command\n", &["command"]),
    ("note: enable password authentication, and read the password <<x", &["authentication"]),
    ("loop: [grafana_password, grafana_port]", &["grafana_port"]),
    ("password: &admin_password hunter22\na: *admin_password", &["admin_password"]),
    ("password: node", &["node2", "kube_node", "task kubelet of node2 is not ready", "nodes", "node.example.test"]),
    ("password: \"1234\"", &["port 12345", "v1.1234.5x"]),
    (
        "registry_credentials: |\n  {\"username\": \"alice\", \"password\": \"canary-block\"}\n",
        &["alice", "{", "\"username\": \"alice\""],
    ),
    ("secrets: {db: {username: alice, host: db-host, password: canary}}", &["alice", "db-host"]),
    (
        "env: [{name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db-secret, key: password}}}]",
        &["db-secret", "the password is wrong"],
    ),
    ("note: The API key kube-apiserver uses, and the token etcd-client", &["kube-apiserver", "etcd-client"]),
    ("tasks: [{name: Copy the key kube-ca, debug: {msg: 'token: kube-system'}}]", &["kube-ca"]),
    ("vars_prompt: [{name: Set the password, default: worker-pool}]", &["worker-pool"]),
    ("image_pull_secrets: [{name: regcred}]", &["regcred"]),
    ("tolerations: [{key: dedicated, operator: Equal, value: ingress}]", &["dedicated", "ingress"]),
    ("command: openssl x509 -key server.key -out cert.pem --cacert ca.pem", &["server.key", "cert.pem", "ca.pem"]),
    ("command: login --password-file /run/x --ask-pass site.yml", &["/run/x", "site.yml"]),
    ("note: 'Set the password: see the vault of the team'", &["see the vault", "team"]),
    ("command: login --password=$DB_PASSWORD --token `cat token`", &["DB_PASSWORD", "cat token"]),
    ("hook: 'https://example.test/hook?token=canary-url&x=y'", &["&x=y"]),
    ("registry_secret: {user: somebody, enabled: true}", &["somebody"]),
    ("args: '-o PreferredAuthentications=publickey'", &["Permission denied (publickey)"]),
    ("secrets: {user: somebody, db: canary-1}", &["somebody"]),
    ("note: |\n  Password reset\n  Token renewal\n", &["reset", "renewal"]),
    ("x: '{password=canary-1, user=alice}'\ny: '{user bob, host db-1}'", &["alice", "db-1"]),
    ("msg: 'api_key: invalid format'", &["invalid format", "api_key: invalid format"]),
    ("msg: 'The password: it has expired'", &["The password: it has expired"]),
    ("msg: 'token: expired since yesterday, ask admin'", &["expired since yesterday", "ask admin"]),
    ("x: '{valueFrom: {secretKeyRef: {name: db-secret, key: db-pass-1}}}'", &["db-secret", "db-pass-1"]),
    ("note: the net user group-1, and vault login required", &["group-1", "required"]),
    ("command: echo kube-x | sudo tee /etc/x-1", &["kube-x", "/etc/x-1"]),
    (
        "py: 'x = f\"token={api_token}\"'\nb: '${HOME_DIR:-kube-y} ${TOKEN_FILE:-kube-z}'",
        &["api_token", "kube-y", "kube-z"],
    ),
    ("command: docker run -u x --name mongo -p 27017:27018 mongo", &["27017:27018", "27017"]),
    ("command: vault login -method=userpass username=alice-1", &["alice-1"]),
    (
        "{jwt_issuer: https://sso.example.test, cookie_domain: kube-x, pattern: kube-y}",
        &["https://sso.example.test", "kube-x", "kube-y"],
    ),
    // Words of a Kubernetes installer.
    ("sealed_secrets: {namespace: kube-system}", &["kube-system"]),
    ("external_secrets: {chart_version: v0.9.11, namespace: x-sec}", &["v0.9.11", "x-sec"]),
    ("roles: [secrets-operator, ingress-nginx]", &["ingress-nginx"]),
    ("packages: [python3-keyring, python3-kubernetes]", &["python3-kubernetes"]),
    ("hosts: [key-servers, web-servers]", &["web-servers"]),
    ("files: [server.key, server.crt]", &["server.crt"]),
    ("image: ghcr.io/external-secrets/external-secrets:v0.9.11", &["v0.9.11"]),
    ("image: ghcr.io/external-secrets/external-secrets:kube-x", &["kube-x"]),
    (
        "conf: |\n  HostKeyAlgorithms ssh-ed25519\n  AuthorizedKeysFile .ssh/authorized_keys\n",
        &["ssh-ed25519", ".ssh/authorized_keys"],
    ),
    ("script: |\n  ssh-keyscan host-1.example.org\n  passwd user-1\n", &["host-1.example.org", "user-1"]),
    ("script: |\n  apt-key list-all\n  password -verbose\n", &["list-all", "-verbose"]),
    ("command: find /var/lib/mysql -print", &["print", "rint"]),
    ("command: docker run --name mysql -p3306:3306 mysql", &["3306:3306", "3306"]),
    ("command: docker run --env A=b --name mysql -p3306:3306 mysql", &["3306:3306", "3306"]),
    ("command: echo kubernetes | cat; getent passwd", &["kubernetes"]),
    ("command: docker run --user root:docker x", &["docker", "root:docker"]),
    ("command: docker run --rm --name x -u root:docker x", &["docker", "root:docker"]),
    ("script: |\n  expect \"login:\"\n  send \"operator-1\\r\"\n", &["operator-1"]),
    ("csv: |\n  name,password_file\n  kube-a,kube-b\n", &["kube-a", "kube-b"]),
    ("csv: |\n  user,password\n  kube-user,canary-1\n", &["kube-user"]),
    ("tokenizer: {type: kube-word}", &["kube-word"]),
    ("secretengine: {kind: kv-v2}", &["kv-v2"]),
    ("topskills: kube-x", &["kube-x"]),
    ("backupskip: kube-x", &["kube-x"]),
    (
        "{sort_key: created-at, primary_key: kube_id, foreign_key: nodeId, partition_key: region}",
        &["created-at", "kube_id", "nodeId", "region"],
    ),
    (
        "{keyserver: keys.example.org, keyspace: kube-x1, keymap: kube-y, tokenizer: kube-z}",
        &["keys.example.org", "kube-x1", "kube-y", "kube-z"],
    ),
    // Lines that any file has.
    (
        "secret_manifest: |\n  apiVersion: v1\n  kind: Secret\n  metadata:\n    name: db\n  data:\n    a: Y2FuYXJ5LWRhdGE=\n",
        &["apiVersion: v1", "kind: Secret", "metadata:", "name: db", "client-key-data: x"],
    ),
    (
        "aws_credentials: |\n  [default]\n  region = eu-central-1\n  aws_secret_access_key = canary-1\n",
        &["[default]", "region = eu-central-1"],
    ),
    (
        "grafana_auth: |\n  enabled: true\n  org_role: Viewer\n  admin_password: canary-1\n",
        &["enabled: true", "Viewer"],
    ),
    ("password: 'pre{{ part }}post'\npart: visible-1", &["visible-1"]),
    (
        "ssh_keys: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIcanary bob@laptop]",
        &["bob@laptop", "AAAAC3NzaC1lZDI1NTE5AAAAIcanary"],
    ),
    (
        "ssh_keys: ['no-pty,from=\"10.0.0.0/8,*.x.example\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIcanary bob@laptop']",
        &["bob@laptop", "AAAAC3NzaC1lZDI1NTE5AAAAIcanary"],
    ),
    ("command: docker login --username u --password-stdin r.example.test", &["r.example.test"]),
    ("command: [docker, login, --password-stdin, r.example.test]", &["r.example.test"]),
    ("command: run --no-password host.example.test --skip-token host-2", &["host.example.test", "host-2"]),
    ("command: kubeadm join h --discovery-token-ca-cert-hash sha256:0a1b2c3d", &["sha256:0a1b2c3d"]),
    ("argv: [kubeadm, join, --discovery-token-ca-cert-hash, 'sha256:0a1b2c3d']", &["sha256:0a1b2c3d"]),
    ("command: kubeadm join --discovery-token-unsafe-skip-ca-verification 10.0.0.1:6443", &["10.0.0.1:6443"]),
    ("command: apt install --allow-unauthenticated containerd.io=1.7.24-1", &["containerd.io=1.7.24-1"]),
    ("command: docker build --secret id=npm1 x", &["id=npm1", "npm1"]),
    ("command: x --api-key API_KEY --prompt-token 10.0.0.1 --no-secret ../x1", &["API_KEY", "10.0.0.1", "../x1"]),
    ("command: ssh --private-key=~/.ssh/id_rsa --key ~/.kube/x", &["~/.ssh/id_rsa", "~/.kube/x"]),
    ("password: >-\n  canary-1\n  canary-2\n# A comment\nb: c", &["# A comment"]),
    ("ubuntu_repo_gpgkey: '{{ repo }}/docker-ce/gpg'", &["/docker-ce/gpg"]),
    ("kube_authorization_config_authorizers: [{type: Webhook, failurePolicy: Deny, expression: has-x1}]", &["has-x1"]),
    (
        "{secretName: ingress-tls1, ca-secret-name: hubble-ca1, secrets_encryption_query: res-1}",
        &["ingress-tls1", "hubble-ca1", "res-1"],
    ),
    ("tolerations: [{key: CriticalAddonsOnly}]\nx: {key: tls.key}", &["CriticalAddonsOnly", "tls.key"]),
    (
        "a: {password: \"required\\n\"}\npassword: |\n  unchanged\nkey: |\n  tls.key\n",
        &["required", "unchanged", "tls.key"],
    ),
    ("a: {key: ca.crt}\nb: {key: db-password}\nc: {key: cert}", &["ca.crt", "db-password", "cert"]),
    ("password: canary-1 horse battery staple purple monkey dishwasher to allow", &["to allow", "monkey dishwasher"]),
    // The name beside a secret, and a sentence.
    ("command: aws configure set aws_secret_access_key canary-aws1", &["aws_secret_access_key"]),
    (
        "aws_credentials: |\n  [default]\n  aws_secret_access_key = canary-aws\n",
        &["aws_secret_access_key", "[default]"],
    ),
    ("ps: '$pw = ConvertTo-SecureString \"canary-ps\" -AsPlainText'", &["ConvertTo-SecureString"]),
    ("headers: {Cookie: 'theme=dark; sessionid=canary-cookie'}", &["dark"]),
    ("command: apt install python3-keyring python3-pip1", &["python3-pip1"]),
    ("note: 'the api_token node-pool of the kube_token master-a'", &["node-pool", "master-a"]),
    ("argv: [ls, -p, /srv/x1]\nhosts: [a-1, b-2]", &["/srv/x1", "a-1", "b-2"]),
    ("image: registry.example.test/team/password:canary-tag", &["canary-tag"]),
    ("times: 12:30:45 10:11:12", &["12:30:45"]),
    ("mac: '52:54:00:12:34:56'", &["09:34:56", "52:54:00:12:34:56"]),
    ("macs: ['00:16:3e:aa:bb:cc', '00:16:3E:AA:BB:CC']", &["aa:bb:cc", "bb:cc", "AA:BB:CC"]),
    ("ip: 'fd00:10:96:1:2:3:4:5'\nrange: 'fd00:10:96:1:2::/112'", &["2:3:4:5", "3:4:5", "2::/112", "::/112"]),
    ("ips: 'fd00:10:96:1:2:3:4:5,10.0.0.1'", &["2:3:4:5", "4:5,10.0.0.1"]),
    ("command: aws ssm put-parameter --name /a --value kube-1 --type String", &["kube-1"]),
    ("command: snmpget -v2c -c public kube-1", &["public", "kube-1"]),
    ("command: snmpd -Lo -c conf/snmpd-2.conf", &["conf/snmpd-2.conf"]),
    ("command: date -u '+%H:%M %S'", &["%M %S"]),
    (
        "note: helm registry login works, vault operator unseal is next, and rootpw is set",
        &["works", "is next", "is set"],
    ),
    ("command: docker build --build-arg \"a b\" --pull --tag \"kube-x\" .", &["kube-x", "a b"]),
    ("additional_sysctl: [{name: kernel.keys.maxbytes, value: 25000000}]", &["25000000"]),
    (
        "docker_repo_key_info: {url: https://x.example.test/gpg, repo_keys: [9DC858229FC7DD38854AE2D88D81803C0EBFCD88]}",
        &["https://x.example.test/gpg", "9DC858229FC7DD38854AE2D88D81803C0EBFCD88"],
    ),
    (
        "x: [{id: web-1, value: visible-1}, {label: Region, value: eu-1}, {title: Set the password, content: page-1}]",
        &["visible-1", "eu-1", "page-1"],
    ),
    (
        "properties: {a: {type: password, title: kube-a}, b: {type: string, default: kube-b}, c: {sensitive: false, value: kube-c}}",
        &["kube-a", "kube-b", "kube-c"],
    ),
    (
        "auth: {users: {alice: admin-1}, groups: [ops-1]}\nbasic: {users: {alice: admin-2}}",
        &["alice", "admin-1", "ops-1", "admin-2"],
    ),
    ("basic_auth: {users: [alice-1, bob-1]}", &["alice-1", "bob-1"]),
    (
        "snmp_community: public\ncommunity: {pin: web-17}\ngpio_pin: 1718\ncommunity_general: 8.1.0",
        &["public", "web-17", "1718", "8.1.0"],
    ),
    (
        "version_pin: 1.27.3\nhsm_pinned: node-1\nspinner: dots-1\nsnmp_port: 16100",
        &["1.27.3", "node-1", "dots-1", "16100"],
    ),
    ("xml: '<a><user>bob&amp;co</user></a>'", &["bob&co"]),
    ("command: ssh-keygen -p -f /srv/x1/key -N ''\nshell: echo hello-1 | tee /srv/x1", &["/srv/x1/key", "hello-1"]),
    (
        "shell: echo 'select one-1' | kubectl exec --stdin db -- psql\nb: echo 'hello-1 you' | kubectl apply -f /dev/stdin",
        &["select one-1", "hello-1 you"],
    ),
    (
        "shell: echo hello-1 | docker load\nargv: [docker, run, -u, bob-1, -p, '8080:80']",
        &["hello-1", "bob-1", "8080:80"],
    ),
    (
        "argv: [journalctl, -u, kubelet, -p, warning]\nargs: [-u, web-1, -p, '10250']",
        &["kubelet", "warning", "web-1", "10250"],
    ),
    ("command: sqlplus -s bob-1/canary-1@db-1 @x-1.sql", &["bob-1", "db-1", "x-1.sql"]),
    ("command: racadm -r h-1 -u root-1 -p canary-1 getsysinfo-1", &["h-1", "root-1", "getsysinfo-1"]),
    ("command: radtest bob-1 canary-1 host-1 0 canary-2", &["bob-1", "host-1"]),
    ("command: govc about -u bob-1:canary-1@vc.example.test", &["bob-1", "vc.example.test"]),
    (
        "env: [{name: SNMP_COMMUNITY, value: public}, {name: gpg_key, value: 'https://x.example.test/gpg'}]\nx: |\n  rocommunity public 10.0.0.0/8\n",
        &["public", "https://x.example.test/gpg"],
    ),
    ("imagePullSecrets: [{name: regcred-1}, regcred-2]", &["regcred-1", "regcred-2"]),
    ("{KEY_PREFIX: kube-p, key_prefix: 'kube:', secret_engine: kv-v2}", &["kube-p", "kube:", "kv-v2"]),
];

/// Variables, a line of a log, and what is shown of it. `*` is a secret.
const LINES: &[(&str, &str, &str)] = &[
    // A known value is the name of another one, or a part of its value.
    ("a_password: password", "password: made-1234", "*: *"),
    ("a_password: password", "login --password=made-1234 x", "login --*=* x"),
    ("a_token: hunter22", "password=a-hunter22-b c", "password=* c"),
    ("a_token: hunter22", "https://me:x-hunter22@host", "https://*@host"),
    // What programs say about a secret, and names that point at one.
    ("", "password: required", "password: required"),
    ("", "passwd: password unchanged", "passwd: password unchanged"),
    ("", "passwd: password updated successfully", "passwd: password updated successfully"),
    ("", "token: expired", "token: expired"),
    ("", "auth: enabled", "auth: enabled"),
    ("", "api_key: invalid format", "api_key: invalid format"),
    (
        "db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6231\n",
        "db_password: Attempting to decrypt but no vault secrets found",
        "db_password: Attempting to decrypt but no vault secrets found",
    ),
    ("", "password: correct horse battery", "password: *"),
    ("", "passphrase: the cat sat on it", "passphrase: *"),
    ("", "passwd: correct horse battery staple", "passwd: *"),
    ("", "pass: hunter22", "pass: *"),
    // The cause of an error, and a title in which the secret is hidden already.
    ("", "KeyError: 'ansible_default_ipv4'", "KeyError: 'ansible_default_ipv4'"),
    ("", "AuthenticationError: password=hunter22 is wrong", "AuthenticationError: password=* is wrong"),
    ("", "passwd: Authentication token manipulation error", "passwd: Authentication token manipulation error"),
    ("a_password: x7!q", "chpasswd: line 1: user 'x7!q' does not exist", "chpasswd: line 1: user '*' does not exist"),
    ("", "export PGPASSWORD=(hidden) ended with exit code 2.", "export PGPASSWORD=(hidden) ended with exit code 2."),
    ("", "token: hunter", "token: *"),
    ("", "db_password: it is now hunter", "db_password: *"),
    ("", r#"{"password": "must not be empty"}"#, r#"{"password": "*"}"#),
    ("", "max_tokens: 4096", "max_tokens: 4096"),
    ("", "token_ttl: 3600", "token_ttl: 3600"),
    ("", "password_policy: strong", "password_policy: strong"),
    ("", "secretary: alice", "secretary: alice"),
    ("", "public_key: AAAAB3x", "public_key: AAAAB3x"),
    ("", r#"- key: "node-role.kubernetes.io/control-plane""#, r#"- key: "node-role.kubernetes.io/control-plane""#),
    ("", "- key: CriticalAddonsOnly", "- key: CriticalAddonsOnly"),
    ("", "key: password", "key: password"),
    ("", "Key: 192.168.1.1", "Key: 192.168.1.1"),
    ("", "key=value", "key=value"),
    ("", "join --discovery-token-ca-cert-hash=sha256:0a1b", "join --discovery-token-ca-cert-hash=sha256:0a1b"),
    ("", "key: my-secret-token", "key: *"),
    ("", "password: ~/made-1234", "password: *"),
    ("", "key: ab12cd34", "key: *"),
    ("", "secretName: ingress-tls", "secretName: ingress-tls"),
    ("", r#""secretName": "ingress-tls""#, r#""secretName": "ingress-tls""#),
    ("", "password=$6$salt$made/1234. x", "password=* x"),
    ("", "x --k3s-extra-args \"--token made-1234\" -v", "x --k3s-extra-args \"--token *\" -v"),
    ("", "token is valid, the secret default/db was created", "token is valid, the secret default/db was created"),
    ("", "recovery_codes: made-1234", "recovery_codes: *"),
    ("", "password=$PASSWORD$x x", "password=$PASSWORD$x x"),
    // The second line of a text within JSON.
    ("", r#"{"stdout": "a\neyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln\nb"}"#, r#"{"stdout": "a\n*\nb"}"#),
    ("", r#"{"stdout": "a\nabcdef.0123456789abcdef\nb"}"#, r#"{"stdout": "a\n*\nb"}"#),
];

/// Tokens of services, each with the form that it has, and texts that only begin like one.
const TOKENS: &[&str] = &[
    "ghp_Can4ryCan4ryCan4ryCan4ryCan4ryCan4ry",
    "gho_Can4ryCan4ryCan4ryCan4ryCan4ryCan4ry",
    "ghs_Can4ryCan4ryCan4ryCan4ryCan4ryCan4ry",
    "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",
    "glpat-Can4ry_Can4ry-Can4ry",
    "xoxb-123456789012-Can4ryCan4ry",
    "hvs.CAESICan4ryCan4ryCan4ryCan4ry",
    "sk_live_Can4ryCan4ryCan4ryCan4ry",
    "npm_Can4ryCan4ryCan4ryCan4ryCan4ryCan4ry",
    "AIzaSyCan4ryCan4ryCan4ryCan4ryCan4ryCan",
    "pypi-AgEIcHlwaS5vcmcCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ry",
    "AGE-SECRET-KEY-1CAN4RYCAN4RYCAN4RYCAN4RYCAN4RYCAN4RYCAN4RYCAN4RYCAN4RYCAN4",
    "SG.Can4ryCan4ryCan4ryCan4.Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryC",
    "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];
/// Secrets without a name, and the hashes of passwords.
const FORMS: &[&str] = &[
    "123456789:AAHdCan4ryCan4ryCan4ryCan4ryCan4ry4",
    "$2y$10$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4r",
    "$$2a$$05$$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4r",
    "$1$salt$Can4ryCan4ryCan4ry4ry4",
    "$apr1$salt$Can4ryCan4ryCan4ry4ry4",
    "$5$rounds=5000$salt$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryC",
    "$6$salt$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryC/",
    "$y$j9T$salt./$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryC",
    "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$Can4ryCan4ryCan4ryCan4ry",
];
const NO_FORMS: &[&str] = &[
    "cost $2.50 at 10:15, x$1$2, ${HOME}, $6$salt$short, $2y$10$short, 12345678:Alpine, 12345678:AAlpine, /hooks/pre-commit /hooks/post-install-job-of-the-chart",
    "image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];
const NO_TOKENS: &[&str] = &[
    "ghp_token npm_config_registry=x sk_live_mode glpat-runner gldt-x",
    "github_pat_variable xoxb-token-of-the-bot xoxb-slack-integration-bot-token",
    "pypi-AgentOfSomething AIzaBrowser hvs.example.org SG.example.com/x dop_v1_beta AGE-SECRET-KEY-1",
    "https://api.telegram.org/bot https://hooks.slack.com/services/ https://discord.com/api/webhooks/1",
];

fn shown(variables: &str, said: &str, names: &[String]) -> String {
    let run = MaskedRun { variables, token: "no-token", names, ..MaskedRun::default() };
    Masker::of_run(&run).value(said.to_owned())
}

#[test]
fn no_secret_of_any_form_is_shown() {
    assert!(SECRETS.len() >= 60);
    for (variables, secrets) in SECRETS {
        for secret in *secrets {
            // A log prints it alone, and within JSON.
            for said in [format!("it is {secret} here"), format!("{{\"msg\": \"{secret}\"}}")] {
                let shown = shown(variables, &said, &[]);
                assert!(shown.contains(MASK) && !shown.contains(secret), "{variables}\n{shown}");
            }
        }
        let page = hide_in_document(variables);
        assert!(!page.contains("canary-") && !page.contains("Y2FuYXJ5"), "{variables}\n{page}");
    }
}

#[test]
fn other_words_stay_readable() {
    for (variables, words) in READABLE {
        for word in *words {
            let said = format!("it is {word} here");
            assert_eq!(shown(variables, &said, &[]), said, "{variables}");
        }
    }
}

#[test]
fn composed_passwords_of_many_hosts_are_found() {
    let hosts: String = (10..60).map(|n| format!("h{n}: {{base: canary-{n}, pin: pin-{n}}}\n")).collect();
    let variables = format!("a_password: '{{{{ base }}}}-{{{{ pin }}}}'\nb_password: 'x-{{{{ pin }}}}'\n{hosts}");
    for n in 10..60 {
        let said = format!("a canary-{n}-pin-{n} b x-pin-{n} c");
        assert_eq!(shown(&variables, &said, &[]), format!("a {MASK} b {MASK} c"));
    }
}

#[test]
fn names_that_contain_a_password_stay() {
    let names = ["web-1", "web-10", "db7"].map(str::to_owned);
    for (variables, said) in [
        ("password: web-1", "fatal: [web-1]: web-10 is down"),
        ("password: db7", "db7 | db7.example.test"),
        ("password: web-", "web-10"),
    ] {
        assert_eq!(shown(variables, said, &names), said);
    }
    assert_eq!(shown("password: web-1", "login web-1x", &names), format!("login {MASK}x"));
}

#[test]
fn lines_of_a_log_show_no_secret() {
    for (variables, said, wanted) in LINES {
        assert_eq!(shown(variables, said, &[]), wanted.replace('*', MASK), "{variables}");
    }
}

#[test]
fn hashes_and_tokens_without_a_name_are_hidden_everywhere() {
    for secret in FORMS {
        assert_eq!(shown("", &format!("root:{secret}:19000:0:"), &[]), format!("root:{MASK}:19000:0:"), "{secret}");
        assert_eq!(
            shown("", &format!(r#"{{"stdout": "a\n{secret}\nb"}}"#), &[]),
            format!(r#"{{"stdout": "a\n{MASK}\nb"}}"#)
        );
        for shown in [hide_in_document(&format!("x: '{secret}'\n")), hide_in_script(&format!("x '{secret}'\n"))] {
            assert!(shown.ends_with("'(hidden)'\n"), "{shown}");
        }
    }
    let hook = "https://chat.example.test/hooks/";
    assert_eq!(shown("", &format!("POST {hook}xy8adwiyd3fp8jt4xrgcuq4n5h ok"), &[]), format!("POST {hook}{MASK} ok"));
    for text in NO_FORMS {
        assert_eq!(shown("", text, &[]), *text);
    }
}

#[test]
fn tokens_of_services_are_recognised_by_their_form() {
    for token in TOKENS {
        for (before, after) in [("it is ", " here"), ("x=", "\n"), (r#"{"stdout": "a\n"#, r#"\nb"}"#)] {
            assert_eq!(shown("", &format!("{before}{token}{after}"), &[]), format!("{before}{MASK}{after}"), "{token}");
        }
    }
    for url in
        ["https://api.telegram.org/bot", "https://hooks.slack.com/services/", "https://x.webhook.office.com/webhookb2/"]
    {
        assert_eq!(shown("", &format!("GET {url}12345678:Can4ryCan4ry?x=y"), &[]), format!("GET {url}{MASK}?x=y"));
    }
    for text in NO_TOKENS {
        assert_eq!(shown("", text, &[]), *text);
    }
}
