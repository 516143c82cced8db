//! Replacing the private key of a cluster.

use api::backend::Configurations;
use api::configuration::{KeyChange, NewKey, SshAccess};
use api::operation::Phase;
use api::{OperationName, Problem};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::world::{World, at, new_cluster};

async fn change(world: &World, change: KeyChange) -> Result<Option<OperationName>, Problem> {
    world.console.change_private_key(&world.user, &"prod".parse().unwrap(), &change).await
}

async fn shown(world: &World) -> SshAccess {
    world.console.read(&world.user, &"prod".parse().unwrap()).await.unwrap().ssh
}

/// The private keys in the Secret: current, next and previous.
async fn stored(world: &World) -> [Option<String>; 3] {
    let data = world.secrets().get("prod-ssh-auth").await.unwrap().data.unwrap();
    [crd::KEY_SSH, crd::KEY_SSH_NEXT, crd::KEY_SSH_PREVIOUS]
        .map(|key| data.get(key).map(|bytes| String::from_utf8(bytes.0.clone()).unwrap()))
}

async fn with_next_key() -> (World, String) {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    change(&world, KeyChange::Store(NewKey::Generate)).await.unwrap();
    let id = shown(&world).await.next.unwrap().key.id;
    (world, id)
}

#[tokio::test]
async fn a_tested_key_replaces_the_current_one_which_stays() {
    let (world, id) = with_next_key().await;
    let [old, new, _] = stored(&world).await;
    assert!(old.is_some() && new.is_some() && old != new);
    let test = change(&world, KeyChange::Test { id: id.clone() }).await.unwrap().unwrap();
    assert!(test.as_str().starts_with("key-test-"), "{test}");
    let made = world.operations().get(test.as_str()).await.unwrap().spec;
    assert_eq!((made.next_ssh_key.as_ref(), made.action.as_str()), (Some(&id), "ping.yml"));
    let again = change(&world, KeyChange::Test { id: id.clone() }).await.unwrap().unwrap();
    assert_eq!(again, test, "a second click starts no second test");

    let wanted = KeyChange::Use { id: id.clone(), untested: true };
    let refused = change(&world, wanted).await.unwrap_err();
    assert!(refused.to_string().contains("has not ended"), "{refused}");
    world.set_phase(test.as_str(), crd::Phase::Succeeded, "").await;
    assert_eq!(shown(&world).await.next.unwrap().test.unwrap().phase, Phase::Succeeded);
    let wanted = KeyChange::Use { id: id.clone(), untested: false };
    change(&world, wanted.clone()).await.unwrap();
    assert_eq!(stored(&world).await, [new.clone(), None, old.clone()]);
    change(&world, wanted).await.expect("a repeated step succeeds");

    let previous = shown(&world).await.previous.unwrap().id;
    change(&world, KeyChange::GoBack { id: previous }).await.unwrap();
    assert_eq!(stored(&world).await, [old.clone(), None, new]);
    change(&world, KeyChange::Forget { id }).await.unwrap();
    assert_eq!(stored(&world).await, [old, None, None]);
}

#[tokio::test]
async fn a_key_without_a_passed_test_needs_a_confirmation() {
    let (world, id) = with_next_key().await;
    let before = stored(&world).await;
    let untested = change(&world, KeyChange::Use { id: id.clone(), untested: false }).await;
    assert!(at(&untested, "untested").contains("No test"));
    let test = change(&world, KeyChange::Test { id: id.clone() }).await.unwrap().unwrap();
    world.set_phase(test.as_str(), crd::Phase::Failed, "HostsUnreachable").await;
    let failed = change(&world, KeyChange::Use { id: id.clone(), untested: false }).await;
    assert!(at(&failed, "untested").contains("No test"));
    assert_eq!(stored(&world).await, before);
    change(&world, KeyChange::Use { id, untested: true }).await.unwrap();
    assert_eq!(stored(&world).await[0], before[1]);
}

#[tokio::test]
async fn a_step_on_a_key_that_the_user_did_not_see_is_refused() {
    let (world, id) = with_next_key().await;
    let before = stored(&world).await;
    let other = || "0123456789abcdef".to_owned();
    for step in [
        KeyChange::Test { id: other() },
        KeyChange::Use { id: other(), untested: true },
        KeyChange::Discard { id: other() },
        KeyChange::GoBack { id: other() },
    ] {
        let refused = change(&world, step).await.unwrap_err();
        assert!(refused.to_string().contains("Reload the page"), "{refused}");
    }
    let second = change(&world, KeyChange::Store(NewKey::Generate)).await.unwrap_err();
    assert!(second.to_string().contains("stored already"), "{second}");
    assert_eq!(stored(&world).await, before);
    change(&world, KeyChange::Discard { id }).await.unwrap();
    assert_eq!(stored(&world).await, [before[0].clone(), None, None]);
}

#[tokio::test]
async fn without_a_usable_key_the_new_one_is_used_at_once() {
    let world = World::standalone().await;
    world.register(&new_cluster("prod")).await.unwrap();
    let broken = json!({"stringData": {crd::KEY_SSH: "replace me"}});
    world.secrets().patch("prod-ssh-auth", &PatchParams::default(), &Patch::Merge(broken)).await.unwrap();
    let given = change(&world, KeyChange::Store(NewKey::Given("ssh-ed25519 AAAA".into()))).await;
    assert!(at(&given, "ssh_key").contains("public key"));
    change(&world, KeyChange::Store(NewKey::Generate)).await.unwrap();
    let [current, next, _] = stored(&world).await;
    assert!(current.unwrap().starts_with("-----BEGIN OPENSSH") && next.is_none());
    world.secrets().delete("prod-ssh-auth", &Default::default()).await.unwrap();
    change(&world, KeyChange::Store(NewKey::Generate)).await.unwrap();
    assert!(shown(&world).await.public_key.is_some());
}
