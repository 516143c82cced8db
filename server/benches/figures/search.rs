//! Searches in a run of 1,000,000 lines, as the field above the log asks for them: the real program in its own process, over
//! loopback HTTP, signed in. The time includes connection, authorisation and answer. Two lines in three have colours, as ansible's.

use crd::ClusterOperation;
use kube::Api;
use kube::api::PostParams;

use crate::measure::program::Program;
use crate::measure::report::{Report, percentile};
use crate::measure::{eventually, objects};

const LINES: usize = 1_000_000;
const REQUESTS: usize = 50;
const RUN: &str = "long";

pub(crate) async fn run() {
    let mut report = Report::new();
    let program = Program::start(&[]).await;
    let (cookie, client) = (program.sign_in().await, program.client().await);
    objects::clusters(&client, 0..1).await;
    let operation = objects::operation(RUN, "c-0", &script());
    let operations = Api::all(client.clone());
    operations.create(&PostParams::default(), &operation).await.expect("an operation");
    eventually("the run to end", async || {
        let operation: ClusterOperation = operations.get(RUN).await.expect("it is there");
        operation.status.is_some_and(|status| status.status.is_final()).then_some(())
    })
    .await;
    program.idle().await;
    let last = program.get(&path("a needle at the end"), &cookie).await.body;
    assert!(last.contains("\"total\":1,"), "{last}");
    for (what, text) in [
        ("a text in one line", "a needle at the end"),
        ("a text with a capital in no line", "No such text"),
        ("a text in a tenth of the lines", "worker-7"),
        ("one letter that is in each line", "o"),
    ] {
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            times.push(program.get(&path(text), &cookie).await.whole);
        }
        report.at_most(format!("{what}, p50"), percentile(&mut times, 50), 50.0, "ms");
        report.add(format!("{what}, p99"), format!("{:.1} ms", percentile(&mut times, 99)));
    }
    report.print();
}

fn path(text: &str) -> String {
    format!("/api/find_lines?name={RUN}&q={}", text.replace(' ', "+"))
}

/// Prints lines that are about as long as ansible's.
fn script() -> String {
    format!(
        "exec python3 - <<'END'
import sys
for n in range({LINES} // 10):
    sys.stdout.write(''.join(f'\\033[0;32mok: [worker-{{line}}] => (item=package-{{n}}) all is as the role wants it\\033[0m\\n' if line % 3 else f'    \"stdout\": \"read {{n}} of what host worker-{{line}} has said about itself\",\\n' for line in range(10)))
print('a needle at the end')
END"
    )
}
