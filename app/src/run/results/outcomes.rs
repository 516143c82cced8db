//! The results that playbooks publish: maps of hosts and lists of maps as tables, other values with a label each.

use leptos::prelude::*;
use serde_json::{Map, Value};

use super::super::state::Run;
use crate::routes;
use crate::ui::dynamic;
use crate::words::{capitalised, whole};

/// A row for each host or entry, a column for each value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    /// What the rows are.
    heading: String,
    columns: Vec<String>,
    /// The first cell of each row, and the others.
    rows: Vec<(String, Vec<String>)>,
}

/// The keys that name the entries of a list.
const NAMES: [&str; 3] = ["name", "node", "host"];

/// Parts of a result are shown by themselves down to this depth: the members of etcd in `cluster` are at 2. Deeper ones are text.
const DEPTH: u8 = 2;

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
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Object(_) => value.to_string(),
    }
}

/// A value as text; "–" if there is none.
fn cell(value: Option<&Value>) -> String {
    value.map(plain).filter(|text| !text.is_empty()).unwrap_or_else(|| "–".into())
}

type Row<'v> = (String, &'v Map<String, Value>);

/// The table of a value that maps names to maps, or lists maps that have a name; `None` for any other value. At depth 0, which is
/// that of a result itself, the names are those of hosts.
fn table(key: &str, value: &Value, depth: u8) -> Option<Table> {
    match value {
        Value::Object(maps) if !maps.is_empty() => {
            let rows = maps.iter().map(|(name, values)| Some((name.clone(), values.as_object()?)));
            let rows: Vec<Row<'_>> = rows.collect::<Option<_>>()?;
            Some(match (key, depth) {
                ("facts", 0) => facts_table(&rows),
                (_, 0) => table_of("Host", "", &rows),
                _ => table_of("Name", "", &rows),
            })
        }
        Value::Array(entries) if !entries.is_empty() => {
            let maps: Vec<_> = entries.iter().map(Value::as_object).collect::<Option<_>>()?;
            let name = name_of(&maps)?;
            let rows: Vec<Row<'_>> = maps.into_iter().map(|map| (cell(map.get(name)), map)).collect();
            Some(table_of(&words(name), name, &rows))
        }
        _ => None,
    }
}

/// The key that names these entries, if possible each of them differently.
fn name_of(maps: &[&Map<String, Value>]) -> Option<&'static str> {
    let keys = || NAMES.into_iter().filter(|name| maps.iter().all(|map| map.contains_key(*name)));
    let differs = |name: &&str| (1..maps.len()).all(|at| maps[..at].iter().all(|map| map[*name] != maps[at][*name]));
    keys().find(differs).or_else(|| keys().next())
}

/// `without` is the key that `heading` stands for.
fn table_of(heading: &str, without: &str, rows: &[Row<'_>]) -> Table {
    let mut columns: Vec<String> = Vec::new();
    for key in rows.iter().flat_map(|(_, values)| values.keys()).filter(|key| *key != without) {
        if !columns.contains(key) {
            columns.push(key.clone());
        }
    }
    let cells = |values: &Map<String, Value>| columns.iter().map(|key| cell(values.get(key))).collect();
    let rows = rows.iter().map(|(first, values)| (first.clone(), cells(values))).collect();
    Table { heading: heading.into(), columns: columns.iter().map(|key| words(key)).collect(), rows }
}

fn facts_table(rows: &[Row<'_>]) -> Table {
    let columns: Vec<_> = FACTS.iter().filter(|(_, of)| rows.iter().any(|(_, facts)| of(facts).is_some())).collect();
    let cells =
        |facts: &Map<String, Value>| columns.iter().map(|(_, of)| of(facts).unwrap_or_else(|| "–".into())).collect();
    let rows = rows.iter().map(|(host, facts)| (host.clone(), cells(facts))).collect();
    Table { heading: "Host".into(), columns: columns.iter().map(|(word, _)| (*word).to_owned()).collect(), rows }
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
    let run = expect_context::<Run>();
    let title = words(&key);
    let restore = value["file"].as_str().filter(|_| key == "snapshot").and_then(|file| restore_link(run, file));
    view! {
        <section class="outcome">
            <h2>{title.clone()}</h2>
            {body(&key, &title, value, 0)}
            {restore}
        </section>
    }
}

fn restore_link(run: Run, file: &str) -> Option<AnyView> {
    let href = run.detail.with_untracked(|detail| {
        let action = &detail.restored_by;
        (!action.is_empty()).then(|| routes::restore_etcd(&detail.row.cluster, action, file))
    })?;
    Some(view! { <p class="outcome-text"><a class="btn small" href=href>"Restore this snapshot…"</a></p> }.into_any())
}

/// A table, a list of labels and values with the tables that are among the values, or a text.
fn body(key: &str, title: &str, value: Value, depth: u8) -> AnyView {
    if let Some(table) = table(key, &value, depth) {
        return view! { <OutcomeTable title=title.to_owned() table/> }.into_any();
    }
    let map = match value {
        Value::Object(map) if !map.values().all(|value| plain(value).is_empty()) => map,
        value => return view! { <p class="outcome-text">{cell(Some(&value))}</p> }.into_any(),
    };
    let has_heading = |value: &Value| depth < DEPTH && has_parts(value, depth + 1);
    let (parts, facts): (Vec<_>, Vec<_>) = map.into_iter().partition(|(_, value)| has_heading(value));
    let facts = facts.iter().map(|(key, value)| (words(key), plain(value))).filter(|(_, text)| !text.is_empty());
    let facts: Vec<_> = facts
        .map(|(label, text)| {
            view! {
                <dt>{label}</dt>
                <dd>{text}</dd>
            }
        })
        .collect();
    let parts = parts.into_iter().map(|(key, value)| {
        let word = words(&key);
        let label = if depth == 0 { word.clone() } else { format!("{title}: {word}") };
        let heading = match depth {
            0 => view! { <h3>{word}</h3> }.into_any(),
            _ => view! { <h4>{word}</h4> }.into_any(),
        };
        (heading, body(&key, &label, value, depth + 1))
    });
    let parts: Vec<_> = parts.collect();
    let facts = (!facts.is_empty()).then(|| view! { <dl class="facts">{facts}</dl> });
    (facts, parts).into_any()
}

/// Whether the value needs a heading of its own.
fn has_parts(value: &Value, depth: u8) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(_) => table("", value, depth).is_some(),
        _ => false,
    }
}

