//! From a change in the API to a tab that can show it: a tab shows the list of 1,000 clusters, one of them is patched, the `/live`
//! socket sends the topic, and the tab fetches its page of the list again. Drawing it in the browser isn't measured. The real
//! program runs in its own process. Changes come at uneven times, some of them in quick succession.

use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use kube::Api;
use kube::api::{Patch, PatchParams};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use crate::measure::program::Program;
use crate::measure::report::{Report, percentile};
use crate::measure::{eventually, objects};

const CLUSTERS: usize = 1000;
const CHANGES: usize = 200;

pub(crate) async fn run() {
    let mut report = Report::new();
    let program = Program::start(&[]).await;
    let (cookie, client) = (program.sign_in().await, program.client().await);
    objects::clusters(&client, 0..CLUSTERS).await;
    program.idle().await;
    let mut topics = topic_changes(&program, &cookie).await;
    let clusters = Api::<crd::Cluster>::all(client);
    let (mut waits, mut fetches) = (Vec::new(), Vec::new());
    for n in 0..CHANGES {
        let mark = format!("change-{n}");
        let patch = serde_json::json!({"metadata": {"labels": {"example.com/mark": mark}}});
        clusters.patch("c-7", &PatchParams::default(), &Patch::Merge(patch)).await.expect("patched");
        // The change is in the API when the API has answered.
        let changed = Instant::now();
        loop {
            topics.recv().await.expect("the socket stays open");
            let fetching = Instant::now();
            let list = program.get("/api/load_clusters?filter[q]=c-7", &cookie).await.body;
            fetches.push(fetching.elapsed());
            if list.contains(&mark) {
                break;
            }
        }
        waits.push(changed.elapsed());
        // Wait up to half a second, so that changes hit every phase of the socket's interval.
        tokio::time::sleep(Duration::from_millis((n as u64 * 37) % 500)).await;
    }
    report.add("change in the API → fetched by the tab, p50", format!("{:.1} ms", percentile(&mut waits, 50)));
    report.at_most("change in the API → fetched by the tab, p99", percentile(&mut waits, 99), 300.0, "ms");
    report.at_most("change in the API → fetched by the tab, slowest", percentile(&mut waits, 100), 300.0, "ms");
    report.add("of that, fetching the list, p50", format!("{:.1} ms", percentile(&mut fetches, 50)));
    report.note(format!(
        "{CHANGES} changes. A tab gets a topic at most every 250 ms, which is most of the slowest time."
    ));
    report.print();
}

/// A tab that shows the list of clusters. The channel gets one message for each change that the socket sends.
async fn topic_changes(program: &Program, cookie: &str) -> mpsc::Receiver<()> {
    let mut socket = program.live(cookie).await;
    let topics = r#"{"do":"topics","topics":[{"topic":"clusters"}]}"#;
    socket.send(Message::text(topics)).await.expect("sent");
    let (sender, mut changes) = mpsc::channel(100);
    tokio::spawn(async move {
        while let Some(Ok(message)) = socket.next().await {
            if message.to_text().is_ok_and(|text| text.contains("changed")) && sender.send(()).await.is_err() {
                break;
            }
        }
    });
    // A new topic is sent at once.
    eventually("the first topic", async || changes.try_recv().ok()).await;
    changes
}
