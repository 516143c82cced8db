//! The settings of `kubeonkube serve`, made from command line and environment and checked once.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use std::{env, fmt};

use api::operation::Image;
use http::Uri;

use crate::audit::AuditLog;
use crate::cli::{Isolate, LogFormat, OidcArgs, ServeArgs};

/// The default image of operations: ours, of the same version as this program.
const IMAGE: &str = concat!("ghcr.io/clay-wangzhi/kubeonkube-runner:v", env!("CARGO_PKG_VERSION"));

/// Valid settings.
#[derive(Debug, Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    pub public_url: Option<PublicUrl>,
    /// Where people sign in instead of pasting a token.
    pub oidc: Option<OidcSettings>,
    pub audit_log: Option<AuditLog>,
    /// A second port, which answers probes only.
    pub health_listen: Option<SocketAddr>,
    pub data_dir: PathBuf,
    pub kubernetes: Kubernetes,
    /// Where the form for a new cluster stores its inputs if no namespace is entered.
    pub clusters_namespace: Option<String>,
    /// The image of operations that name none.
    pub runner_image: Image,
    /// At least 1.
    pub max_running: usize,
    pub inputs_timeout: Duration,
    pub log_format: LogFormat,
    pub demo: bool,
    /// Whether a missing, empty or older database is no reason to refuse the start.
    pub start_empty: bool,
    pub isolation: Isolate,
    pub kube_listen: SocketAddr,
}

/// The OpenID Connect provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcSettings {
    pub issuer: String,
    pub client_id: String,
    pub client_secret_file: Option<PathBuf>,
    /// Empty: chosen from those that the provider lists.
    pub scopes: Vec<String>,
    /// The name that people read.
    pub name: String,
    pub ca_file: Option<PathBuf>,
}

/// Where the server runs, as far as it decides which Kubernetes API is used.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `KUBEONKUBE_MODE`.
    pub mode: Option<String>,
    /// Whether this is a pod with a service account.
    pub in_pod: bool,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        // The kubelet sets the variable in every pod. The file is missing if the pod's token isn't mounted.
        let has_api = env::var_os("KUBERNETES_SERVICE_HOST").is_some_and(|host| !host.is_empty());
        Self { mode: env::var("KUBEONKUBE_MODE").ok(), in_pod: has_api && Path::new(POD_TOKEN).is_file() }
    }
}

/// The token of a pod's service account:
/// <https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api>
const POD_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// Which Kubernetes API to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kubernetes {
    Standalone,
    Kubeconfig { file: PathBuf, context: Option<String> },
    InCluster,
}