#[component]
fn OutcomeTable(title: String, table: Table) -> impl IntoView {
    let Table { heading, columns, rows } = table;
    let heads = columns.clone().into_iter().map(|word| view! { <th scope="col">{word}</th> });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table class="rows">
                <thead>
                    <tr><th scope="col">{heading}</th> {heads.collect_view()}</tr>
                </thead>
                <tbody>
                    {rows
                        .into_iter()
                        .map(|(first, cells)| {
                            let labelled = columns.iter().cloned().zip(cells);
                            view! {
                                <tr>
                                    <th scope="row">{first}</th>
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
        let table = table("facts", &value, 0).unwrap();
        assert_eq!(table.columns, ["System", "CPUs", "Memory", "Swap", "Disk of /", "Addresses", "Virtualisation"]);
        let (host, cells) = &table.rows[0];
        assert_eq!(host, "m1");
        assert_eq!(cells[2..], ["16.0 GiB", "none", "512 MiB free of 10.0 GiB", "10.0.0.1, 10.0.0.2", "kvm guest"]);
    }

    #[test]
    fn a_clock_is_right_ahead_or_behind() {
        let skewed = |s| {
            let table = table("facts", &json!({"m1": {"clock_skew_seconds": s}}), 0).unwrap();
            table.rows[0].1.last().unwrap().clone()
        };
        assert_eq!([skewed(0), skewed(3600), skewed(-7)], ["right", "3600 s ahead", "7 s behind"]);
    }

    #[test]
    fn other_outcomes_show_all_their_values() {
        let other = table("etcd", &json!({"a": {"x_y": 1}, "b": {"y": true}}), 0).unwrap();
        assert_eq!(other.columns, ["X y", "Y"]);
        assert_eq!(other.rows[1], ("b".to_owned(), vec!["–".to_owned(), "yes".to_owned()]));
        assert_eq!(table("x", &json!({"a": 1}), 0), None);
        assert_eq!(table("facts", &json!({}), 0), None);
        assert_eq!(words("etcd_health"), "Etcd health");
        let disks = json!({"sda": {"gb": 1}});
        assert_eq!(
            (table("facts", &disks, 1).unwrap().heading, table("x", &disks, 0).unwrap().heading),
            ("Name".into(), "Host".into())
        );
    }
    #[test]
    fn a_list_of_named_entries_is_a_table() {
        let nodes = json!([{"name": "m1", "ready": true, "roles": ["control-plane"]}, {"name": "w1", "ready": false, "message": ""}]);
        let table = table("nodes", &nodes, 1).unwrap();
        assert_eq!(
            (table.heading.as_str(), table.columns),
            ("Name", ["Ready", "Roles", "Message"].map(String::from).to_vec())
        );
        let row = |name: &str, cells: [&str; 3]| (name.to_owned(), cells.map(String::from).to_vec());
        assert_eq!(table.rows, [row("m1", ["yes", "control-plane", "–"]), row("w1", ["no", "–", "–"])]);
    }

    #[test]
    fn rows_are_named_differently_if_they_can_be() {
        let first =
            |value: Value| table("x", &value, 1).unwrap().rows.into_iter().map(|(first, _)| first).collect::<Vec<_>>();
        assert_eq!(first(json!([{"name": "api", "node": "m1"}, {"name": "api", "node": "m2"}])), ["m1", "m2"]);
        assert_eq!(first(json!([{"name": "api", "node": "m1"}, {"name": "ca", "node": "m1"}])), ["api", "ca"]);
        let same = json!([{"name": "api", "node": "m1"}, {"name": "ca", "node": "m1"}, {"name": "ca", "node": "m2"}]);
        assert_eq!(first(same), ["api", "ca", "ca"]);
    }

    #[test]
    fn lists_without_names_are_text() {
        for value in [json!([]), json!([1, 2]), json!([{"x": 1}]), json!([{"name": "a"}, {"node": "b"}])] {
            assert_eq!(table("x", &value, 1), None, "{value}");
        }
    }
}
