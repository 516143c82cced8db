//! The command line. The doc comments of fields and variants are the help texts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use operation::versions::plugins;

const EXAMPLES: &str = "\
Examples:
  kubeonkube                                  the console on http://127.0.0.1:7080, everything on this machine
  kubeonkube --demo                           the same, with a cluster `demo` on this machine
  kubeonkube login                            another sign-in link for the running server
  kubeonkube serve --kubeconfig ~/.kube/config --context prod
                                              the console of a real Kubernetes cluster
  kubeonkube serve --listen 0.0.0.0:7080 --public-url https://kubeonkube.example.com
                                              behind a proxy with TLS
  kubeonkube artifacts 1.36.4 --to ./files    downloads what machines without internet access need
  kubeonkube crd | kubectl apply -f -         install the CustomResourceDefinitions on a real cluster
  kubectl apply -k deploy/kubernetes          install kubeonkube in a Kubernetes cluster (docs/install.md)

The default of --data-dir is /var/lib/kubeonkube for root, otherwise $XDG_STATE_HOME/kubeonkube or ~/.local/state/kubeonkube.
Stopping the server (Ctrl-C, SIGTERM) doesn't stop runs. They continue, and the next start follows them again.";

/// Installs, scales, upgrades and repairs Kubernetes clusters with ansible, from one console.
///
/// Without a command, it serves the console and the controllers. Without a flag that names a Kubernetes API, it uses
/// the cluster of its pod, or outside of pods runs standalone: it stores everything on this machine and needs no cluster.
#[derive(Debug, Parser)]
#[command(name = "kubeonkube", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves the console and the controllers (the default command).
    Serve(Box<ServeArgs>),
    /// Prints a one-time sign-in link for the server that uses this data directory.
    Login(DataArgs),
    /// Prints the CustomResourceDefinitions as YAML, for `kubectl apply -f -`.
    Crd,
    /// Shows what standalone mode needs on this machine, and how well runs are isolated. Exits with 1 if something is missing.
    Doctor,
    /// Downloads what the built-in engine needs to install a Kubernetes version on machines without internet access, into a folder for
    /// the variable `files_repo` (docs/air-gapped.md). Uses curl and tar.
    Artifacts(ArtifactsArgs),
    /// Writes a consistent copy of the standalone database. The server may be running.
    Backup {
        /// The file to write. It must not exist.
        file: PathBuf,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Restores the standalone database from a backup. Stop the server first. Runs that the backup contains continue.
    Restore {
        /// A file that `kubeonkube backup` wrote.
        file: PathBuf,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Runs one Job until it ends. Only the server starts this command.
    #[command(hide = true)]
    RunJob {
        /// The run's directory.
        #[arg(long)]
        dir: PathBuf,
        /// The soft limit of open descriptors, which the server has raised for itself.
        #[arg(long, value_name = "N")]
        descriptors: Option<u64>,
    },
}

#[derive(Debug, Clone, Default, Args)]
pub struct DataArgs {
    /// The directory for all data (mode 0700).
    #[arg(long, value_name = "DIR", env = "KUBEONKUBE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct ArtifactsArgs {
    /// The Kubernetes version, for example 1.36.4.
    pub version: String,
    /// The folder to write. What is already there and complete stays.
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// The kind of processor of the machines.
    #[arg(long, value_name = "NAME", default_value = "amd64", value_parser = ["amd64", "arm64"])]
    pub processor: String,
    /// Also what this network plugin needs. May be given more than once.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(plugins().map(|(name, _)| name)))]
    pub network_plugin: Vec<String>,
    /// Where kubeadm, kubelet and kubectl come from. kubeadm is started here to list its images, if its checksum is known or this is https.
    #[arg(
        long,
        value_name = "URL",
        default_value = "https://dl.k8s.io",
        env = "KUBEONKUBE_DL_K8S_IO_URL",
        hide_env_values = true
    )]
    pub dl_k8s_io_url: String,
    /// The registry of Kubernetes' images. Set the variable kube_image_repo of the cluster to the same.
    #[arg(long, value_name = "REGISTRY", default_value = "registry.k8s.io")]
    pub kube_image_repo: String,
    /// The registry of the images of network plugins. Set the variable quay_image_repo of the cluster to the same.
    #[arg(long, value_name = "REGISTRY", default_value = "quay.io")]
    pub quay_image_repo: String,
    /// Where containerd, runc and the manifest of calico come from.
    #[arg(
        long,
        value_name = "URL",
        default_value = "https://github.com",
        env = "KUBEONKUBE_GITHUB_URL",
        hide_env_values = true
    )]
    pub github_url: String,
    /// Where the chart of cilium comes from.
    #[arg(
        long,
        value_name = "URL",
        default_value = "https://helm.cilium.io",
        env = "KUBEONKUBE_CILIUM_CHART_URL",
        hide_env_values = true
    )]
    pub cilium_chart_url: String,
    /// Where helm comes from, which renders that chart.
    #[arg(
        long,
        value_name = "URL",
        default_value = "https://get.helm.sh",
        env = "KUBEONKUBE_GET_HELM_URL",
        hide_env_values = true
    )]
    pub get_helm_url: String,
}

