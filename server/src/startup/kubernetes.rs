//! Connects to the Kubernetes API that the settings name, or starts the embedded one. The rest of the program doesn't
//! distinguish them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use connections::Limits;
use connections::descriptors::Raised;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use runner::{Ansible, Isolation, LocalLogs, RunnerOptions};
use standalone::{Api, Options};
use tokio_util::sync::CancellationToken;

use super::kubectl::{self, KubectlError};
use super::tasks::Tasks;
use crate::cli::Isolate;
use crate::config::{Kubernetes, Settings};
use crate::state::{self, StateError};

/// The user name of this server in the embedded API.
const SERVER: &str = "kubeonkube:server";
/// The user name of the local runner in the embedded API.
const RUNNER: &str = "kubeonkube:runner";

/// A connection to a Kubernetes API.
pub(super) struct Connected {
    pub(super) client: Client,
    /// A description for people.
    pub(super) mode: String,
    /// The API that people's own tokens are sent to. `None` in standalone mode.
    pub(super) config: Option<Config>,
    /// How well runs on this machine are isolated. `None` in a cluster, where each run has a pod.
    pub(super) isolation: Option<Isolation>,
    embedded: Option<Embedded>,
}

struct Embedded {
    api: Arc<Api>,
    kubeconfig: PathBuf,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("--kubeconfig {0}: {1}.")]
    Kubeconfig(PathBuf, kube::config::KubeconfigError),
    #[error("--in-cluster: {0}. It works in a pod with a service account; elsewhere use --kubeconfig or --standalone.")]
    InCluster(kube::config::InClusterError),
    #[error("can't connect to {0}: {1}.")]
    Client(String, kube::Error),
    #[error(transparent)]
    Embedded(#[from] standalone::OpenError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    #[error("--isolation required, but the isolation of runs is {0} To start without it, use --isolation auto.")]
    NotIsolated(Isolation),
}

/// Connects to the API that the settings name. In standalone mode, starts the embedded API and the local runner.
pub(super) async fn connect(
    settings: &Settings,
    descriptors: Raised,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<Connected, ConnectError> {
    match &settings.kubernetes {
        Kubernetes::Standalone => embedded(settings, descriptors, tasks, stop).await,
        Kubernetes::InCluster => remote(Config::incluster().map_err(ConnectError::InCluster)?, "in the cluster"),
        Kubernetes::Kubeconfig { file, context } => {
            let unreadable = |error| ConnectError::Kubeconfig(file.clone(), error);
            let read = Kubeconfig::read_from(file).map_err(unreadable)?;
            let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
            remote(Config::from_custom_kubeconfig(read, &options).await.map_err(unreadable)?, "with a kubeconfig")
        }
    }
}

fn remote(config: Config, how: &str) -> Result<Connected, ConnectError> {
    let url = config.cluster_url.to_string();
    let client = Client::try_from(config.clone()).map_err(|error| ConnectError::Client(url.clone(), error))?;
    Ok(Connected {
        client,
        mode: format!("Kubernetes at {url}, {how}"),
        config: Some(config),
        isolation: None,
        embedded: None,
    })
}

/// The bin folder of the installation of ansible that the environment names.
fn existing_ansible() -> Option<PathBuf> {
    std::env::var_os("KUBEONKUBE_ANSIBLE").filter(|value| !value.is_empty()).map(PathBuf::from)
}

async fn embedded(
    settings: &Settings,
    descriptors: Raised,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<Connected, ConnectError> {
    let data = settings.data_dir.clone();
    let isolation = isolation(settings.isolation, Isolation::detect)?;
    if !settings.start_empty {
        state::check(&data)?;
    } else if let Some(old) = state::set_aside(&data)? {
        tracing::warn!(old = %old.display(), "started with a new database; the old one was renamed");
    }
    let logs = Arc::new(LocalLogs::new(&data));
    let api = Api::open(Options { data_dir: data.clone(), crds: crd::all(), logs })?;
    let limits = Limits::kubernetes(descriptors.now);
    let kubeconfig = kubectl::open(&api, &data, settings.kube_listen, limits, tasks, stop).await?;
    let runner = RunnerOptions {
        data_dir: data.clone(),
        // The running program, even after an upgrade has replaced its file.
        shim: "/proc/self/exe".into(),
        ansible: Arc::new(Ansible::new(&data, existing_ansible(), "python3")),
        max_parallel: settings.max_running,
        isolation: isolation.clone(),
        descriptors: descriptors.before,
    };
    let running = runner::run(api.client(RUNNER), runner, stop.clone());
    tasks.spawn("runner", async move {
        if let Err(error) = running.await {
            tracing::error!(%error, "the local runner stopped");
        }
    });
    let client = api.client(SERVER);
    Ok(Connected {
        client,
        mode: "standalone: everything is on this machine".into(),
        config: None,
        isolation: Some(isolation),
        embedded: Some(Embedded { api, kubeconfig }),
    })
}

/// How runs are isolated. An error if that is less than required.
fn isolation(wanted: Isolate, detect: impl FnOnce() -> Isolation) -> Result<Isolation, ConnectError> {
    let isolation = if wanted == Isolate::Off { Isolation::TurnedOff } else { detect() };
    match &isolation {
        Isolation::On { root: false, truncation: false, signals: false } => {
            tracing::info!("isolation of runs: {isolation}");
        }
        Isolation::Unavailable(_) if wanted == Isolate::Required => return Err(ConnectError::NotIsolated(isolation)),
        _ => tracing::warn!("isolation of runs: {isolation}"),
    }
    Ok(isolation)
}

impl Connected {
    /// Standalone: the kubeconfig for kubectl.
    pub(super) fn kubeconfig(&self) -> Option<&Path> {
        self.embedded.as_ref().map(|embedded| embedded.kubeconfig.as_path())
    }

    /// Identifies the API by its URL, proxy settings and certificate authority. The URL alone isn't enough: the same address (of
    /// a tunnel) may lead to one cluster today and to another one tomorrow.
    pub(super) fn identity(&self) -> String {
        let Some(config) = &self.config else { return "standalone".into() };
        let Config { cluster_url, proxy_url, tls_server_name, root_cert, .. } = config;
        format!("{cluster_url} {proxy_url:?} {tls_server_name:?} {root_cert:?}")
    }

    /// Closes the embedded API. Call this last, when no task uses the client any more.
    pub(super) async fn close(self) {
        if let Some(Embedded { api, .. }) = self.embedded {
            api.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_api_is_identified_by_url_proxy_and_authority() {
        let identity = |change: fn(&mut Config)| {
            let mut config = Config::new("https://127.0.0.1:6443".parse().unwrap());
            change(&mut config);
            remote(config, "in a test").unwrap().identity()
        };
        let plain = identity(|_| ());
        assert_eq!(plain, identity(|_| ()));
        assert_ne!(plain, identity(|config| config.cluster_url = "https://127.0.0.1:6444".parse().unwrap()));
        assert_ne!(plain, identity(|config| config.tls_server_name = Some("another".into())));
    }

    #[test]
    fn required_isolation_must_be_available() {
        let missing = || Isolation::Unavailable("Landlock is missing".into());
        let error = isolation(Isolate::Required, missing).unwrap_err().to_string();
        assert!(error.contains("Landlock is missing") && error.contains("--isolation auto"), "{error}");
        assert_eq!(isolation(Isolate::Auto, missing).unwrap(), missing());
        assert_eq!(isolation(Isolate::Off, || panic!("not needed")).unwrap(), Isolation::TurnedOff);
    }
}
