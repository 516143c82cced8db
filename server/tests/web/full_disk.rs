//! What probes and the sign-in page say while the disk of the data directory is full.

use std::sync::Arc;

use api::{Problem, User};
use async_trait::async_trait;
use disk::Room;
use http::{StatusCode, header};
use kubeonkube::session::Reviewer;
use kubeonkube::web::origin::OurOrigin;

use crate::patience::PATIENCE;
use crate::world::World;

struct Nobody;

#[async_trait]
impl Reviewer for Nobody {
    async fn review(&self, _: &str) -> Result<Option<(User, Option<u64>)>, Problem> {
        Ok(None)
    }
}

#[tokio::test]
async fn readyz_says_that_the_disk_is_full() {
    let world = World::new();
    world.gate.open();
    world.room.send_replace(Room::Full);
    let got = world.get("/readyz", "").await;
    let text = "the disk of the data directory is full\n";
    assert_eq!((got.status, got.text.as_str()), (StatusCode::SERVICE_UNAVAILABLE, text));
    world.room.send_replace(Room::Little(1));
    assert_eq!(world.get("/readyz", "").await.text, "ok\n");

    // In a cluster the pod stays reachable, because its pages say what to do.
    let world = World::with(OurOrigin::Loopback, Some(Arc::new(Nobody)));
    world.gate.open();
    world.room.send_replace(Room::Full);
    let got = world.get("/readyz", "").await;
    assert_eq!((got.status, got.text.as_str()), (StatusCode::OK, text));
}

#[tokio::test]
async fn the_sign_in_page_says_that_the_disk_is_full() {
    let world = World::new();
    assert!(!world.get("/login", "").await.text.contains("full"));
    world.room.send_replace(Room::Full);
    let got = world.get("/login", "").await;
    assert!(got.text.contains("The disk of the data directory is full."), "{got:?}");
}

#[tokio::test]
async fn a_sign_out_that_was_not_stored_says_so() {
    let world = World::new();
    world.gate.open();
    let cookie = world.sign_in().await;
    // A folder in place of the list: it can't be replaced by a file.
    let list = world.data.path().join("sessions-revoked");
    std::fs::create_dir(&list).expect("a folder");
    let got = world.post("/logout", &cookie, "").await;
    assert_eq!((got.status, got.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/login?unstored"));
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER, "still signed in");
    let told = world.get("/login?unstored", "").await;
    assert!(told.text.contains("this could not be stored yet"), "{told:?}");
    assert!(world.get("/readyz", "").await.text.contains("a sign-out could not be stored yet"));

    std::fs::remove_dir(&list).expect("removed");
    let web = world.web.clone();
    let storing = tokio::spawn(async move { web.sessions.store_pending().await });
    let stored = async {
        while world.web.sessions.has_pending() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, stored).await.expect("it is stored");
    storing.abort();
    assert_eq!(world.get("/readyz", "").await.text, "ok\n");
    assert!(!world.get("/login?unstored", "").await.text.contains("could not be stored"));
    let world = world.restarted();
    assert_eq!(world.get("/clusters", &cookie).await.status, StatusCode::SEE_OTHER, "the restart undid it");
}
