//! The results that playbooks publish: maps of hosts as a table, other values with a label each.

use leptos::prelude::*;
use serde_json::{Map, Value};

use super::super::state::Run;
use crate::ui::dynamic;
use crate::words::{capitalised, whole};

/// A row for each host, a column for each value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    columns: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

/// A column: its heading, and how its value is made from a machine's facts.
type Column = (&'static str, fn(&Map<String, Value>) -> Option<String>);

/// The columns of the facts that `facts.yml` collects, in this order.
const FACTS: &[Column] = &[
    ("System", |facts| text(facts, "os")),
    ("Kernel", |facts| text(facts, "kernel")),
    ("Architecture", |facts| text(facts, "arch")),
    ("CPUs", |facts| text(facts, "cpus")),
    ("Memory", |facts| megabytes(facts, "memory_mb")),
    ("Swap", |facts| match number(facts, "swap_mb")? {
        0.0 => Some("none".into()),
        _ => megabytes(facts, "swap_mb"),
    }),
    ("Disk of /", |facts| {
        Some(format!("{} free of {}", megabytes(facts, "disk_free_mb")?, megabytes(facts, "disk_total_mb")?))
    }),
    ("Addresses", |facts| text(facts, "ips").filter(|ips| !ips.is_empty()).or_else(|| text(facts, "default_ip"))),
    ("Virtualisation", |facts| {
        let kind = text(facts, "virtualization_type").filter(|kind| !kind.is_empty() && kind != "NA");
        Some(kind.map_or_else(
            || "none".into(),
            |kind| [kind, text(facts, "virtualization_role").unwrap_or_default()].join(" "),
        ))
    }),
    ("Python", |facts| text(facts, "python")),
    ("Clock", |facts| match number(facts, "clock_skew_seconds")? {
        0.0 => Some("right".into()),
        skew => Some(format!("{} s {}", whole(skew.abs()), if skew > 0.0 { "ahead" } else { "behind" })),
    }),
];

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key).map(plain)
}

fn number(map: &Map<String, Value>, key: &str) -> Option<f64> {
    let value = map.get(key)?;
    // Older versions of ansible write numbers as text. `f64::parse` would add 10 KB of wasm; serde_json has its own parser.
    value.as_f64().or_else(|| serde_json::from_str(value.as_str()?).ok())
}

fn megabytes(map: &Map<String, Value>, key: &str) -> Option<String> {
    let mb = whole(number(map, key)?.round());
    let tenths = (mb * 10 + 512) / 1024;
    Some(if mb >= 1024 { format!("{}.{} GiB", tenths / 10, tenths % 10) } else { format!("{mb} MiB") })
}

/// A value as text for people.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(n) => n.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(_) => value.to_string(),
    }
}

/// The table of a value that maps hosts to maps; `None` for any other value.
fn table(key: &str, value: &Value) -> Option<Table> {
    let hosts: Vec<(&String, &Map<String, Value>)> = value
        .as_object()?
        .iter()
        .map(|(host, facts)| facts.as_object().map(|facts| (host, facts)))
        .collect::<Option<_>>()?;
    if hosts.is_empty() {
        return None;
    }
    if key == "facts" {
        let columns: Vec<_> =
            FACTS.iter().filter(|(_, of)| hosts.iter().any(|(_, facts)| of(facts).is_some())).collect();
        let row = |facts: &Map<String, Value>| {
            columns.iter().map(|(_, of)| of(facts).unwrap_or_else(|| "–".into())).collect()
        };
        let rows = hosts.iter().map(|(host, facts)| ((*host).clone(), row(facts))).collect();
        return Some(Table { columns: columns.iter().map(|(word, _)| (*word).to_owned()).collect(), rows });
    }
    let mut columns: Vec<String> = Vec::new();
    for key in hosts.iter().flat_map(|(_, facts)| facts.keys()) {
        if !columns.contains(key) {
            columns.push(key.clone());
        }
    }
    let row =
        |facts: &Map<String, Value>| columns.iter().map(|key| text(facts, key).unwrap_or_else(|| "–".into())).collect();
    let rows = hosts.iter().map(|(host, facts)| ((*host).clone(), row(facts))).collect();
    Some(Table { columns, rows })
}

