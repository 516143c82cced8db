//! Inventories are read as ansible reads them.

use kubeonkube_inventory::{Kind, Role, advice, parse, parse_vars};
use serde_json::json;

const KUBESPRAY: &str = "\
all:
  vars:
    ansible_user: root
  hosts:
    node1: {ansible_host: 10.0.0.1, ip: 10.0.0.1, etcd_member_name: etcd1}
    node2:
      ansible_host: 10.0.0.2
      ansible_user: ubuntu
      ansible_port: 2222
      ansible_ssh_common_args: '-o ProxyCommand=\"ssh -W %h:%p bastion; true\"'
      ansible_ssh_executable: /opt/ssh
      ansible_python_interpreter: /usr/bin/python3
    node3: {ansible_host: \"fd00::3\", ansible_port: 22}
  children:
    kube_control_plane:
      hosts:
        node1:
    etcd:
      hosts: {node1: }
    kube_node:
      hosts:
        node1:
        node2:
        node3:
    k8s_cluster:
      children:
        kube_control_plane:
        kube_node:
    calico_rr:
      hosts: {}
";

#[test]
fn a_kubespray_inventory_is_read() {
    let inventory = parse(KUBESPRAY).expect("valid");
    let names: Vec<_> = inventory.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["node1", "node2", "node3"]);
    assert_eq!(inventory.control_plane()[0].name, "node1");
    assert_eq!(inventory.etcd().len(), 1);
    assert_eq!(inventory.workers().len(), 3);
    let none = kubeonkube_inventory::Vars::new();
    let reached: Vec<_> = inventory.hosts.iter().map(|host| host.reached(&none).to_string()).collect();
    assert_eq!(reached, ["root@10.0.0.1", "ubuntu@10.0.0.2:2222", "root@[fd00::3]:22"]);
    let node1 = inventory.host("node1").expect("node1");
    assert_eq!(node1.groups, ["kube_control_plane", "etcd", "kube_node"]);
    assert_eq!(node1.roles, [Role::ControlPlane, Role::Worker, Role::Etcd]);
    assert!(advice(&inventory).is_empty(), "{:?}", advice(&inventory));
    assert_eq!(inventory.host("node2").expect("node2").vars["ansible_ssh_executable"], "/opt/ssh");
}

#[test]
fn a_host_named_only_in_a_group_is_a_host() {
    let inventory = parse("kube_node:\n  hosts:\n    node1: {ansible_host: 10.0.0.1}\n").expect("valid");
    assert_eq!(inventory.hosts[0].groups, ["kube_node"]);
    assert_eq!(inventory.groups[0].name, "all");
}

#[test]
fn variables_of_a_host_named_in_several_places_are_merged() {
    let inventory = parse("all: {hosts: {n: {a: 1, b: 1}}}\ng: {hosts: {n: {b: 2}}}\n").expect("valid");
    assert_eq!(inventory.hosts[0].vars, *json!({"a": 1, "b": 2}).as_object().expect("object"));
}

#[test]
fn the_deepest_group_wins_and_the_host_overrides_all() {
    let text = "
all: {hosts: {a: , b: {ansible_user: own}}, vars: {ansible_user: all}}
outer: {vars: {ansible_user: outer}, children: {inner: }}
inner: {vars: {ansible_user: inner}, hosts: {a: , b: }}
";
    let inventory = parse(text).expect("valid");
    assert_eq!(inventory.hosts[0].user.as_deref(), Some("inner"));
    assert_eq!(inventory.hosts[1].user.as_deref(), Some("own"));
}

#[test]
fn roles_come_through_groups_above() {
    let text = "
kube_node: {children: {gpu: {hosts: {g1: }}}}
gpu: {vars: {x: 1}}
";
    assert_eq!(parse(text).expect("valid").hosts[0].roles, [Role::Worker]);
}

#[test]
fn the_first_control_plane_is_the_first_of_its_group() {
    let text = "all: {hosts: {a: , b: , c: }}\nkube_control_plane: {hosts: {c: , a: }}\n";
    let inventory = parse(text).expect("valid");
    let names: Vec<_> = inventory.control_plane().iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["c", "a"]);
}

