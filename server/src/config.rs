//! The settings of `kubeonkube serve`, made from command line and environment and checked once.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fmt};

use http::Uri;

use crate::cli::{LogFormat, ServeArgs};

/// Valid settings.
#[derive(Debug, Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    pub public_url: Option<PublicUrl>,
    pub data_dir: PathBuf,
    pub kubernetes: Kubernetes,
    /// At least 1.
    pub max_running: usize,
    pub log_format: LogFormat,
    pub demo: bool,
    pub kube_listen: SocketAddr,
}

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
    #[error("--max-running must be at least 1: with 0, no operation could run.")]
    MaxRunning,
    #[error("--{0} works in standalone mode only. Remove it, or remove --kubeconfig or --in-cluster.")]
    StandaloneOnly(&'static str),
    #[error("KUBEONKUBE_MODE must be `standalone` or `in-cluster`, not {0:?}.")]
    Mode(String),
    #[error("HOME is not set, so there is no default data directory. Name one with --data-dir.")]
    NoHome,
    #[error("--kubeconfig {0}: no such file.")]
    NoKubeconfig(PathBuf),
}

impl Settings {
    /// Checks the arguments. `mode` is `KUBEONKUBE_MODE`, which our image sets; an explicit flag takes precedence.
    pub fn new(args: &ServeArgs, mode: Option<&str>) -> Result<Self, SettingsError> {
        let kubernetes = match (&args.kubeconfig, args.in_cluster, args.standalone, mode.unwrap_or_default()) {
            (Some(file), ..) => Kubernetes::Kubeconfig { file: file.clone(), context: args.context.clone() },
            (_, true, ..) | (_, _, false, "in-cluster") => Kubernetes::InCluster,
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
        if args.max_running == 0 {
            return Err(SettingsError::MaxRunning);
        }
        let public_url = args.public_url.as_deref().map(str::parse::<PublicUrl>).transpose()?;
        if !args.listen.ip().is_loopback() && !public_url.as_ref().is_some_and(|url| url.https) {
            return Err(SettingsError::OpenWithoutTls(args.listen));
        }
        Ok(Self {
            listen: args.listen,
            public_url,
            data_dir: data_dir(args.data.data_dir.as_deref())?,
            kubernetes,
            max_running: args.max_running,
            log_format: args.log_format,
            demo: args.demo,
            kube_listen: args.kube_listen,
        })
    }
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
fn without_default_port(authority: &str, https: bool) -> String {
    let authority = authority.to_ascii_lowercase();
    let default = if https { ":443" } else { ":80" };
    authority.strip_suffix(default).map(ToOwned::to_owned).unwrap_or(authority)
}

/// Whether the name always resolves to this machine, so that no other site can serve a page under it.
pub(crate) fn is_loopback_name(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    fn settings(args: &[&str], mode: Option<&str>) -> Result<Settings, SettingsError> {
        let cli = Cli::try_parse_from([&["kubeonkube"], args].concat()).expect("parses");
        Settings::new(&cli.serve, mode)
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
    fn a_flag_takes_precedence_over_the_images_mode() {
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
        assert_eq!(settings(&["--demo", "--in-cluster"], None).err(), Some(SettingsError::StandaloneOnly("demo")));
        let missing = settings(&["--kubeconfig", "/nowhere/config"], None).err();
        assert_eq!(missing, Some(SettingsError::NoKubeconfig("/nowhere/config".into())));
    }
}