/// Why the settings are invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    #[error(
        "--listen {0} can be reached from other machines, and the console uses plain http. Put a proxy with TLS in front of \
         it and set its address with --public-url https://…, or listen on 127.0.0.1."
    )]
    OpenWithoutTls(SocketAddr),
    #[error("--public-url {0:?} is not an address like https://kubeonkube.example.com: {1}.")]
    PublicUrl(String, &'static str),
    #[error(
        "--clusters-namespace {0:?} can't be a namespace. Use lower-case letters, digits and “-”, beginning and ending with a letter or \
         digit, at most 63 characters."
    )]
    Namespace(String),
    #[error("--runner-image {0:?} can't be an image. {1}")]
    RunnerImage(String, &'static str),
    #[error("--max-running must be at least 1: with 0, no operation could run.")]
    MaxRunning,
    #[error(
        "--listen and --health-listen are both {0}. The console answers probes there, too: remove --health-listen."
    )]
    SamePort(SocketAddr),
    #[error(
        "--{0} works in standalone mode only. Remove it, or remove --kubeconfig or --in-cluster. In a pod, standalone mode needs \
         --standalone."
    )]
    StandaloneOnly(&'static str),
    #[error(
        "--oidc-issuer works with a Kubernetes cluster only, because the API server checks the provider's tokens. In standalone mode \
         people sign in with one-time links: remove the flag, or use --kubeconfig or --in-cluster."
    )]
    OidcStandalone,
    #[error("--oidc-issuer {0:?} can't be a provider: {1}.")]
    OidcIssuer(String, &'static str),
    #[error("--oidc-issuer needs --{0}: {1}.")]
    OidcNeeds(&'static str, &'static str),
    #[error("--oidc-scopes must contain openid. Otherwise the provider returns no ID token.")]
    OidcScopes,
    #[error("--{0} {1}: no such file.")]
    NoOidcFile(&'static str, PathBuf),
    #[error("KUBEONKUBE_MODE must be “standalone” or “in-cluster”, not {0:?}.")]
    Mode(String),
    #[error("HOME is not set, so there is no default data directory. Name one with --data-dir.")]
    NoHome,
    #[error("--kubeconfig {0}: no such file.")]
    NoKubeconfig(PathBuf),
}

impl Settings {
    /// Checks the arguments. A flag takes precedence over `KUBEONKUBE_MODE`, and that over being in a pod.
    pub fn new(args: &ServeArgs, surroundings: &Surroundings) -> Result<Self, SettingsError> {
        let mode = surroundings.mode.as_deref().unwrap_or_default();
        let kubernetes = match (&args.kubeconfig, args.in_cluster, args.standalone, mode) {
            (Some(file), ..) => Kubernetes::Kubeconfig { file: file.clone(), context: args.context.clone() },
            (_, true, ..) | (_, _, false, "in-cluster") => Kubernetes::InCluster,
            (_, _, false, "") if surroundings.in_pod => Kubernetes::InCluster,
            (_, _, true, _) | (.., "" | "standalone") => Kubernetes::Standalone,
            (.., other) => return Err(SettingsError::Mode(other.to_owned())),
        };
        if let Kubernetes::Kubeconfig { file, .. } = &kubernetes
            && !file.is_file()
        {
            return Err(SettingsError::NoKubeconfig(file.clone()));
        }
        if args.demo && kubernetes != Kubernetes::Standalone {
            return Err(SettingsError::StandaloneOnly("demo"));
        }
        if args.start_empty && kubernetes != Kubernetes::Standalone {
            return Err(SettingsError::StandaloneOnly("start-empty"));
        }
        if args.health_listen.is_some_and(|health| health == args.listen && health.port() != 0) {
            return Err(SettingsError::SamePort(args.listen));
        }
        if let Some(name) =
            args.clusters_namespace.as_ref().filter(|name| !crd::DataRef::new(name.as_str(), "inputs").can_exist())
        {
            return Err(SettingsError::Namespace(name.clone()));
        }
        // An empty variable counts as none.
        let image = args.runner_image.as_deref().filter(|image| !image.is_empty()).unwrap_or(IMAGE);
        let runner_image: Image = image.parse().map_err(|why| SettingsError::RunnerImage(image.to_owned(), why))?;
        if args.max_running == 0 {
            return Err(SettingsError::MaxRunning);
        }
        let public_url = args.public_url.as_deref().map(str::parse::<PublicUrl>).transpose()?;
        if !args.listen.ip().is_loopback() && !public_url.as_ref().is_some_and(|url| url.https) {
            return Err(SettingsError::OpenWithoutTls(args.listen));
        }
        Ok(Self {
            listen: args.listen,
            oidc: oidc(&args.oidc, &kubernetes, public_url.as_ref())?,
            audit_log: audit_log(args.audit_log.as_deref()),
            public_url,
            health_listen: args.health_listen,
            data_dir: data_dir(args.data.data_dir.as_deref())?,
            kubernetes,
            clusters_namespace: args.clusters_namespace.clone(),
            runner_image,
            max_running: args.max_running,
            inputs_timeout: Duration::from_secs(args.inputs_timeout),
            log_format: args.log_format,
            demo: args.demo,
            start_empty: args.start_empty,
            isolation: args.isolation,
            kube_listen: args.kube_listen,
        })
    }
}

/// Where the audit log goes. An empty value counts as none.
fn audit_log(given: Option<&Path>) -> Option<AuditLog> {
    match given?.to_str() {
        Some("") => None,
        Some("-") => Some(AuditLog::Stdout),
        _ => given.map(|file| AuditLog::File(std::path::absolute(file).unwrap_or_else(|_| file.to_owned()))),
    }
}

/// The provider that the flags name. Empty values count as none.
fn oidc(
    args: &OidcArgs,
    kubernetes: &Kubernetes,
    public_url: Option<&PublicUrl>,
) -> Result<Option<OidcSettings>, SettingsError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let Some(issuer) = given(&args.oidc_issuer) else { return Ok(None) };
    if *kubernetes == Kubernetes::Standalone {
        return Err(SettingsError::OidcStandalone);
    }
    let refuse = |why| SettingsError::OidcIssuer(issuer.clone(), why);
    let uri: Uri = issuer.parse().map_err(|_| refuse("it can't be parsed as a URL"))?;
    let host = uri.host().unwrap_or_default();
    match uri.scheme_str() {
        Some("https") => {}
        Some("http") if is_loopback_name(host) => {}
        _ => return Err(refuse("it must start with https:// (or http:// on loopback)")),
    }
    if uri.query().is_some() {
        return Err(refuse("it must not have a query"));
    }
    if public_url.is_none() {
        return Err(SettingsError::OidcNeeds("public-url", "the provider sends people back to that address"));
    }
    let client_id = given(&args.oidc_client_id)
        .ok_or(SettingsError::OidcNeeds("oidc-client-id", "it is the name of this console at the provider"))?;
    let file = |flag, file: &Option<PathBuf>| match file.clone().filter(|file| !file.as_os_str().is_empty()) {
        Some(file) if !file.is_file() => Err(SettingsError::NoOidcFile(flag, file)),
        file => Ok(file),
    };
    let scopes: Vec<String> = args.oidc_scopes.iter().filter(|scope| !scope.is_empty()).cloned().collect();
    if !scopes.is_empty() && !scopes.iter().any(|scope| scope == "openid") {
        return Err(SettingsError::OidcScopes);
    }
    Ok(Some(OidcSettings {
        client_id,
        client_secret_file: file("oidc-client-secret-file", &args.oidc_client_secret_file)?,
        scopes,
        name: given(&args.oidc_name).unwrap_or_else(|| host.to_owned()),
        ca_file: file("oidc-ca-file", &args.oidc_ca_file)?,
        issuer,
    }))
}

