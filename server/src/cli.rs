//! The command line. The doc comments of fields and variants are the help texts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  kubeonkube                                  the console on http://127.0.0.1:7080, everything on this machine
  kubeonkube --demo                           the same, with a cluster `demo` on this machine
  kubeonkube login                            another sign-in link for the running server
  kubeonkube serve --kubeconfig ~/.kube/config --context prod
                                              the console of a real Kubernetes cluster
  kubeonkube serve --listen 0.0.0.0:7080 --public-url https://kubeonkube.example.com
                                              behind a proxy with TLS
  kubeonkube crd | kubectl apply -f -         install the CustomResourceDefinitions on a real cluster

The default of --data-dir is /var/lib/kubeonkube for root, otherwise $XDG_STATE_HOME/kubeonkube or ~/.local/state/kubeonkube.
Stopping the server (Ctrl-C, SIGTERM) doesn't stop runs. They continue, and the next start follows them again.";

/// Installs, scales, upgrades and repairs Kubernetes clusters with ansible, from one console.
///
/// Without a command, it serves the console and the controllers. Without a flag that names a Kubernetes API, it runs
/// standalone: it stores everything on this machine and needs no cluster.
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
    /// Writes a consistent copy of the standalone database. The server may be running.
    Backup {
        /// The file to write. It must not exist.
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
    },
}

#[derive(Debug, Clone, Default, Args)]
pub struct DataArgs {
    /// The directory for all data (mode 0700).
    #[arg(long, value_name = "DIR", env = "KUBEONKUBE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
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
    /// Use an embedded Kubernetes API on this machine, and run Jobs as local processes (the default).
    #[arg(long, group = "kubernetes")]
    pub standalone: bool,
    /// Use the Kubernetes cluster of this kubeconfig. Without this flag, no kubeconfig is read.
    #[arg(long, value_name = "FILE", group = "kubernetes")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in --kubeconfig. The default is its current context.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub context: Option<String>,
    /// Use the Kubernetes cluster that this pod runs in.
    #[arg(long, group = "kubernetes")]
    pub in_cluster: bool,
    /// The number of operations that may run at the same time, on all clusters together. Each server counts its own.
    #[arg(long, value_name = "N", default_value_t = 20, env = "KUBEONKUBE_MAX_RUNNING")]
    pub max_running: usize,
    /// The format of the log on standard error. RUST_LOG sets the level.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "KUBEONKUBE_LOG_FORMAT")]
    pub log_format: LogFormat,
    /// Register a cluster `demo` on this machine: real runs without other machines or privileges. Standalone only.
    #[arg(long)]
    pub demo: bool,
    /// Address and port (HTTPS) for kubectl in standalone mode; port 0 means any free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", env = "KUBEONKUBE_KUBE_LISTEN")]
    pub kube_listen: SocketAddr,
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

    #[test]
    fn serve_is_the_default_command() {
        let bare = Cli::try_parse_from(["kubeonkube", "--listen", "127.0.0.1:0", "--demo"]).expect("parses");
        assert!(bare.command.is_none() && bare.serve.demo);
        let named = Cli::try_parse_from(["kubeonkube", "serve", "--listen", "127.0.0.1:0"]).expect("parses");
        assert!(matches!(named.command, Some(Command::Serve(args)) if args.listen.port() == 0));
    }

    #[test]
    fn two_kubernetes_apis_at_once_are_refused() {
        let error = Cli::try_parse_from(["kubeonkube", "--standalone", "--in-cluster"]).expect_err("refused");
        assert!(error.to_string().contains("--in-cluster"), "{error}");
        assert!(Cli::try_parse_from(["kubeonkube", "--context", "prod"]).is_err(), "a context needs its kubeconfig");
    }
}