/// `etcd_health` as `Etcd health`.
fn words(key: &str) -> String {
    capitalised(key.replace(['_', '-'], " "))
}

/// The results of the run. A piece of the page.
#[component]
pub fn OutcomesTab() -> impl IntoView {
    let run = expect_context::<Run>();
    let outcomes = Memo::new(move |_| run.progress.with(|progress| progress.outcomes.clone()));
    dynamic(move || {
        let outcomes = outcomes.get();
        if outcomes.is_empty() {
            return view! { <p class="muted tab-empty">"This run published no results."</p> }.into_any();
        }
        outcomes.into_iter().map(|(key, value)| view! { <Outcome key value/> }).collect_view().into_any()
    })
}

#[component]
fn Outcome(key: String, value: Value) -> impl IntoView {
    let title = words(&key);
    let body = match (table(&key, &value), value) {
        (Some(table), _) => view! { <OutcomeTable title=title.clone() table/> }.into_any(),
        (None, Value::Object(map)) => {
            let facts = map.into_iter().map(|(key, value)| {
                view! {
                    <dt>{words(&key)}</dt>
                    <dd>{plain(&value)}</dd>
                }
            });
            view! { <dl class="facts">{facts.collect_view()}</dl> }.into_any()
        }
        (None, value) => view! { <p class="outcome-text">{plain(&value)}</p> }.into_any(),
    };
    view! {
        <section class="outcome">
            <h2>{title}</h2>
            {body}
        </section>
    }
}

#[component]
fn OutcomeTable(title: String, table: Table) -> impl IntoView {
    let labels: Vec<String> = table.columns.iter().map(|word| words(word)).collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table class="rows">
                <thead>
                    <tr>
                        <th scope="col">"Host"</th>
                        {labels.iter().map(|word| view! { <th scope="col">{word.clone()}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {table
                        .rows
                        .into_iter()
                        .map(|(host, cells)| {
                            let labelled = labels.iter().cloned().zip(cells);
                            view! {
                                <tr>
                                    <th scope="row">{host}</th>
                                    {labelled
                                        .map(|(label, cell)| view! { <td data-label=label><span class="cut" title=cell.clone()>{cell.clone()}</span></td> })
                                        .collect_view()}
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_a_table_with_units() {
        let value = json!({"m1": {"os": "Debian 12", "cpus": 4, "memory_mb": "16384", "swap_mb": 0, "disk_free_mb": 512,
            "disk_total_mb": 10240, "ips": ["10.0.0.1", "10.0.0.2"], "virtualization_type": "kvm", "virtualization_role": "guest",
            "clock_skew_seconds": null}});
        let table = table("facts", &value).unwrap();
        assert_eq!(table.columns, ["System", "CPUs", "Memory", "Swap", "Disk of /", "Addresses", "Virtualisation"]);
        let (host, cells) = &table.rows[0];
        assert_eq!(host, "m1");
        assert_eq!(cells[2..], ["16.0 GiB", "none", "512 MiB free of 10.0 GiB", "10.0.0.1, 10.0.0.2", "kvm guest"]);
    }

    #[test]
    fn a_clock_is_right_ahead_or_behind() {
        let skewed = |s| {
            let table = table("facts", &json!({"m1": {"clock_skew_seconds": s}})).unwrap();
            table.rows[0].1.last().unwrap().clone()
        };
        assert_eq!([skewed(0), skewed(3600), skewed(-7)], ["right", "3600 s ahead", "7 s behind"]);
    }

    #[test]
    fn other_outcomes_show_all_their_values() {
        let other = table("etcd", &json!({"a": {"x": 1}, "b": {"y": true}})).unwrap();
        assert_eq!(other.rows[1], ("b".to_owned(), vec!["–".to_owned(), "yes".to_owned()]));
        assert_eq!(table("x", &json!({"a": 1})), None);
        assert_eq!(table("facts", &json!({})), None);
        assert_eq!(words("etcd_health"), "Etcd health");
    }
}