/// A command for the shell of the server's user: `kubeonkube`, these arguments, and `--data-dir` unless `data` is the default.
pub(crate) fn command(arguments: &[&str], data: &Path) -> String {
    let data_dir = data.to_string_lossy();
    let is_default = self::data_dir(None).is_ok_and(|default| default == data);
    let more: &[&str] = if is_default { &[] } else { &["--data-dir", &data_dir] };
    let words: Vec<&str> = ["kubeonkube"].iter().chain(arguments).chain(more).copied().collect();
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// The data directory: `given` as an absolute path, or the default for the current user.
pub fn data_dir(given: Option<&Path>) -> Result<PathBuf, SettingsError> {
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let chosen = match given {
        Some(given) => given.to_owned(),
        None if rustix::process::geteuid().is_root() => "/var/lib/kubeonkube".into(),
        None => directory("XDG_STATE_HOME")
            .or_else(|| directory("HOME").map(|home| home.join(".local/state")))
            .ok_or(SettingsError::NoHome)?
            .join("kubeonkube"),
    };
    Ok(std::path::absolute(&chosen).unwrap_or(chosen))
}

/// The origin that people open: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    pub https: bool,
    /// Host, and port unless it is the scheme's default. In lower case, as browsers send it in `Host`.
    pub authority: String,
}