#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Address and port of the console; port 0 means any free port. Other addresses than loopback need --public-url https://….
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7080", env = "KUBEONKUBE_LISTEN")]
    pub listen: SocketAddr,
    /// The address that people open in the browser, if it differs from --listen: behind a proxy or a tunnel.
    #[arg(long, value_name = "URL", env = "KUBEONKUBE_PUBLIC_URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub oidc: OidcArgs,
    /// Address and port for probes: a second port that answers only /healthz and /readyz, so it may be open to other machines.
    #[arg(long, value_name = "ADDR", env = "KUBEONKUBE_HEALTH_LISTEN")]
    pub health_listen: Option<SocketAddr>,
    /// Use an embedded Kubernetes API on this machine, and run Jobs as local processes (the default outside of pods).
    #[arg(long, group = "kubernetes")]
    pub standalone: bool,
    /// Use the Kubernetes cluster of this kubeconfig. Without this flag, no kubeconfig is read.
    #[arg(long, value_name = "FILE", group = "kubernetes")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in --kubeconfig. The default is its current context.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub context: Option<String>,
    /// Use the Kubernetes cluster that this pod runs in, with the pod's service account (the default in a pod that has one).
    #[arg(long, group = "kubernetes")]
    pub in_cluster: bool,
    /// Where the form for a new cluster stores its inputs if no namespace is entered. The default is the namespace of the pod, or of
    /// the kubeconfig's context.
    #[arg(long, value_name = "NAMESPACE", env = "KUBEONKUBE_CLUSTERS_NAMESPACE")]
    pub clusters_namespace: Option<String>,
    /// The image of operations that name none, in a Kubernetes cluster. Its name also tells the engine: see docs/kubespray.md. The default
    /// is kubeonkube's own image of the same version.
    #[arg(long, value_name = "IMAGE", env = "KUBEONKUBE_RUNNER_IMAGE")]
    pub runner_image: Option<String>,
    /// The number of operations that may run at the same time, on all clusters together. Each server applies this limit by itself.
    #[arg(long, value_name = "N", default_value_t = 20, env = "KUBEONKUBE_MAX_RUNNING")]
    pub max_running: usize,
    /// How many seconds an operation waits for a Cluster, ConfigMap or Secret that doesn't exist yet, or for a key of one, before it fails; 0
    /// to fail at once.
    #[arg(long, value_name = "SECONDS", default_value_t = controller::INPUTS_TIMEOUT.as_secs(), env = "KUBEONKUBE_INPUTS_TIMEOUT")]
    pub inputs_timeout: u64,
    /// Where to write the audit log, one JSON line for each change, download and sign-in: a file, or `-` for standard output.
    #[arg(long, value_name = "FILE", env = "KUBEONKUBE_AUDIT_LOG")]
    pub audit_log: Option<PathBuf>,
    /// The format of the log on standard error. RUST_LOG sets the level.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "KUBEONKUBE_LOG_FORMAT")]
    pub log_format: LogFormat,
    /// Register a cluster `demo` on this machine: real runs without other machines or privileges. Standalone only.
    #[arg(long)]
    pub demo: bool,
    /// Start with a new database if the old one is missing, empty or older than its runs. The old file is kept under another name.
    #[arg(long)]
    pub start_empty: bool,
    /// Whether standalone runs are kept out of the data directory: `auto` if this machine can do it, `required` doesn't start
    /// without it.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Isolate::Auto, env = "KUBEONKUBE_ISOLATION")]
    pub isolation: Isolate,
    /// Address and port (HTTPS) for kubectl in standalone mode; port 0 means any free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", env = "KUBEONKUBE_KUBE_LISTEN")]
    pub kube_listen: SocketAddr,
}

