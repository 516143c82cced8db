//! From a change in the API to a tab that can show it: the list of 1,000 clusters is open, somebody patches one of them, the
//! `/live` socket tells the tab, the tab fetches its page of the list anew. What the browser then needs to draw it isn't in the
//! figure. The tab follows the real program in its own process; changes come at uneven times, some of them in quick succession.

use std::time::{Duration, Instant};

use crate::measure::{
    eventually, objects,
    program::Program,
    report::{Report, percentile},
};
use futures::{SinkExt, StreamExt};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

const CLUSTERS: usize = 1000;
const CHANGES: usize = 200;

pub(crate) async fn run() {
    let mut report = Report::new();
    let program = Program::start(&[]).await;
    let (cookie, client) = (program.sign_in().await, program.client().await);
    objects::clusters(&client, 0..CLUSTERS).await;
    program.settled().await;
    let mut told = topic_changes(&program, &cookie).await;
    let clusters = Api::<crd::Cluster>::all(client);
    let (mut waits, mut fetches) = (Vec::new(), Vec::new());
    for n in 0..CHANGES {
        let mark = format!("change-{n}");
        let patch = serde_json::json!({"metadata": {"labels": {"example.com/mark": mark}}});
        clusters.patch("c-7", &PatchParams::default(), &Patch::Merge(patch)).await.expect("patched");
        // The answer of the API is when it is in the API.
        let changed = Instant::now();
        loop {
            told.recv().await.expect("the socket stays open");
            let asked = Instant::now();
            let list = program.get("/api/load_clusters?filter[q]=c-7", &cookie).await.body;
            fetches.push(asked.elapsed());
            if list.contains(&mark) {
                break;
            }
        }
        waits.push(changed.elapsed());
        // Up to half a second later the next one, so that every phase of the socket's rest is met.
        tokio::time::sleep(Duration::from_millis((n as u64 * 37) % 500)).await;
    }
    report.tell("change in the API → fetched by the tab, p50", format!("{:.1} ms", percentile(&mut waits, 50)));
    report.at_most("change in the API → fetched by the tab, p99", percentile(&mut waits, 99), 300.0, "ms");
    report.at_most("change in the API → fetched by the tab, slowest", percentile(&mut waits, 100), 300.0, "ms");
    report.tell("of that, fetching the list, p50", format!("{:.1} ms", percentile(&mut fetches, 50)));
    report.note(format!(
        "{CHANGES} changes; a tab hears of a topic at most every 250 ms, which is most of what the slowest waited."
    ));
    report.print();
}

/// A tab that has the list of clusters open; a word for each time it is told of a change.
async fn topic_changes(program: &Program, cookie: &str) -> mpsc::Receiver<()> {
    let mut socket = program.live(cookie).await;
    let topics = r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#;
    socket.send(Message::text(topics)).await.expect("sent");
    let (tell, mut told) = mpsc::channel(100);
    tokio::spawn(async move {
        while let Some(Ok(message)) = socket.next().await {
            if message.to_text().is_ok_and(|text| text.contains("changed")) && tell.send(()).await.is_err() {
                break;
            }
        }
    });
    // What is new to a tab it hears at once.
    eventually("the first word", async || told.try_recv().ok()).await;
    told
}
