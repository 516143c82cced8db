//! Machines from a form, from pasted lines, and written as an inventory.

use api::cluster::MachineRow;
use api::machine::MachineRole;
use kubeonkube_inventory::{
    Machine, Role, give_roles, machines, machines_from_lines, machines_from_rows, parse, write,
};

fn lines(text: &str) -> Vec<Machine> {
    machines_from_lines(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

#[track_caller]
fn refused(text: &str, line: usize, words: &[&str]) {
    let problems = machines_from_lines(text).expect_err(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let said = problems[0].to_string();
    assert_eq!(problems[0].line, line, "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
    assert!(said.ends_with('.'), "{said}");
}

#[test]
fn lines_are_read_as_people_write_them() {
    let read = lines(
        "# my machines
node1 10.0.0.1

10.0.0.2   # no name
root@10.0.0.3:2222
node4\t10.0.0.4 kube_node,etcd user=ubuntu
node5 ansible_host=10.0.0.5 ansible_user=root ansible_port=23 ip=192.168.0.5
node6.example.com worker
deploy@node7 control-plane
node8 fd00::8 x='a b' n=3 t=True
[fd00::9]:22
; the end",
    );
    let short: Vec<_> = read
        .iter()
        .map(|m| (m.name.as_str(), m.address.as_deref(), m.user.as_deref(), m.port, m.roles.as_slice()))
        .collect();
    assert_eq!(
        short,
        [
            ("node1", Some("10.0.0.1"), None, None, &[][..]),
            ("node2", Some("10.0.0.2"), None, None, &[]),
            ("node3", Some("10.0.0.3"), Some("root"), Some(2222), &[]),
            ("node4", Some("10.0.0.4"), Some("ubuntu"), None, &[Role::Worker, Role::Etcd]),
            ("node5", Some("10.0.0.5"), Some("root"), Some(23), &[]),
            ("node6.example.com", None, None, None, &[Role::Worker]),
            ("node7", None, Some("deploy"), None, &[Role::ControlPlane]),
            ("node8", Some("fd00::8"), None, None, &[]),
            ("node9", Some("fd00::9"), None, Some(22), &[]),
        ]
    );
    assert_eq!(read[4].vars["ip"], "192.168.0.5");
    assert_eq!(read[7].vars, *serde_json::json!({"x": "a b", "n": 3, "t": true}).as_object().expect("object"));
}

#[test]
fn a_range_is_many_machines() {
    let read = lines("node[1:3] 10.0.0.[11:13] worker");
    assert_eq!(read.len(), 3);
    assert_eq!((read[2].name.as_str(), read[2].address.as_deref()), ("node3", Some("10.0.0.13")));
    assert_eq!(lines("10.0.0.[1:4]").len(), 4);
    refused("node[1:3] 10.0.0.[1:2]", 1, &["3 names", "2 addresses"]);
    refused("a\nnode[3:1]", 2, &["range"]);
}

#[test]
fn duplicate_machines_are_refused_with_both_lines() {
    refused("node1 10.0.0.1\n\nnode1 10.0.0.2", 3, &["“node1”", "line 1"]);
    refused("a 10.0.0.1\nb 10.0.0.1", 2, &["“10.0.0.1”", "line 1"]);
    refused("node2 10.0.0.1\n10.0.0.2", 2, &["“node2”"]);
    assert_eq!(lines("a 127.0.0.1:2201\nb 127.0.0.1:2202").len(), 2);
}

#[test]
fn invalid_lines_are_refused_with_the_reason() {
    refused("ok\nnode1;rm 10.0.0.1", 2, &["“node1;rm”", "can't be a machine's name"]);
    refused("node1 10.0.0.1;reboot", 1, &["neither an IP address nor a DNS name"]);
    refused("node1 10.0.0.256", 1, &["IPv4"]);
    refused("Node_1 10.0.0.1", 1, &["lower-case"]);
    refused("-e@x 10.0.0.1", 1, &["“-e”"]);
    refused("node1 10.0.0.1:70000", 1, &["“70000”", "65535"]);
    refused("node1 10.0.0.1 boss", 1, &["“boss”", "kube_control_plane"]);
    refused("node1 a-b=c", 1, &["variable"]);
    refused("node1 x='open", 1, &["quotation mark"]);
    refused("[kube_node]\n", 1, &["“[kube_node]” is a header of an ini inventory", "ansible-inventory -i hosts.ini"]);
    refused("# ours\nn1 10.0.0.1\n[all]   # every machine\nn1\n[all:vars]\na=1\n", 3, &["ini inventory"]);
    refused("all:\n  hosts:\n    n1: {ansible_host: 10.0.0.1}\n", 1, &["YAML", "Configuration tab"]);
    refused("node1 \u{1b}[31m", 1, &["control character"]);
    assert!(lines("\n  \n# nothing\n").is_empty());
}

#[test]
fn a_private_key_is_no_machine_and_is_not_quoted() {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";
    let key =
        format!("n1\n-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\nc2hvcnRFMQ==\n-----END OPENSSH PRIVATE KEY-----\n");
    refused(&key, 2, &["a private key", "field"]);
    let problems = machines_from_lines(&key).expect_err("a key");
    assert!(problems.iter().all(|problem| !problem.message.contains("c2hv")), "{problems:?}");
}

#[test]
fn every_bad_line_is_reported_up_to_a_limit() {
    let many = "bad;name\n".repeat(1000);
    assert_eq!(machines_from_lines(&many).expect_err("bad").len(), kubeonkube_inventory::limits::PROBLEMS);
    assert!(machines_from_lines(&"x".repeat(10 << 20)).expect_err("10 MB")[0].message.contains("bytes"));
}

#[test]
fn problems_of_form_rows_name_the_field() {
    let row = |name: &str, address: &str, user: &str, port: &str, role: &str| MachineRow {
        name: name.into(),
        address: address.into(),
        user: user.into(),
        port: port.into(),
        role: role.into(),
    };
    let good = [row(" n1 ", "10.0.0.1", "root", "", ""), MachineRow::default(), row("n2", "", "", "23", "worker")];
    let read = machines_from_rows(&good, MachineRole::Both).expect("good");
    assert_eq!((read.len(), read[0].name.as_str(), read[1].port), (2, "n1", Some(23)));
    assert_eq!(read[0].roles, [Role::ControlPlane, Role::Worker]);
    let added = machines_from_rows(&good, MachineRole::Worker).expect("good");
    assert_eq!(added[0].roles, [Role::Worker], "what a row without a role means depends on the form");
    let bad = [
        row("", "10.0.0.1", "", "", ""),
        row("n;rm", "not an address", "ro ot", "x", "boss"),
        row("n1", "10.0.0.9", "", "", ""),
        row("n1", "10.0.0.8", "", "", ""),
    ];
    let told = machines_from_rows(&bad, MachineRole::Both).expect_err("bad");
    let told: Vec<_> = told.into_iter().map(|p| (p.row, p.field)).collect();
    assert_eq!(told, [(0, "name"), (1, "role"), (1, "port"), (1, "name"), (1, "address"), (1, "user"), (3, "name")]);
}

#[test]
fn machines_without_roles_get_roles() {
    let mut one = lines("a");
    give_roles(&mut one);
    assert_eq!(one[0].roles, [Role::ControlPlane, Role::Worker, Role::Etcd]);
    let mut five = lines("node[1:5]");
    give_roles(&mut five);
    let count = |machines: &[Machine], role| machines.iter().filter(|m| m.roles.contains(&role)).count();
    assert_eq!([Role::ControlPlane, Role::Worker, Role::Etcd].map(|r| count(&five, r)), [3, 5, 3]);
    let mut planes = lines("a control-plane\nb control-plane\nc");
    give_roles(&mut planes);
    assert_eq!([Role::ControlPlane, Role::Worker, Role::Etcd].map(|r| count(&planes, r)), [2, 1, 1]);
}

#[test]
fn a_written_inventory_is_easy_to_read() {
    let mut machines =
        lines("node1 root@10.0.0.1\nnode2 10.0.0.2:2222 note='a: b # c'\nnode3 10.0.0.3 etcd_member_name=etcd1");
    give_roles(&mut machines);
    assert_eq!(
        write(&machines),
        "\
all:
  hosts:
    node1:
      ansible_host: 10.0.0.1
      ansible_user: root
      etcd_member_name: etcd2
    node2:
      ansible_host: 10.0.0.2
      ansible_port: 2222
      note: \"a: b # c\"
      etcd_member_name: etcd3
    node3:
      ansible_host: 10.0.0.3
      etcd_member_name: etcd1
  children:
    kube_control_plane:
      hosts:
        node1:
        node2:
        node3:
    kube_node:
      hosts:
        node1:
        node2:
        node3:
    etcd:
      hosts:
        node1:
        node2:
        node3:
    k8s_cluster:
      children:
        kube_control_plane:
        kube_node:
"
    );
}

/// A small deterministic generator, which makes the same texts on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn text(&mut self) -> String {
        const NASTY: [&str; 30] = [
            "yes",
            "~",
            "null",
            "0644",
            "1e3",
            "12:30:45",
            "2024-01-01",
            "- a",
            "a: b",
            "a #b",
            "#x",
            "'",
            "\"",
            "\\",
            "\n",
            "\t",
            " ",
            "{",
            "[",
            "*a",
            "&a",
            "!x",
            "%",
            "@",
            "`",
            "é節",
            "\u{2028}",
            "\u{85}",
            "😀",
            "x",
        ];
        (0..self.roll(4)).map(|_| NASTY[self.roll(NASTY.len())]).collect()
    }
}

#[test]
fn a_written_inventory_is_read_back_the_same() {
    let mut dice = Dice(7);
    for round in 0..400 {
        let machines: Vec<Machine> = (0..=dice.roll(5))
            .map(|n| {
                let names = ["1", "null", "no", "on", "y", "1e3", "10.0.0.1", "0x1f", "true", "node"];
                let mut machine = Machine {
                    name: if n == 0 { names[round % names.len()].into() } else { format!("n{n}") },
                    address: (dice.roll(3) > 0)
                        .then(|| ["10.0.0.1", "fd00::1", "a.example", "fe80::1%eth0", "123"][dice.roll(5)].into()),
                    user: (dice.roll(2) > 0).then(|| ["root", "no", "007", "a@b"][dice.roll(4)].into()),
                    port: (dice.roll(2) > 0).then(|| u16::try_from(dice.roll(65535) + 1).expect("a port")),
                    roles: Role::ALL.into_iter().filter(|_| dice.roll(2) > 0).collect(),
                    ..Machine::default()
                };
                if machine.roles.contains(&Role::Etcd) {
                    machine.vars.insert("etcd_member_name".into(), format!("e{n}").into());
                }
                machine.vars.insert("text".into(), dice.text().into());
                machine.vars.insert(
                    "deep".into(),
                    serde_json::json!([{dice.text(): dice.text()}, 1.5, -3, 1e21, true, null, [], {}, dice.text()]),
                );
                machine
            })
            .collect();
        let text = write(&machines);
        let read = parse(&text).unwrap_or_else(|invalid| panic!("{invalid}\n{text}"));
        assert_eq!(kubeonkube_inventory::machines(&read), machines, "{text}");
    }
}

#[test]
fn writing_a_read_inventory_changes_nothing() {
    let mut first = lines("node[1:5] 10.0.0.[1:5]");
    give_roles(&mut first);
    let text = write(&first);
    assert_eq!(write(&machines(&parse(&text).expect("own text"))), text);
}