/// Sign-in at an OpenID Connect provider (docs/sign-in.md).
#[derive(Debug, Clone, Default, Args)]
pub struct OidcArgs {
    /// The OpenID Connect provider at which people sign in, exactly as the Kubernetes API server names it. Needs --public-url.
    #[arg(long, value_name = "URL", env = "KUBEONKUBE_OIDC_ISSUER")]
    pub oidc_issuer: Option<String>,
    /// The name of this console at the provider. The Kubernetes API server must accept ID tokens for it.
    #[arg(long, value_name = "ID", env = "KUBEONKUBE_OIDC_CLIENT_ID")]
    pub oidc_client_id: Option<String>,
    /// A file with the client's secret. Without it, the provider must accept a public client.
    #[arg(long, value_name = "FILE", env = "KUBEONKUBE_OIDC_CLIENT_SECRET_FILE")]
    pub oidc_client_secret_file: Option<PathBuf>,
    /// What to ask the provider for. The default is openid and, if the provider lists them, profile, email, groups and offline_access.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', env = "KUBEONKUBE_OIDC_SCOPES")]
    pub oidc_scopes: Vec<String>,
    /// The name of the provider on the sign-in page. The default is the host of --oidc-issuer.
    #[arg(long, value_name = "TEXT", env = "KUBEONKUBE_OIDC_NAME")]
    pub oidc_name: Option<String>,
    /// The certificates of the authorities to trust for the provider, as PEM, instead of those of the operating system.
    #[arg(long, value_name = "FILE", env = "KUBEONKUBE_OIDC_CA_FILE")]
    pub oidc_ca_file: Option<PathBuf>,
}

/// When runs are isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Isolate {
    /// If this machine can do it.
    Auto,
    /// Always; otherwise the server doesn't start.
    Required,
    /// Never: for runs that install this machine itself.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line, for collectors.
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// `docs/settings.md` lists each option with its variable and its default.
    #[test]
    fn the_settings_are_documented() {
        let documented = include_str!("../../docs/settings.md");
        let rows: Vec<&str> = documented.lines().filter(|line| line.starts_with("| `--")).collect();
        let command = Cli::command();
        let serve = command.get_subcommands().find(|command| command.get_name() == "serve").expect("it exists");
        let options = serve.get_arguments().filter_map(|option| option.get_long().map(|name| (name, option)));
        for (name, option) in options.filter(|(name, _)| *name != "help" && !name.starts_with("oidc-")) {
            let row = rows.iter().find(|row| row.contains(&format!("`--{name}`")));
            let row = row.unwrap_or_else(|| panic!("docs/settings.md doesn't list --{name}"));
            let variable = option.get_env().map(|name| format!("`{}`", name.to_string_lossy()));
            let defaults = option.get_default_values().iter().filter(|_| option.get_action().takes_values());
            let defaults = defaults.map(|value| format!("`{}`", value.to_string_lossy()));
            for part in variable.into_iter().chain(defaults) {
                assert!(row.contains(&part), "{part} is missing in {row}");
            }
        }
    }

    #[test]
    fn serve_is_the_default_command() {
        let bare = Cli::try_parse_from(["kubeonkube", "--listen", "127.0.0.1:0", "--demo"]).expect("parses");
        assert!(bare.command.is_none() && bare.serve.demo);
        let named = Cli::try_parse_from(["kubeonkube", "serve", "--listen", "127.0.0.1:0"]).expect("parses");
        assert!(matches!(named.command, Some(Command::Serve(args)) if args.listen.port() == 0));
    }

    #[test]
    fn artifacts_come_from_where_the_playbooks_take_them() {
        let Some(Command::Artifacts(args)) =
            Cli::try_parse_from(["kubeonkube", "artifacts", "1.36.4", "--to", "files"]).expect("parses").command
        else {
            panic!("another command")
        };
        let defaults = include_str!("../../deploy/runner/playbooks/roles/variables/defaults/main.yml");
        for (name, value) in [
            ("dl_k8s_io_url", args.dl_k8s_io_url),
            ("kube_image_repo", args.kube_image_repo),
            ("quay_image_repo", args.quay_image_repo),
            ("github_url", args.github_url),
            ("cilium_chart_url", args.cilium_chart_url),
            ("get_helm_url", args.get_helm_url),
        ] {
            assert!(defaults.contains(&format!("\n{name}: {value}\n")), "{name}: {value}");
        }
    }

    #[test]
    fn artifacts_exist_for_the_plugins_of_the_catalogue() {
        let parsed = |name| {
            Cli::try_parse_from(["kubeonkube", "artifacts", "1.36.4", "--to", "files", "--network-plugin", name])
        };
        assert!(plugins().count() > 0 && plugins().all(|(name, _)| parsed(name).is_ok()));
        let error = parsed("bridge").expect_err("bridge needs no download").to_string();
        assert!(plugins().all(|(name, _)| error.contains(name)), "{error}");
    }

    #[test]
    fn two_kubernetes_apis_at_once_are_refused() {
        let error = Cli::try_parse_from(["kubeonkube", "--standalone", "--in-cluster"]).expect_err("refused");
        assert!(error.to_string().contains("--in-cluster"), "{error}");
        assert!(Cli::try_parse_from(["kubeonkube", "--context", "prod"]).is_err(), "a context needs its kubeconfig");
    }
}
