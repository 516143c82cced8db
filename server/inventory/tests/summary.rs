//! Summaries of changes of an inventory or variables.

use kubeonkube_inventory::{diff, parse, parse_vars};

fn said(old: &str, new: &str) -> Vec<String> {
    diff::summary(&parse(old).expect("old"), &parse(new).expect("new"))
}

const OLD: &str = "
all: {hosts: {node1: {ansible_host: 10.0.0.1}, node2: }, vars: {x: 1}}
kube_node: {hosts: {node1: , node2: }}
etcd: {hosts: {node1: }}
";

#[test]
fn without_a_change_the_summary_is_empty() {
    assert!(said(OLD, OLD).is_empty());
}

#[test]
fn added_and_removed_hosts_are_named_with_their_groups() {
    let new = "
all: {hosts: {node1: {ansible_host: 10.0.0.9, ip: 10.0.0.9}, node4: }, vars: {x: 2}}
kube_node: {hosts: {node4: , node1: }}
etcd: {hosts: {node4: }}
extra: {hosts: {node1: }}
";
    assert_eq!(
        said(OLD, new),
        [
            "node1 added to extra",
            "node1 removed from etcd",
            "ansible_host of node1 changed from 10.0.0.1 to 10.0.0.9",
            "ip of node1 set to 10.0.0.9",
            "node4 added to kube_node, etcd",
            "node2 removed",
            "variable x changed from 1 to 2",
            "group extra added",
        ]
    );
}

#[test]
fn order_and_nesting_of_groups_are_compared() {
    let a = "all: {hosts: {a: , b: }}\nkube_control_plane: {hosts: {a: , b: }}\nk: {children: {kube_control_plane: }, vars: {v: [1]}}\n";
    let b = "all: {hosts: {a: , b: }}\nkube_control_plane: {hosts: {b: , a: }}\nk: {vars: {v: [2]}}\n";
    assert_eq!(
        said(a, b),
        [
            "order of hosts in kube_control_plane changed",
            "group kube_control_plane removed from k",
            "v of group k changed from [1] to [2]"
        ]
    );
}

#[test]
fn a_summary_has_no_secret_values() {
    let old = parse_vars(
        "my_password: hunter1\nv: !vault |\n  $ANSIBLE_VAULT;1.1\n  00\nproxy: 'http://u:hunter2@p'\nusers: [{name: a}]\nn: 1\n",
    );
    let new = parse_vars(
        "my_password: hunter3\nv: hunter4\nproxy: http://p\nusers: [{name: hunter5}]\nn: 2\napi_token: hunter6\n",
    );
    let said = diff::summary_of_vars(&old.expect("old"), &new.expect("new"));
    assert_eq!(
        said,
        [
            "variable my_password changed",
            "variable v changed",
            "variable proxy changed",
            "variable users changed",
            "variable n changed from 1 to 2",
            "variable api_token set",
        ]
    );
}
