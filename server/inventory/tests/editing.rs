//! Adding and removing hosts changes nothing else in the text.

use kubeonkube_inventory::{Machine, Role, add_machines, parse, remove_hosts};

fn machine(name: &str, address: &str) -> Machine {
    Machine { name: name.into(), address: Some(address.into()), ..Machine::default() }
}

/// The lines that adding `w9` at 10.0.0.9 adds, each with its number.
fn added(text: &str) -> Vec<String> {
    added_as(&[], "w9", text)
}

/// The lines that adding a machine with these roles at 10.0.0.9 adds, each with its number.
fn added_as(roles: &[Role], name: &str, text: &str) -> Vec<String> {
    let edited = add_machines(text, &[Machine { roles: roles.to_vec(), ..machine(name, "10.0.0.9") }]).unwrap();
    let old: Vec<&str> = text.lines().collect();
    let mut rest = old.iter().peekable();
    let added = (1..).zip(edited.lines()).filter(|(_, line)| rest.next_if(|old| *old == line).is_none());
    let added = added.map(|(number, line)| format!("{number}:{line}")).collect();
    assert!(rest.peek().is_none(), "a line was changed:\n{edited}");
    added
}

const WRITTEN: &str = "\
# Frankfurt
all:
  hosts:
    cp1:
      ansible_host: 10.0.0.1
      ansible_user: ops   # everywhere
    w1:
      ansible_host: 10.0.0.2
      ansible_user: ops

  children:
    kube_control_plane:
      hosts:
        cp1:
    kube_node:
      hosts:
        w1:
    # the database
    etcd:
      hosts:
        cp1:
";

#[test]
fn a_worker_is_written_like_the_host_above_it() {
    assert_eq!(
        added(WRITTEN),
        ["10:    w9:", "11:      ansible_host: 10.0.0.9", "12:      ansible_user: ops", "21:        w9:"]
    );
}

#[test]
fn a_worker_gets_the_login_of_a_worker_not_of_a_bastion() {
    let text = WRITTEN.replace("\n  children:\n    kube_control", "    jump:\n      ansible_user: gate\n      ansible_port: 2222\n\n  children:\n    bastion:\n      hosts:\n        jump:\n    kube_control");
    let lines = added(&text);
    assert!(
        lines.iter().any(|line| line.ends_with("ansible_user: ops")) && !lines.iter().any(|line| line.contains("2222")),
        "{lines:?}"
    );
}

#[test]
fn a_worker_is_added_to_a_group_without_hosts() {
    let text = WRITTEN.replace("      hosts:\n        w1:\n", "      hosts:\n");
    assert_eq!(added(&text).last().unwrap(), "20:        w9:");
}

#[test]
fn a_worker_is_added_to_hosts_with_variables_in_the_group() {
    let text = "all:\n  children:\n    kube_control_plane:\n      hosts:\n        cp1: {ansible_host: 10.0.0.1}\n    kube_node:\n      hosts:\n        w1: {ansible_user: ops, ansible_host: 10.0.0.2}\n";
    assert_eq!(added(text), ["9:        w9: {ansible_user: ops, ansible_host: 10.0.0.9}"]);
    assert_eq!(added(text.trim_end()), added(text), "a text without a line break at its end");
}

#[test]
fn a_worker_is_added_to_a_mapping_on_one_line() {
    let text = "all: {children: {kube_control_plane: {hosts: {cp1: {}}}, kube_node: {hosts: {w1: {ansible_host: 10.0.0.2} }}}}\n";
    let edited = add_machines(text, &[machine("w9", "10.0.0.9")]).unwrap();
    assert_eq!(edited, text.replace("10.0.0.2} }", "10.0.0.2}, w9: {ansible_host: 10.0.0.9} }"));
}

#[test]
fn a_worker_is_added_to_the_group_below_kube_node() {
    let text =
        "kube_control_plane:\n  hosts:\n    cp1:\nkube_node:\n  children:\n    big:\nbig:\n  hosts:\n    w[1:3]:\n";
    assert_eq!(added(text), ["10:    w9:", "11:      ansible_host: 10.0.0.9"]);
}

#[test]
fn the_address_in_the_cluster_follows_the_ssh_address() {
    let text = WRITTEN.replace("10.0.0.2\n", "10.0.0.2\n      ip: 10.0.0.2\n");
    assert!(added(&text).iter().any(|line| line.ends_with(" ip: 10.0.0.9")));
    let text = WRITTEN.replace("10.0.0.2\n", "10.0.0.2\n      ip: 192.168.0.2\n");
    assert!(!added(&text).iter().any(|line| line.contains("ip:")), "another network: nobody knows its address there");
}

#[test]
fn what_can_not_be_edited_is_refused_with_the_reason() {
    let refused = |text: &str, name: &str| add_machines(text, &[machine(name, "10.0.0.9")]).unwrap_err();
    assert!(refused(WRITTEN, "w1").contains("already"));
    assert!(refused("all: {hosts: {a: {}}}", "w9").contains("kube_node"));
    let alias = "x: &x {hosts: {a: {}}}\nkube_control_plane: *x\nkube_node: *x\n";
    assert!(refused(alias, "w9").contains("Configuration tab"), "a worker would also become a control plane");
    assert!(remove_hosts("kube_node:\n  hosts:\n    w[1:3]:\n", &["w2"]).unwrap_err().contains("range"));
}