#[test]
fn ranges_and_ports_in_a_host_name_are_read() {
    let inventory = parse("all: {hosts: {\"node[01:03]\": {a: 1}, \"x:2222\": , \"[fd00::9]:23\": , \"fd00::8\": }}")
        .expect("valid");
    let names: Vec<_> = inventory.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["node01", "node02", "node03", "x", "fd00::9", "fd00::8"]);
    assert_eq!(
        inventory.hosts.iter().map(|h| h.port).collect::<Vec<_>>(),
        [None, None, None, Some(2222), Some(23), None]
    );
    assert_eq!(inventory.hosts[2].vars["a"], 1);
}

#[test]
fn a_section_may_be_a_single_name() {
    let inventory = parse("all:\n  hosts: node1\n  children: kube_node\nkube_node:\n  hosts: node1\n").expect("valid");
    assert_eq!(inventory.hosts[0].roles, [Role::Worker]);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "
all:
  hosts:
    a: &base {ansible_user: root, x: &list [1, 2]}
    b: {<<: *base, ansible_host: 10.0.0.2, y: *list}
    c:
      <<: *base
      ansible_user: other
  children:
    kube_node: {hosts: &both {a: , b: }}
    etcd: {hosts: *both}
";
    let inventory = parse(text).expect("valid");
    assert_eq!(inventory.hosts[1].user.as_deref(), Some("root"));
    assert_eq!(inventory.hosts[1].vars["y"], json!([1, 2]));
    assert_eq!(inventory.hosts[2].user.as_deref(), Some("other"));
    assert_eq!(inventory.etcd().len(), 2);
}

#[test]
fn vault_and_other_tags_are_accepted() {
    let text = "
all:
  hosts:
    n:
      ansible_become_password: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        6231
      raw: !unsafe '{{ not a template }}'
      bin: !!binary aGVsbG8=
";
    let vars = &parse(text).expect("valid").hosts[0].vars;
    assert_eq!(vars["ansible_become_password"], "$ANSIBLE_VAULT;1.1;AES256\n6231\n");
    assert_eq!(vars["raw"], "{{ not a template }}");
}

#[test]
fn values_are_read_as_ansible_reads_them() {
    let vars = parse_vars("a: yes\nb: 'yes'\nc: 0644\nd: 1.5\ne: ~\nf: v1.31.4\ng: 1.31\nh: .inf\ni: off\nj:\n")
        .expect("valid");
    let expected = json!({"a": true, "b": "yes", "c": 420, "d": 1.5, "e": null, "f": "v1.31.4", "g": 1.31, "h": ".inf", "i": false, "j": null});
    assert_eq!(serde_json::Value::Object(vars), expected);
}

#[test]
fn a_variables_file_may_be_empty_but_must_be_a_mapping() {
    for empty in ["", "---\n", "# nothing\n", "{}", "---\n# nothing\n..."] {
        assert!(parse_vars(empty).expect(empty).is_empty());
    }
    assert!(matches!(parse_vars("- a\n").expect_err("a list").kind, Kind::NotAMapping { .. }));
}

#[test]
fn order_of_variables_is_kept() {
    assert_eq!(parse_vars("z: 1\na: 2\nm: 3\n").expect("valid").keys().collect::<Vec<_>>(), ["z", "a", "m"]);
}

#[test]
fn windows_line_ends_byte_order_mark_and_non_ascii_text_work() {
    let inventory = parse("\u{feff}all:\r\n  hosts:\r\n    node1:\r\n      note: Übergröße 節点\r\n").expect("valid");
    assert_eq!(inventory.hosts[0].vars["note"], "Übergröße 節点");
}

#[test]
fn advice_warns_about_what_will_fail() {
    let text = "
all:
  host: {lost: }
  hosts: {Node_1: {ansible_host: 10.0.0.1}, b: {ansible_host: 10.0.0.1}, etcd: {}}
etcd: {hosts: {b: , etcd: }}
";
    let all = advice(&parse(text).expect("valid")).join("\n");
    for part in [
        "kube_control_plane",
        "even number",
        "etcd_member_name",
        "Node_1",
        "same address",
        "Line 3",
        "“host”",
        "of a host and of a group",
    ] {
        assert!(all.contains(part), "{part} is missing in {all}");
    }
}
