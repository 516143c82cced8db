//! Memory of the real program per 1,000 objects: standalone, where it contains the Kubernetes API, and as in a cluster, where the
//! Kubernetes API is another process. One object in ten is a Cluster, the others are ended operations.

use crate::measure::program::{Memory, Program};
use crate::measure::report::{Report, rounded};
use crate::measure::{eventually, objects};

/// Objects after each step.
const STEPS: [usize; 5] = [1_000, 2_000, 4_000, 7_000, 10_000];
/// One of so many objects is a Cluster.
const CLUSTER_EVERY: usize = 10;

pub(crate) async fn run() {
    let mut report = Report::new();
    let standalone = Program::start(&[]).await;
    let kubeconfig = standalone.kubeconfig().display().to_string();
    let beside = Program::start(&["--kubeconfig", &kubeconfig]).await;
    let client = standalone.client().await;
    let cookie = beside.sign_in_with(&standalone.kube_token()).await;
    let empty = (standalone.memory(), beside.memory());
    let mut at = Vec::new();
    let mut created = 0;
    for step in STEPS {
        objects::clusters(&client, created / CLUSTER_EVERY..step / CLUSTER_EVERY).await;
        let operations = |objects: usize| objects - objects / CLUSTER_EVERY;
        objects::ended(&client, operations(created)..operations(step), |n| n / (CLUSTER_EVERY - 1)).await;
        created = step;
        eventually("the other process to list all objects", async || {
            let list = beside.get("/api/load_operations?filter[q]=", &cookie).await.body;
            list.contains(&format!("\"all\":{}", operations(step))).then_some(())
        })
        .await;
        at.push((step, idle_memory(&standalone).await, idle_memory(&beside).await));
    }
    report.add("beside a Kubernetes API, empty", shown(empty.1));
    for (step, _, memory) in &at {
        let what = format!("beside a Kubernetes API, {step} objects");
        match step {
            1_000 => report.at_most(what, memory.resident, 25.0, "MB resident"),
            10_000 => report.at_most(what, memory.resident, 60.0, "MB resident"),
            _ => report.add(what, shown(*memory)),
        }
    }
    report.add("standalone, empty", shown(empty.0));
    for (step, memory, _) in &at {
        report.add(format!("standalone, {step} objects"), shown(*memory));
    }
    let (first, last) = (&at[0], &at[at.len() - 1]);
    let per_thousand = |first: Memory, last: Memory| {
        (last.anonymous - first.anonymous) / (STEPS[STEPS.len() - 1] - STEPS[0]) as f64 * 1000.0
    };
    report.add(
        "growth per 1,000 objects, beside a Kubernetes API",
        format!("{} MB", rounded(per_thousand(first.2, last.2))),
    );
    report.add("growth per 1,000 objects, standalone", format!("{} MB", rounded(per_thousand(first.1, last.1))));
    report
        .note("Resident memory includes the used pages of the program's own file; growth is that of anonymous memory.");
    report.print();
}

fn shown(memory: Memory) -> String {
    format!("{} MB resident, {} MB of it anonymous", rounded(memory.resident), rounded(memory.anonymous))
}

async fn idle_memory(program: &Program) -> Memory {
    program.idle().await;
    program.memory()
}
