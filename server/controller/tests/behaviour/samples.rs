//! The files in `deploy/samples/` can be applied unchanged, once their namespace exists, and run.

use std::path::Path;

use crd::Phase;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use crate::world::{KEY, World, message, phase};

#[tokio::test]
async fn the_samples_apply_with_their_namespaces_and_run() {
    let world = World::new().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/samples");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    // The cluster first, as the README there says.
    files.sort_by_key(|path| !path.ends_with("cluster.yaml"));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeonkube-clusters"}});
    apply(&world, serde_json::from_value(namespace).unwrap()).await;
    let mut operations = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let key = KEY.trim_end().replace('\n', "\n    ");
        let text = text.replace("replace this with the private key that opens your machines", &key);
        for document in text.split("\n---\n") {
            let value: Value =
                serde_saphyr::from_str(document).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            let object: DynamicObject = serde_json::from_value(value).unwrap();
            operations.extend((kind(&object) == "ClusterOperation").then(|| object.name_any()));
            apply(&world, object).await;
        }
    }
    assert!(operations.len() >= 4, "{operations:?}");
    for name in operations {
        let operation = world.ended(&name).await;
        assert_eq!(phase(&operation), Phase::Succeeded, "{name}: {}", message(&operation));
        assert_eq!(operation.namespace(), None);
    }
}

async fn apply(world: &World, object: DynamicObject) {
    let types = object.types.clone().unwrap();
    let kind = GroupVersionKind::try_from(types).unwrap();
    let resource = ApiResource::from_gvk(&kind);
    let ours = kind.group == crd::GROUP || kind.kind == "Namespace";
    let api: Api<DynamicObject> = match object.namespace().filter(|_| !ours) {
        Some(namespace) => Api::namespaced_with(world.client.clone(), &namespace, &resource),
        None => Api::all_with(world.client.clone(), &resource),
    };
    let name = object.name_any();
    api.create(&PostParams::default(), &object).await.unwrap_or_else(|why| panic!("{} {name}: {why}", kind.kind));
}

fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| types.kind.as_str())
}
