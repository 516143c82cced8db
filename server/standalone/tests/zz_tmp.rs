#[path = "runner/stage.rs"]
#[allow(dead_code)]
mod stage;
use stage::*; use serde_json::json;
#[test] fn shim_process() { stage::be_the_shim(); }
#[tokio::test(flavor = "multi_thread")]
async fn many() {
    let stage = Stage::new();
    let t = std::time::Instant::now();
    for n in 0..200 { stage.job(&format!("j{n}"), "true", json!({})).await; }
    eprintln!("created {:?}", t.elapsed());
    for n in 0..200 { stage.job_that_is(&format!("j{n}"), "Complete").await; }
    eprintln!("all complete {:?}", t.elapsed());
    let t = std::time::Instant::now();
    stage.job("one", "true", json!({})).await;
    stage.job_that_is("one", "Complete").await;
    eprintln!("one more {:?}", t.elapsed());
    for n in 0..200 { stage.delete_job(&format!("j{n}")).await; }
    stage.wait("dirs", async || (std::fs::read_dir(stage.dir.path().join("runs")).unwrap().count() <= 1).then_some(())).await;
    eprintln!("removed {:?}", t.elapsed());
}
