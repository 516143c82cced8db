//! Compares the commands of a review with those of the Job: a real controller creates the Job, and the Job's `entrypoint.py`
//! prints the commands that it would run. The review shows them without secrets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use api::backend::Operations;
use api::cluster::NewCluster;
use api::operation::{NewOperation, OperationReview};
use controller::Config;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{NAMESPACE, World, eventually, form, named, new_cluster};

/// Prints the commands of all steps with the functions of `entrypoint.py`.
const COMMANDS: &str = "
import importlib.util, json, sys
found = importlib.util.spec_from_file_location('entrypoint', sys.argv[1])
entrypoint = importlib.util.module_from_spec(found)
found.loader.exec_module(entrypoint)
steps = entrypoint.read_json(entrypoint.CONF + '/steps.json', None)['steps']
print(json.dumps([entrypoint.command_for(step) for step in steps]))
";

/// Reviews and submits an operation. Returns the review and the commands of the Job that the controller created.
async fn reviewed_and_run(world: &World, new: &NewOperation) -> (OperationReview, Vec<Vec<String>>) {
    let review = Operations::review(&world.console, &world.user, new).await.unwrap();
    let name = world.submit(new).await.unwrap();
    let jobs: Api<Job> = Api::namespaced(world.client.clone(), NAMESPACE);
    let job_name = crd::job_name(name.as_str());
    eventually(async || jobs.get_opt(&job_name).await.unwrap().is_some()).await;
    let job = jobs.get(&job_name).await.unwrap();
    let snapshot = world.secrets().get(&crd::inputs_name(name.as_str())).await.unwrap();
    (review, commands(&job, &snapshot))
}

/// Writes the files of the Job's volumes to a folder and runs [`COMMANDS`] there.
fn commands(job: &Job, snapshot: &Secret) -> Vec<Vec<String>> {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for playbook in ["ping.yml", "facts.yml"] {
        write(&format!("kubespray/{playbook}"), b"");
    }
    let volumes = job.spec.as_ref().unwrap().template.spec.as_ref().unwrap().volumes.as_ref().unwrap();
    for (volume, folder) in [("inputs", "conf"), ("ssh-auth", "auth")] {
        let Some(volume) = volumes.iter().find(|v| v.name == volume) else { continue };
        for item in volume.secret.as_ref().unwrap().items.as_ref().unwrap() {
            let bytes = snapshot.data.as_ref().unwrap().get(&item.key).map_or(&b"key"[..], |bytes| &bytes.0);
            write(&format!("{folder}/{}", item.path), bytes);
        }
    }
    let called = Command::new("python3")
        .args(["-B", "-c", COMMANDS])
        .arg(root.path().join("conf/entrypoint.py"))
        .env("KUBEONKUBE_ROOT", root.path())
        .output()
        .expect("python3 runs");
    assert!(called.status.success(), "{}", String::from_utf8_lossy(&called.stderr));
    let commands: Vec<Vec<String>> = serde_json::from_slice(&called.stdout).unwrap();
    commands.into_iter().map(|command| command.iter().map(|word| in_pod(word, root.path())).collect()).collect()
}

/// `word` with the path that it has in a pod, without the folder `root`.
fn in_pod(word: &str, root: &Path) -> String {
    word.replace(root.to_str().unwrap(), "")
}

async fn config_map(world: &World, name: &str, files: &[(&str, &str)]) {
    let data: BTreeMap<_, _> = files.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    let map = ConfigMap { metadata: named(name), data: Some(data), ..ConfigMap::default() };
    world.config_maps().create(&PostParams::default(), &map).await.unwrap();
}

#[tokio::test]
async fn the_reviewed_commands_are_those_that_run() {
    let world = World::standalone().await;
    config_map(&world, "own", &[("site.yml", "- hosts: all\n"), ("fix.sh", "uptime\n")]).await;
    config_map(&world, "check", &[("precheck.yml", "- hosts: all\n")]).await;
    let shutdown = CancellationToken::new();
    let config = Config { controller_namespace: NAMESPACE.into(), ..Config::default() };
    let (_, controller) = controller::start(world.client.clone(), config, shutdown.clone());

    let source = format!("{NAMESPACE}/own");
    let (limit, arguments) = (("limit", "w1"), ("extra_args", "-e\nmotd=it's; $(here)\n--check\n#no comment"));
    let of_config_map = |key| [("kind", "configmap"), ("source", source.as_str()), ("key", key)];
    let script = [("kind", "script"), ("script", "echo \"$1\"\n"), ("extra_args", "two words\n--flag")];
    let hooks = [("pre_hooks", "facts.yml\nping.yml"), ("post_hooks", "facts.yml")];
    let secrets = ("extra_args", "-e\npassword=hunter22 motd=hello\n--diff");
    let cases = [
        ("secrets", form(&[limit, secrets])),
        ("builtin", form(&[limit, arguments])),
        ("hooks", form(&[limit, arguments, hooks[0], hooks[1]])),
        ("config-map", form(&of_config_map("site.yml"))),
        ("script-file", form(&of_config_map("fix.sh"))),
        ("script", form(&[script[0], script[1], script[2], hooks[0]])),
    ];
    for (name, typed) in cases {
        // Each case has its own cluster: no run ends here, so a second operation would stay queued.
        world.register(&new_cluster(name)).await.unwrap();
        let new = NewOperation { cluster: name.parse().unwrap(), ..typed.request().unwrap() };
        let (review, ran) = reviewed_and_run(&world, &new).await;
        let shown: Vec<_> = ran.iter().map(|command| masking::hide_in_arguments(command)).collect();
        assert_eq!(review.commands, shown, "{name}");
        assert_eq!(shown != ran, name == "secrets", "{ran:?}");
    }

    let bare = NewCluster { variables: "---\n# none\n".into(), ssh: "none".into(), ..new_cluster("bare") };
    world.register(&bare).await.unwrap();
    let checked = json!({"spec": {"preCheckRef": {"namespace": NAMESPACE, "name": "check"}}});
    world.clusters().patch("bare", &PatchParams::default(), &Patch::Merge(checked)).await.unwrap();
    let new = NewOperation { cluster: "bare".parse().unwrap(), ..form(&of_config_map("site.yml")).request().unwrap() };
    eventually(async || Operations::review(&world.console, &world.user, &new).await.unwrap().commands.len() == 2).await;
    let (review, ran) = reviewed_and_run(&world, &new).await;
    assert_eq!(review.commands, ran, "a pre-check, without variables and key");
    assert!(!ran.concat().iter().any(|word| word == "-e" || word == "--private-key"), "{ran:?}");

    shutdown.cancel();
    controller.await.unwrap();
}
