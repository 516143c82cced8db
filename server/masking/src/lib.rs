//! Which names and values are secret, and how they are hidden. Run logs, statuses, Events, the console's pages and the
//! summaries of changes all use this one rule. A caller only says what kind of text it has:
//!
//! | the caller has | it uses | a secret becomes |
//! |---|---|---|
//! | lines or messages of a run | [`Masker`], made from the run's inputs and token | [`MASK`], or [`UNKNOWN_INPUTS`] for a whole line |
//! | an inventory or a variables file that a page shows | [`hide_in_document`] | [`HIDDEN`] |
//! | a command or a script that a page shows | [`hide_in_arguments`], [`hide_in_script`] | [`HIDDEN`] |
//! | one variable that a summary mentions | [`is_secret`] | whatever the caller writes instead |
//! | what a run gets besides its inputs | [`secrets_of_run`] | |
//! | the page on which users write secrets | [`hints`], [`hint`] | |
//!
//! `deploy/runner/kubeonkube_masking.py` masks the output of a run in its pod by the same rule, which it reads from [`rule`].
//!
//! # Which names are secret
//!
//! A name is split into words at `_`, `-`, `.` and between a lower-case and an upper-case letter; otherwise case doesn't
//! matter. It is secret if a word
//! - contains `pass`, `pwd`, `kennwort`, `secret`, `token`, `credential`, `creds` or `key`, begins or ends with `psk` or `senha`, or ends with `pw`, so
//!   `dbpassword` and `apiKey` are found. Ordinary words such as `bypass`, `keyserver` or `secretary` don't count, but what follows
//!   them in the same word does: `bypasspassword`. Nor do `key` and `keys` after `public` or `authorized`, at the end of a name or
//!   before a word such as `pem`;
//! - contains `auth`, such as `oauth2`, except words such as `author`, `authority` and `authorizers`, and `authorized` before
//!   `keys`. `authorization` and `authentication` don't count in a setting: a name that ends with `mode`, `timeout`, `webhook`,
//!   `config` or the like; or
//! - contains `cert`, except `cert` before `manager`.
//!
//! Also secret are names that end with the word `bearer`, `jwt`, `preshared` or `totp`, and those that end with `cookie` or `pat` after
//! another word than `set`: `session_cookie`, `github_pat`. `community` and `pin` do after words such as `snmp` and `hsm`: `snmp_community`,
//! `user_pin`, `hsm: {pin: …}`. So are `pat` alone and names that end with `otp_seed`, `recovery_codes` or
//! `JFrog-Art-Api`.
//!
//! A name is never secret if it ends with an underscore and a word that says that the value only points at a secret or describes
//! it: `…_file`, `…_path`, `…_user`, `…_port`, `…_type`, `…_ttl`, `…_policy`, `…_length`, `…_enabled` and so on. With `name`, `namespace`,
//! `file`, `path` and `provider`, any spelling counts: `secretName`. `tokens`, `keys` and `secrets` right after `max`, `min` or `num`, as in
//! `max_tokens`, are a number. Three endings aren't among them: `…_url`, because anyone with the URL of a webhook may call it,
//! `…_query`, which has the signature of a URL, and `…_users`, because basic authentication lists logins under such names.
//! `…_repo_key_info`, settings of the kernel such as `kernel.keys.maxbytes`, `secrets_encryption_query` and
//! `supplementary_addresses_in_ssl_keys` of kubespray, and `--discovery-token-ca-cert-hash` of kubeadm, are no secrets.
//!
//! **In the log of a run**, `auth` and `cert` count only in the last word or before a word such as `data`, `header` or `pem`
//! that says that the value is the secret itself. Otherwise `auth_url` and `cert_management` would mask common words in every
//! line.
//!
//! # Which values are harmless under a secret name
//!
//! The communities `public` and `private` of SNMP,
//! switches and empty values (`true`, `no`, `null`, `{}`, `""`, …), the path of a file on a Linux machine, what a program says
//! about a secret (`required`, `password unchanged`), and public keys of SSH (not with options that may have a secret, such as
//! `environment="…"`). As a `key` or `topologyKey`, also the name of a
//! label with its prefix (`node-role.kubernetes.io/control-plane`), of an entry (`tls.key`, `password`, `db-password`) or an
//! IPv4 address. Under `sort_key`, `primary_key`, `foreign_key`, `partition_key` and `key_prefix` also ordinary words, which
//! are names of fields there.
//! - Certificates (PEM), and the ARN of a resource of AWS, under any name.
//! - The name of an object, such as `db-login`, under `existing_secret`, `pull_secrets`, `tls_secret` and `key_pair`; under the name of a
//!   certificate only with a namespace: `ingress/default-tls`.
//! - A URL without a login, a query or a part that may be a token, and the fingerprint of a key, under names such as `gpg_key`, `repo_key` and
//!   `key_url`; the URL also under `key`. The ID of a cloud's key under `kms_key_id`.
//! - In a document also the name of a label that is the `key` of a toleration or a selector, and lists and certificates of harmless
//!   values below a secret name.
//!
//! # Which values are secret under any name
//!
//! - Vault: what follows `!vault` or starts with `$ANSIBLE_VAULT`.
//! - A login in a URL: everything before the `@` in `https://user:password@host` (or `http`), because tokens are written as
//!   the user too; the password in a URL with another scheme, and its user if the password is empty. A user alone, such as in
//!   `ssh://user@host`, is no secret.
//! - A private key (PEM), over all its lines.
//! - A kubeadm bootstrap token, and the key after `--certificate-key`.
//! - A token that is recognised by its start and its length, such as those of GitHub (`ghp_…`), GitLab, Slack, Vault, Stripe, npm,
//!   Google, PyPI, age, SendGrid and DigitalOcean; and the end of a URL of a bot or a webhook (Telegram, Slack, Discord, Outlook,
//!   Teams).
//! - The hash of a password (`$2y$…`, `$6$…`, `$y$…`, `$argon2id$…` and others of `crypt`), also if each `$` is doubled or escaped. The token of
//!   a bot of Telegram, and what follows `/hooks/` in the URL of a webhook of Mattermost or Rocket.Chat.
//! - In the log of a run: the run's own token.
//! - In the log of a run and in a command: a value beside a secret name (`password=…`, `"api_token": "…"`, `--token …`) and
//!   a JSON Web Token. Not a word after a flag, nor what follows flags without a secret: `--password-stdin`, `--skip-token`.
//!   Nor a sentence after a name and a colon that consists of words of messages: `db_password: must not be empty`. A text with another
//!   word, or without one such as `not` or `has`, may be a passphrase and is hidden. After the name of a program (`passwd`, `apt-key`, `pass`),
//!   several words are a message if they have a phrase such as `command not found`; if no variable has such a name, also with a word such as
//!   `failed`. They are plain: letters, paths, flags, and numbers that they count. So is what an exception says (`InvalidTokenError: …`), and all
//!   that `KeyError` says. So are the results of tests: `PASS: 5, FAIL: 0`. What a page or a title has hidden already stays as it is:
//!   `password=(hidden)`.
//!   The name counts also where it is itself a known secret, such as the password `password`. In a log also base64 of at least
//!   60 characters, which may be part of a private key.
//! - In a summary: a URL with an `@` anywhere in the value.
//!
//! # How much of a value is hidden
//!
//! - **A document** is hidden generously, because nothing in it is needed to follow a run: the rest of the line (in an
//!   inline map that includes the entries after it), the lines of a block and everything indented below the name, every
//!   value that an alias refers to, and comments that mention a password.
//! - **A log** is searched for the values that the run's inputs hold under secret names, as ansible gets them from YAML: whole
//!   scalars, each line of a value (if it has at least 4 characters, and 8 if it is a word), items of a list, the value behind an
//!   alias, and the number that ansible reads. A value is searched for as it is, as JSON, Python, YAML, shells and URLs quote it,
//!   and in base64; also the text that it encodes. Quotes within quotes are left out after 8 MiB of such forms. It isn't searched
//!   for if it is shorter than 4 characters (half of every log would be masked), a template (`{{ … }}`) or vault's cipher text.
//! - **A map** under a name such as `secrets` or `grafana_password` holds secrets: all its values count, except for names of
//!   users, settings such as `namespace`, `version` or `type` and, beside an entry with a secret name, entries that describe one, such
//!   as `host`. Applications have such names, too: `sealed_secrets`. In `passwords` and `tokens`, `user` is an account like the others.
//!   Of other maps only the named values count, so that a map called `registry_auth` doesn't mask its user's name everywhere. In
//!   `{type: password, default: …}` and `{sensitive: true, value: …}` the value is secret under any name, and so are the entries of `users` in
//!   `basic_auth`. In `{name: DB_PASSWORD, value: …}` the value belongs to that name, and so it does in `[DB_PASSWORD, …]`, but not in a list of
//!   packages such as `[python3-keyring, …]`.
//! - **A document under a secret name**, such as a manifest or an INI file, is searched by its entries and lines. A line without a
//!   secret stays readable: `kind: Secret`, `data:` above its entries, `[default]`, and beside a line with a secret name `region = …`.
//! - **Texts within values** are searched by name: JSON and YAML, `key=value`, `--flag=value`, `--flag value`, query strings,
//!   headers, cookies, XML, lines of configurations, assignments of programming languages (`$x['password'] = …`), and notations of
//!   single programs. In a text of one line, a sentence after a name is none, as in a log. A text that YAML reads as a map of names without values is searched in all these notations, too:
//!   `{password=…}`. A list of words is searched as the command that it may be. A name and a value with only a space between are
//!   found at the start of a line, or if the name has several words (`aws_secret_access_key …`), or if the value is quoted and ends a
//!   statement (`secret "…";`): anything else may be a sentence.
//! - **A template** of a secret is searched for with the values of its variables: `pre{{ part }}post`. Values of
//!   one map, such as that of a host, are tried first. At most 4096 values of a variable and 4096 results of a template are tried, and
//!   1024 more with values of several maps. All that is filled in has at most 2 MiB.
//! - **A value that YAML folds** at spaces or writes in several lines is searched for by these lines, too.
//! - **A value that is a word or a number** is hidden only where it stands alone, and the names of hosts and groups always stay.
//!   [`hints`] says which values that affects.
//! - **A summary** mentions the variable without its values, also if the value is a map or a string that contains a secret.

mod arguments;
mod assigned;
mod assignment;
mod colours;
mod composed;
mod document;
mod finder;
mod forms;
mod hints;
mod in_text;
mod known;
mod masker;
mod message;
mod name;
mod number;
mod of_run;
mod parts;
mod pattern;
mod private_key;
mod prose;
mod reference;
mod rule;
mod scalar;
mod shapes;
mod table;
mod value;
mod variable;
mod variants;
mod words;
mod yaml;

pub use arguments::{hide_in_arguments, hide_in_script};
pub use colours::{without_colours, without_escapes};
pub use document::{HIDDEN, hide_in_document};
pub use hints::{hint, hints};
pub use masker::{MASK, MaskedRun, Masker, UNKNOWN_INPUTS};
pub use of_run::{Sources, secrets_of_run};
pub use rule::rule;
pub use variable::is_secret;
pub use words::names_with;
