//! Connects to the Kubernetes API that the settings name, or starts the embedded one. The rest of the program doesn't
//! distinguish them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use runner::{Ansible, LocalLogs, RunnerOptions};
use standalone::{Api, Options};
use tokio_util::sync::CancellationToken;

use super::kubectl::{self, KubectlError};
use super::tasks::Tasks;
use crate::config::{Kubernetes, Settings};

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
    Kubectl(#[from] KubectlError),
}

/// Connects to the API that the settings name. In standalone mode, starts the embedded API and the local runner.
pub(super) async fn connect(
    settings: &Settings,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<Connected, ConnectError> {
    match &settings.kubernetes {
        Kubernetes::Standalone => embedded(settings, tasks, stop).await,
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
    Ok(Connected { client, mode: format!("Kubernetes at {url}, {how}"), config: Some(config), embedded: None })
}

async fn embedded(settings: &Settings, tasks: &mut Tasks, stop: &CancellationToken) -> Result<Connected, ConnectError> {
    let data = settings.data_dir.clone();
    let logs = Arc::new(LocalLogs::new(&data));
    let api = Api::open(Options { data_dir: data.clone(), crds: crd::all(), logs })?;
    let kubeconfig = kubectl::open(&api, &data, settings.kube_listen, tasks, stop).await?;
    let runner = RunnerOptions {
        data_dir: data.clone(),
        // The running program, even after an upgrade has replaced its file.
        shim: "/proc/self/exe".into(),
        ansible: Arc::new(Ansible::from_env(&data)),
        max_parallel: settings.max_running,
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
        embedded: Some(Embedded { api, kubeconfig }),
    })
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
}
