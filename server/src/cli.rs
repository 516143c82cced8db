//! The command line: what can be asked of the program, in words that teach.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  kubeonkube                                  the console on http://127.0.0.1:7080, everything on this machine
  kubeonkube --demo                           … with a cluster `demo` that runs on this very machine
  kubeonkube login                            another sign-in link for the server that is running
  kubeonkube serve --kubeconfig ~/.kube/config --context prod
                                              the console of a real Kubernetes cluster
  kubeonkube serve --listen 0.0.0.0:7080 --public-url https://kubeonkube.example.com
                                              behind a proxy that speaks TLS
  kubeonkube crd | kubectl apply -f -         the API's definitions, for a real cluster

Data lies in --data-dir: /var/lib/kubeonkube for root, otherwise $XDG_STATE_HOME/kubeonkube or ~/.local/state/kubeonkube.
Stopping the server (Ctrl-C, SIGTERM) leaves runs going; the next start picks them up where they are.";

/// Installs, grows, upgrades and repairs Kubernetes clusters with ansible, from one console.
///
/// Without a command it serves the console and the controllers. Without a flag that names a Kubernetes API it is
/// standalone: it keeps everything on this machine and needs no cluster.
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
    /// Prints a one-time sign-in link for the server that runs on this data directory.
    Login(DataArgs),
    /// Prints the CustomResourceDefinitions as YAML, for `kubectl apply -f -`.
    Crd,
    /// Writes a consistent copy of the standalone database, also while the server runs.
    Backup {
        /// The file to write; it must not exist yet.
        file: PathBuf,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Runs one Job to its end. The server starts this; it is no command for people.
    #[command(hide = true)]
    RunJob {
        /// The run's directory.
        #[arg(long)]
        dir: PathBuf,
    },
}

#[derive(Debug, Clone, Default, Args)]
pub struct DataArgs {
    /// Where everything is kept (mode 0700).
    #[arg(long, value_name = "DIR", env = "KUBEONKUBE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Address and port of the console; port 0 takes any free one. Beyond loopback, --public-url https://… is required.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7080", env = "KUBEONKUBE_LISTEN")]
    pub listen: SocketAddr,
    /// The address people open in the browser, when it isn't the one listened on: behind a proxy or a tunnel.
    #[arg(long, value_name = "URL", env = "KUBEONKUBE_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// Everything on this machine: an embedded Kubernetes API, and Jobs as local processes (the default).
    #[arg(long, group = "kubernetes")]
    pub standalone: bool,
    /// The Kubernetes cluster that this kubeconfig leads to. Never read without being named here.
    #[arg(long, value_name = "FILE", group = "kubernetes")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in --kubeconfig; its current one unless given.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub context: Option<String>,
    /// The Kubernetes cluster that this pod runs in.
    #[arg(long, group = "kubernetes")]
    pub in_cluster: bool,
    /// Operations that may run at the same time, over all clusters; each server counts for itself.
    #[arg(long, value_name = "N", default_value_t = 20, env = "KUBEONKUBE_MAX_RUNNING")]
    pub max_running: usize,
    /// How the log is written (to standard error). RUST_LOG says how much.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, env = "KUBEONKUBE_LOG_FORMAT")]
    pub log_format: LogFormat,
    /// Registers a cluster `demo` on this very machine: real runs without machines or privileges. Standalone only.
    #[arg(long)]
    pub demo: bool,
    /// Address and port (HTTPS) for kubectl in standalone mode; port 0 takes any free one.
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
