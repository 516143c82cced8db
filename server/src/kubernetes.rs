//! Which Kubernetes API, and the client that speaks to it. Above this everything is the same.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use runner::{Ansible, LocalLogs, RunnerOptions};
use standalone::{Api, Options};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Kubernetes, Settings},
    kubectl,
    serve::ServeError,
    shutdown::Tasks,
};

/// What the embedded API calls the server itself.
const SERVER: &str = "kubeonkube:server";
/// … and the runner of Jobs.
const RUNNER: &str = "kubeonkube:runner";

/// An API that can be asked.
pub(crate) struct Connected {
    pub client: Client,
    /// In words, for people.
    pub mode: String,
    /// Where people's own tokens are sent; None in standalone mode.
    pub config: Option<Config>,
    embedded: Option<Embedded>,
}

struct Embedded {
    api: Arc<Api>,
    kubeconfig: PathBuf,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("--kubeconfig {0}: {1}.")]
    Kubeconfig(PathBuf, kube::config::KubeconfigError),
    #[error("--in-cluster: {0}. It works in a pod with a service account; elsewhere use --kubeconfig or --standalone.")]
    InCluster(kube::config::InClusterError),
    #[error("no client for {0} can be made: {1}.")]
    Client(String, kube::Error),
}

/// Opens the API that the settings name. Standalone, this starts it.
pub(crate) async fn connect(
    settings: &Settings,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<Connected, ServeError> {
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

fn remote(config: Config, how: &str) -> Result<Connected, ServeError> {
    let url = config.cluster_url.to_string();
    let client = Client::try_from(config.clone()).map_err(|error| ConnectError::Client(url.clone(), error))?;
    Ok(Connected { client, mode: format!("Kubernetes at {url}, {how}"), config: Some(config), embedded: None })
}

async fn embedded(settings: &Settings, tasks: &mut Tasks, stop: &CancellationToken) -> Result<Connected, ServeError> {
    let data = settings.data_dir.clone();
    let logs = Arc::new(LocalLogs::new(&data));
    let api = Api::open(Options { data_dir: data.clone(), crds: crd::all(), logs })?;
    let kubeconfig = kubectl::open(&api, &data, settings.kube_listen, tasks, stop).await?;
    let runner = RunnerOptions {
        data_dir: data.clone(),
        // This very program, also after its file was replaced by a newer one.
        shim: "/proc/self/exe".into(),
        ansible: Arc::new(Ansible::from_env(&data)),
        max_parallel: settings.max_running,
    };
    let running = runner::run(api.client(RUNNER), runner, stop.clone());
    tasks.spawn("runner", async move {
        if let Err(error) = running.await {
            tracing::error!(%error, "the runner can't work");
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
    /// Standalone: the file that leads kubectl here.
    pub(crate) fn kubeconfig(&self) -> Option<&Path> {
        self.embedded.as_ref().map(|embedded| embedded.kubeconfig.as_path())
    }

    /// What tells the API from others: where people's tokens are sent, by which way, and who vouches for what answers there.
    /// Behind one address (a tunnel) there may be one cluster today and another tomorrow.
    pub(crate) fn told_apart(&self) -> String {
        let Some(config) = &self.config else { return "standalone".into() };
        let Config { cluster_url, proxy_url, tls_server_name, root_cert, .. } = config;
        format!("{cluster_url} {proxy_url:?} {tls_server_name:?} {root_cert:?}")
    }

    /// After everybody who asks has ended.
    pub(crate) async fn close(self) {
        if let Some(Embedded { api, .. }) = self.embedded {
            api.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_api_is_told_from_others_by_its_address_the_way_there_and_its_authority() {
        let told = |change: fn(&mut Config)| {
            let mut config = Config::new("https://127.0.0.1:6443".parse().unwrap());
            change(&mut config);
            remote(config, "in a test").unwrap().told_apart()
        };
        let plain = told(|_| ());
        assert_eq!(plain, told(|_| ()));
        assert_ne!(plain, told(|config| config.cluster_url = "https://127.0.0.1:6444".parse().unwrap()));
        assert_ne!(plain, told(|config| config.tls_server_name = Some("another".into())));
    }
}
