//! Looks at the room on the disk of the data directory while the server runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use disk::Room;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::tasks::Tasks;

/// How often.
const EVERY: Duration = Duration::from_secs(1);

/// Returns the room, which is up to date from the start on.
pub(super) fn watch(data: &Path, tasks: &mut Tasks, stop: &CancellationToken) -> watch::Receiver<Room> {
    let (sender, room) = watch::channel(Room::Enough);
    report(&sender, look(data));
    let (data, stop) = (data.to_owned(), stop.clone());
    tasks.spawn("disk", async move {
        stop.run_until_cancelled(follow(data, sender)).await;
    });
    room
}

async fn follow(data: PathBuf, sender: watch::Sender<Room>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let data = data.clone();
        // A network file system may not answer for minutes.
        if let Ok(room) = tokio::task::spawn_blocking(move || look(&data)).await {
            report(&sender, room);
        }
    }
}

fn look(data: &Path) -> Room {
    Room::of(data).unwrap_or_else(|error| {
        tracing::debug!(%error, "the room on the disk is unknown");
        Room::Enough
    })
}

fn report(sender: &watch::Sender<Room>, room: Room) {
    let changed = sender.send_if_modified(|old| std::mem::replace(old, room) != room);
    match room.sentence().filter(|_| changed) {
        Some(sentence) => tracing::warn!("{sentence}"),
        None if changed => tracing::info!("the disk of the data directory has room again"),
        None => {}
    }
}
