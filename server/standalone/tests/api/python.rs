//! Python's dynamic client: `$KUBEONKUBE_TEST_PYTHON` names a Python that has it (`tests/python/requirements.txt`).

use std::path::Path;
use std::sync::Arc;

use tokio::process::Command;

use crate::patience::PATIENCE;
use crate::skipped::skip;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dynamic_client_of_python_works_with_every_kind() {
    let Some(python) = std::env::var_os("KUBEONKUBE_TEST_PYTHON") else {
        return skip("the_dynamic_client_of_python_works_with_every_kind", "KUBEONKUBE_TEST_PYTHON is not set");
    };
    let world = World::with(Arc::new(tempfile::tempdir().unwrap()), crd::all());
    let shutdown = world.on_a_port().await;
    let dir = world.dir.path();
    let mut command = Command::new(python);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/dynamic_client.py"))
        .args([dir.join("kubeconfig"), dir.join("discovery.json")])
        .env("HOME", dir)
        .kill_on_drop(true);
    for proxy in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(proxy);
    }
    let output = tokio::time::timeout(PATIENCE, command.output()).await.expect("Python ends in time").unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    shutdown.cancel();
}