#[test]
fn adding_and_removing_a_host_restores_the_text() {
    let flow = "all: {hosts: {cp1: {ansible_host: 10.0.0.1}, w1: {ansible_host: 10.0.0.2}}, children: {kube_control_plane: {hosts: {cp1: {}}}, kube_node: {hosts: {w1: {}}}}}\n";
    for text in [WRITTEN, flow] {
        let two = [machine("w9", "10.0.0.9"), machine("w10", "10.0.0.10")];
        let edited = add_machines(text, &two).unwrap();
        assert_eq!(remove_hosts(&edited, &["w9", "w10"]).unwrap(), text);
    }
    let shorter = remove_hosts(WRITTEN, &["w1"]).unwrap();
    assert!(!shorter.contains("w1") && shorter.contains("# everywhere") && shorter.contains("# the database"));
    assert_eq!(shorter.lines().count(), WRITTEN.lines().count() - 4);
}

#[test]
fn a_control_plane_joins_the_groups_of_its_roles_and_etcd() {
    assert_eq!(
        added_as(&[Role::ControlPlane], "cp9", WRITTEN),
        [
            "10:    cp9:",
            "11:      ansible_host: 10.0.0.9",
            "12:      ansible_user: ops",
            "18:        cp9:",
            "26:        cp9:"
        ]
    );
    let both = added_as(&[Role::ControlPlane, Role::Worker], "cp9", WRITTEN);
    assert_eq!(both.iter().filter(|line| line.ends_with("        cp9:")).count(), 3, "{both:?}");
    let no_etcd = WRITTEN.split("    # the database").next().unwrap();
    assert_eq!(added_as(&[Role::ControlPlane], "cp9", no_etcd).len(), 4, "without the group, etcd follows anyway");
    let separate = WRITTEN.replace("    etcd:\n      hosts:\n        cp1:", "    etcd:\n      hosts:\n        db1:");
    assert_eq!(added_as(&[Role::ControlPlane], "cp9", &separate).len(), 4, "etcd runs on other machines");
}

#[test]
fn an_etcd_group_of_the_control_planes_needs_no_entry() {
    let text = "kube_control_plane:\n  hosts:\n    cp1: {ansible_host: 10.0.0.1}\nkube_node:\n  hosts:\n    w1:\netcd:\n  children:\n    kube_control_plane:\n";
    let added = added_as(&[Role::ControlPlane], "cp9", text);
    assert_eq!(added, ["4:    cp9: {ansible_host: 10.0.0.9}"]);
}

#[test]
fn a_member_of_etcd_gets_the_next_name() {
    let named = WRITTEN.replace("10.0.0.1\n", "10.0.0.1\n      etcd_member_name: etcd1\n");
    let two = ["cp2", "cp3"].map(|name| Machine { roles: vec![Role::ControlPlane], ..machine(name, name) });
    let after = parse(&add_machines(&named, &two).unwrap()).unwrap();
    let name = |host: &str| after.host(host).unwrap().vars.get("etcd_member_name").map(ToString::to_string);
    assert_eq!([name("cp2"), name("cp3")], [Some("\"etcd2\"".into()), Some("\"etcd3\"".into())]);
    assert_eq!(after.etcd().iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), ["cp1", "cp2", "cp3"]);
}

#[test]
fn both_roles_are_added_together_and_removed_again() {
    let planes = ["cp2", "cp3"].map(|name| Machine { roles: vec![Role::ControlPlane], ..machine(name, name) });
    let all = [planes.to_vec(), vec![machine("w9", "10.0.0.9")]].concat();
    let edited = add_machines(WRITTEN, &all).unwrap();
    let after = parse(&edited).unwrap();
    assert_eq!((after.control_plane().len(), after.workers().len(), after.etcd().len()), (3, 2, 3));
    assert_eq!(remove_hosts(&edited, &["cp2", "cp3", "w9"]).unwrap(), WRITTEN);
}

/// Warnings name lines, and those change.
#[test]
fn an_inventory_with_warnings_can_be_changed() {
    for warned in ["ansible_ssh_private_key_file: ~/.ssh/id_rsa", "node-labels: x", "x: “y”"] {
        let text = format!("{WRITTEN}  vars:\n    {warned}\n");
        assert_eq!(parse(&text).unwrap().warnings.len(), 1, "{warned}");
        assert_eq!(added(&text).len(), 4);
        let text = add_machines(&text, &[machine("w8", "10.0.0.8")]).unwrap();
        assert_eq!(parse(&remove_hosts(&text, &["w8"]).unwrap()).unwrap().hosts.len(), 2);
    }
    let mut own = machine("w9", "10.0.0.9");
    own.vars.insert("ansible_ssh_private_key_file".into(), "~/.ssh/x".into());
    assert!(add_machines(WRITTEN, &[own]).is_ok());
}
