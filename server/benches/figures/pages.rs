//! Time to first byte of `/clusters` with 1,000 clusters, each with an ended operation: the real program in its own process,
//! over loopback HTTP, signed in. Each request opens a new connection, which counts.

use std::time::{Duration, Instant};

use crate::measure::program::Program;
use crate::measure::report::{Report, percentile};
use crate::measure::{eventually, objects};

const CLUSTERS: usize = 1000;
const REQUESTS: usize = 1000;

pub(crate) async fn run() {
    let mut report = Report::new();
    let program = Program::start(&[]).await;
    let cookie = program.sign_in().await;
    let one = load(&program, &cookie, "/clusters", 20, 1).await.body;
    let client = program.client().await;
    objects::clusters(&client, 0..CLUSTERS).await;
    objects::ended(&client, 0..CLUSTERS, |n| n).await;
    eventually("all clusters to be listed", async || {
        let list = program.get("/api/load_clusters?filter[q]=", &cookie).await.body;
        list.contains(&format!("\"all\":{CLUSTERS}")).then_some(())
    })
    .await;
    program.idle().await;

    let mut alone = load(&program, &cookie, "/clusters", REQUESTS, 1).await;
    report.add("first byte, p50", format!("{:.2} ms", percentile(&mut alone.first_byte, 50)));
    report.at_most("first byte, p99", percentile(&mut alone.first_byte, 99), 30.0, "ms");
    report.add("whole page, p99", format!("{:.2} ms", percentile(&mut alone.whole, 99)));
    let mut together = load(&program, &cookie, "/clusters", REQUESTS, 8).await;
    report.add("8 people at once: first byte, p50", format!("{:.2} ms", percentile(&mut together.first_byte, 50)));
    report.add("8 people at once: first byte, p99", format!("{:.2} ms", percentile(&mut together.first_byte, 99)));
    report.add("8 people at once: pages a second", format!("{:.0}", together.per_second));
    let mut found = load(&program, &cookie, "/clusters?q=c-99&sort=-name", REQUESTS, 1).await;
    report.add("filtered and sorted: first byte, p99", format!("{:.2} ms", percentile(&mut found.first_byte, 99)));
    let rows = alone.body.matches("href=\"/clusters/c-").count();
    report.note(format!(
        "The page shows {rows} links to clusters in {:.0} KB of HTML ({:.0} KB without any cluster).",
        alone.body.len() as f64 / 1000.0,
        one.len() as f64 / 1000.0
    ));
    report.print();
}

#[derive(Default)]
struct Load {
    first_byte: Vec<Duration>,
    whole: Vec<Duration>,
    per_second: f64,
    body: String,
}

/// `requests` for one page by `people` clients, each of which waits for the complete page before its next request.
async fn load(program: &Program, cookie: &str, path: &str, requests: usize, people: usize) -> Load {
    let one = async || {
        let mut load = Load::default();
        for _ in 0..requests / people {
            let answer = program.get(path, cookie).await;
            assert!(answer.head.starts_with("HTTP/1.0 200"), "{}", answer.head);
            load.first_byte.push(answer.first_byte);
            load.whole.push(answer.whole);
            load.body = answer.body;
        }
        load
    };
    let started = Instant::now();
    let mut all = Load::default();
    for load in futures::future::join_all((0..people).map(|_| one())).await {
        all.first_byte.extend(load.first_byte);
        all.whole.extend(load.whole);
        all.body = load.body;
    }
    all.per_second = all.whole.len() as f64 / started.elapsed().as_secs_f64();
    all
}