impl FromStr for PublicUrl {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let refuse = |why| SettingsError::PublicUrl(text.to_owned(), why);
        let uri: Uri = text.parse().map_err(|_| refuse("it can't be parsed as a URL"))?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refuse("it must start with https:// (or http:// on loopback)")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse("it must not contain a user name"));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(refuse("it must not have a path, because the console uses the root of its host"));
        }
        if !https && !is_loopback_name(authority.host()) {
            return Err(refuse(
                "plain http is allowed on loopback only, because others on the network could read the session",
            ));
        }
        Ok(Self { https, authority: without_default_port(authority.as_str(), https) })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.https { "https" } else { "http" }, self.authority)
    }
}

/// Browsers omit the scheme's default port in `Host` and `Origin`; a person may write it in --public-url.
pub(crate) fn without_default_port(authority: &str, https: bool) -> String {
    let authority = authority.to_ascii_lowercase();
    let default = if https { ":443" } else { ":80" };
    authority.strip_suffix(default).map(ToOwned::to_owned).unwrap_or(authority)
}

/// Whether the name always resolves to this machine, so that no other site can serve a page under it.
pub(crate) fn is_loopback_name(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => inside.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback()),
        None => host.eq_ignore_ascii_case("localhost") || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn settings(args: &[&str], mode: Option<&str>) -> Result<Settings, SettingsError> {
        settings_at(args, mode, false)
    }

    fn settings_at(args: &[&str], mode: Option<&str>, in_pod: bool) -> Result<Settings, SettingsError> {
        let cli = Cli::try_parse_from([&["kubeonkube"], args].concat()).expect("parses");
        Settings::new(&cli.serve, &Surroundings { mode: mode.map(Into::into), in_pod })
    }

    #[test]
    fn listening_beyond_loopback_needs_an_https_address() {
        let open = ["--listen", "0.0.0.0:7080"];
        assert!(matches!(settings(&open, None), Err(SettingsError::OpenWithoutTls(_))));
        let plain = [&open[..], &["--public-url", "http://127.0.0.1"]].concat();
        assert!(matches!(settings(&plain, None), Err(SettingsError::OpenWithoutTls(_))));
        let safe = [&open[..], &["--public-url", "https://Console.example.com:443/"]].concat();
        let url = settings(&safe, None).expect("safe").public_url.expect("given");
        assert_eq!(url.to_string(), "https://console.example.com");
    }

    #[test]
    fn an_invalid_public_url_is_refused_with_the_reason() {
        for (url, why) in [
            ("http://console.example.com", "loopback only"),
            ("https://a.example/console", "path"),
            ("ftp://a.example", "https://"),
            ("console.example.com", "https://"),
            ("https://me@a.example", "user name"),
            ("https://", "URL"),
        ] {
            let error = url.parse::<PublicUrl>().expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn in_a_pod_its_own_cluster_is_the_default() {
        let kubernetes = |args: &[&str], mode| settings_at(args, mode, true).map(|settings| settings.kubernetes);
        assert_eq!(kubernetes(&[], None), Ok(Kubernetes::InCluster));
        assert_eq!(kubernetes(&["--standalone"], None), Ok(Kubernetes::Standalone));
        assert_eq!(kubernetes(&[], Some("standalone")), Ok(Kubernetes::Standalone));
        assert_eq!(kubernetes(&["--demo"], None), Err(SettingsError::StandaloneOnly("demo")));
        assert!(kubernetes(&["--standalone", "--demo"], None).is_ok());
        let file = tempfile::NamedTempFile::new().expect("a file");
        let named = kubernetes(&["--kubeconfig", file.path().to_str().expect("text")], None);
        assert!(matches!(named, Ok(Kubernetes::Kubeconfig { .. })), "{named:?}");
    }

    #[test]
    fn the_audit_log_is_a_file_or_standard_output() {
        let log = |text: &str| settings(&["--audit-log", text], None).expect("valid").audit_log;
        assert_eq!(settings(&[], None).expect("valid").audit_log, None);
        assert_eq!(log("-"), Some(AuditLog::Stdout));
        assert_eq!(log("/var/log/audit.json"), Some(AuditLog::File("/var/log/audit.json".into())));
        assert!(matches!(log("audit.json"), Some(AuditLog::File(path)) if path.is_absolute()));
    }

    #[test]
    fn a_provider_needs_a_cluster_an_address_and_a_client() {
        let all =
            "--in-cluster --public-url https://c.example --oidc-issuer https://id.example --oidc-client-id console";
        let oidc = |change: (&str, &str)| {
            let changed = all.replace(change.0, change.1);
            settings(&changed.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>(), None)
                .map(|settings| settings.oidc)
        };
        let found = oidc(("", "")).expect("valid").expect("a provider");
        assert_eq!((found.name.as_str(), found.client_secret_file), ("id.example", None));
        assert_eq!(oidc(("--oidc-issuer https://id.example", "")), Ok(None));
        assert_eq!(oidc(("--in-cluster", "--standalone")), Err(SettingsError::OidcStandalone));
        let needs = |flag: &str| oidc((flag, "")).expect_err("refused").to_string();
        assert!(needs("--public-url https://c.example").contains("--public-url"));
        assert!(needs("--oidc-client-id console").contains("--oidc-client-id"));
        for issuer in ["http://id.example", "id.example", "https://id.example?x", "https://"] {
            let error = oidc(("https://id.example", issuer)).expect_err(issuer);
            assert!(matches!(error, SettingsError::OidcIssuer(..)), "{issuer}: {error}");
        }
        assert!(oidc(("https://id.example", "http://127.0.0.1:5571")).is_ok());
        assert_eq!(oidc(("console", "console --oidc-scopes email,groups")), Err(SettingsError::OidcScopes));
        let missing = oidc(("console", "console --oidc-client-secret-file /nowhere/secret"));
        assert_eq!(missing, Err(SettingsError::NoOidcFile("oidc-client-secret-file", "/nowhere/secret".into())));
    }

    #[test]
    fn a_flag_takes_precedence_over_the_mode() {
        let kubernetes = |args: &[&str], mode| settings(args, mode).map(|s| s.kubernetes);
        assert_eq!(kubernetes(&[], None), Ok(Kubernetes::Standalone));
        assert_eq!(kubernetes(&[], Some("in-cluster")), Ok(Kubernetes::InCluster));
        assert_eq!(kubernetes(&["--standalone"], Some("in-cluster")), Ok(Kubernetes::Standalone));
        assert_eq!(kubernetes(&["--in-cluster"], None), Ok(Kubernetes::InCluster));
        assert_eq!(kubernetes(&[], Some("cloud")), Err(SettingsError::Mode("cloud".into())));
    }

    #[test]
    fn invalid_settings_are_refused_with_the_reason() {
        assert_eq!(settings(&["--max-running", "0"], None).err(), Some(SettingsError::MaxRunning));
        let wrong = ["--clusters-namespace", "Clusters"];
        assert_eq!(settings(&wrong, None).err(), Some(SettingsError::Namespace("Clusters".into())));
        let same = ["--listen", "127.0.0.1:7081", "--health-listen", "127.0.0.1:7081"];
        assert_eq!(settings(&same, None).err(), Some(SettingsError::SamePort("127.0.0.1:7081".parse().expect("one"))));
        assert_eq!(settings(&["--demo", "--in-cluster"], None).err(), Some(SettingsError::StandaloneOnly("demo")));
        let image = settings(&["--runner-image", "my image"], None).err();
        assert!(matches!(image, Some(SettingsError::RunnerImage(..))), "{image:?}");
        let missing = settings(&["--kubeconfig", "/nowhere/config"], None).err();
        assert_eq!(missing, Some(SettingsError::NoKubeconfig("/nowhere/config".into())));
    }
}
