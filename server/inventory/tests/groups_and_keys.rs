//! What is said about old names of groups, files that a run doesn't have, and encrypted values.

use kubeonkube_inventory::kubernetes::{Settings, problems};
use kubeonkube_inventory::{Kind, Machine, Role, Vars, add_machines, advice, advice_on_vars, parse, parse_vars};

const OLD: &str = "\
all:
  hosts:
    a: {ansible_host: 10.0.0.1}
    b: {ansible_host: 10.0.0.2}
    c: {ansible_host: 10.0.0.3}
  children:
    kube-master:
      hosts:
        b:
        a:
    etcd:
      hosts:
        a:
    kube-node:
      hosts:
        c:
    k8s-cluster:
      children:
        kube-master:
        kube-node:
";

#[test]
fn old_names_of_groups_give_their_roles_and_an_advice() {
    let inventory = parse(OLD).expect("valid");
    let names = |role| inventory.with_role(role).iter().map(|host| host.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(Role::ControlPlane), ["b", "a"]);
    assert_eq!(names(Role::Worker), ["c"]);
    let said = advice(&inventory);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(!said.concat().contains("has no host"), "{said:?}");
    for (said, (old, new)) in said.iter().zip([
        ("kube-master", "kube_control_plane"),
        ("kube-node", "kube_node"),
        ("k8s-cluster", "k8s_cluster"),
    ]) {
        assert!(said.starts_with(&format!("Group {old} is called {new} now.")), "{said}");
        assert!(said.ends_with(&format!("Rename the group to {new}.")), "{said}");
    }
    let old =
        parse("all: {hosts: {a: }}\nkube_control_plane: {hosts: {a: }}\ncalico-rr: {hosts: {a: }}\nno-floating: {}\n");
    assert_eq!(advice(&old.expect("valid")).len(), 2);
}

#[test]
fn the_built_in_engine_says_that_it_does_not_read_them() {
    let inventory = parse(OLD).expect("valid");
    let found = problems(&inventory, &Settings::of(&inventory, &Vars::new()));
    let about: Vec<_> = found.iter().map(|problem| problem.about.as_str()).collect();
    assert!(about.starts_with(&["kube-master", "kube-node"]), "{found:?}");
    assert_eq!(found[0].message, "The playbooks don't read the group kube-master. Rename it to kube_control_plane.");
}

#[test]
fn a_machine_is_added_to_the_old_group() {
    let new = Machine { name: "d".into(), address: Some("10.0.0.4".into()), ..Machine::default() };
    let text = add_machines(OLD, &[new]).expect("added");
    assert_eq!(parse(&text).expect("valid").group("kube-node").expect("a group").hosts, ["c", "d"]);
}

#[test]
fn a_name_that_is_nearly_right_is_a_hint() {
    for group in ["masters", "kube-control-plane", "kube_master", "control_plane"] {
        let said =
            advice(&parse(&format!("all: {{hosts: {{a: }}}}\n{group}: {{hosts: {{a: }}}}\n")).expect("valid")).concat();
        assert!(said.contains(&format!("If group {group} is meant, rename it to kube_control_plane.")), "{said}");
    }
    let said = advice(&parse("all: {hosts: {a: }}\nweb: {hosts: {a: }}\n").expect("valid")).concat();
    assert!(said.contains("has no host") && !said.contains("is meant"), "{said}");
}

#[test]
fn files_and_encrypted_values_are_named_with_their_line() {
    let vault = "!vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6231";
    for (pair, words) in [
        (
            "ansible_ssh_private_key_file: ~/.ssh/id_ed25519",
            ["“ansible_ssh_private_key_file” names a file", "cluster's SSH key"],
        ),
        ("ansible_ssh_common_args: -o ProxyJump=b -i /home/ann/id", ["“/home/ann/id”", "Remove the option"]),
        (
            format!("db_password: {vault}").as_str(),
            ["“db_password” is encrypted with ansible-vault", "secret variable"],
        ),
        (
            "db:\n        a: !vault |\n          $ANSIBLE_VAULT;1.1;AES256\n          6231",
            ["“db” is encrypted with ansible-vault", "secret variable"],
        ),
    ] {
        let host = format!("all:\n  hosts:\n    a:\n      {pair}\nkube_control_plane: {{hosts: {{a: }}}}\n");
        let group = format!("kube_control_plane:\n  hosts: {{a: }}\n  vars:\n      {pair}\n");
        let vars = format!("# ours\n---\n\n{}\n", pair.replace("\n      ", "\n"));
        let of = |text: &str| advice(&parse(text).unwrap_or_else(|why| panic!("{text}: {why}")));
        for said in [of(&host), of(&group), advice_on_vars(&vars)] {
            let [said] = said.as_slice() else { panic!("{pair}: {said:?}") };
            assert!(said.starts_with("Line 4: "), "{said}");
            for word in words {
                assert!(said.contains(word), "{word} is missing in {said}");
            }
            assert!(!said.contains("6231"), "{said}");
        }
    }
}

#[test]
fn a_text_that_is_encrypted_as_a_whole_is_refused() {
    let text = "$ANSIBLE_VAULT;1.1;AES256\n6231\n";
    for refused in [parse(text).expect_err("encrypted"), parse_vars(text).expect_err("encrypted")] {
        assert_eq!(refused.kind, Kind::Encrypted);
        assert!(refused.to_string().starts_with("It is encrypted with ansible-vault"), "{refused}");
    }
}

/// Objects of Kubernetes quote only these.
#[test]
fn old_names_of_groups_are_warnings_of_the_inventory() {
    let inventory = parse("kube-master: {hosts: {a: }}\nk8s-cluster: {children: {kube-master: }}\n").expect("valid");
    let [first, second] = inventory.warnings.as_slice() else { panic!("{:?}", inventory.warnings) };
    assert!(first.starts_with("Group kube-master is called kube_control_plane now. "), "{first}");
    assert!(second.starts_with("Group k8s-cluster is called k8s_cluster now. "), "{second}");
    let said = advice(&inventory);
    assert_eq!(said.iter().filter(|said| said.contains("kube-master")).count(), 1, "{said:?}");
}

#[test]
fn a_variable_with_a_list_of_hosts_is_no_group() {
    for text in ["etcd: {hosts: [10.0.0.1]}\n", "bastion: {hosts: [a, b]}\n", "calico_rr: {hosts: 3}\n"] {
        assert!(parse_vars(text).is_ok(), "{text}: {:?}", parse_vars(text));
    }
    assert!(parse_vars("etcd: {hosts: {n1: }}\n").is_err());
}
