//! Variables that ansible never reads are named before a run.

use kubeonkube_inventory::{Kind, advice, advice_on_vars, parse, parse_vars};

const NAMES: [(&str, &str); 9] = [
    ("\"\"", "Its name is empty. Write a name."),
    ("container-manager", "“-”. Write container_manager."),
    ("kube.version", "“.”. Write kube_version."),
    ("\u{A0}kube_version", "U+00A0 (no-break space). Indent with spaces, or write kube_version."),
    ("kube_version\u{200B}", "U+200B (zero-width space). Write kube_version."),
    ("kube version", "a space. Write kube_version."),
    ("1st", "starts with a digit"),
    ("1001", "as a number"),
    ("on", "as true or false"),
];

#[test]
fn a_name_that_is_never_read_is_a_warning_with_its_line() {
    for (name, why) in NAMES {
        let vars = format!("# ours\nkube_proxy_mode: ipvs\n{name}: x\n");
        assert!(parse_vars(&vars).is_ok(), "{vars}");
        let host = format!(
            "all:\n  hosts:\n    n1:\n      {name}: x\n  children: {{kube_control_plane: {{hosts: {{n1: }}}}}}\n"
        );
        let group = format!("all:\n  vars:\n    {name}: x\n  children: {{kube_control_plane: {{hosts: {{n1: }}}}}}\n");
        let of_inventory = |text: &str| advice(&parse(text).unwrap_or_else(|why| panic!("{text}: {why}")));
        for (line, said) in [(3, advice_on_vars(&vars)), (4, of_inventory(&host)), (3, of_inventory(&group))] {
            let [said] = said.as_slice() else { panic!("{name}: {said:?}") };
            let start = format!("Line {line}: ansible never reads the variable “");
            assert!(said.starts_with(&start) && said.contains(why), "{said}");
        }
    }
}

/// Playbooks refuse them in `vars` and `set_fact`: ansible's `isidentifier` asks Python. Templates read them.
#[test]
fn a_word_of_python_as_a_name_is_a_warning() {
    let words = "and as assert async await break class continue def del elif else except finally for from global if import in is \
                 lambda nonlocal or pass raise return try while with yield";
    for word in words.split_whitespace() {
        let why = format!(
            "“{word}” is a word of Python. In playbooks ansible refuses it as the name of a variable. Choose another name."
        );
        assert_eq!(advice_on_vars(&format!("x: 1\n{word}: 1\n")), [format!("Line 2: {why}")]);
        assert_eq!(kubeonkube_inventory::advice_on_variable(word, "1"), [why.as_str()]);
        let inventory = parse(&format!("all:\n  hosts:\n    n1:\n      {word}: 1\n")).expect(word);
        assert!(inventory.warnings.contains(&format!("Line 4: {why}")), "{:?}", inventory.warnings);
    }
    assert_eq!(advice_on_vars("match: 1\ncase: 1\ntype: 1\nprint: 1\nand_: 1\nx: {in: 1, for: 2}\n"), [""; 0]);
    for word in ["not", "False", "None", "True"] {
        let said = advice_on_vars(&format!("\"{word}\": 1\n"));
        assert!(said.len() == 1 && said[0].contains("ansible never reads"), "{said:?}");
    }
}

#[test]
fn variables_that_ansible_sets_itself_are_a_warning() {
    let said = advice_on_vars("groups: {a: b}\nansible_check_mode: true\n\"true\": 1\nname: x\nport: 1\n").join("\n");
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(said.contains("“groups”. It sets this one itself."), "{said}");
}

#[test]
fn variables_that_only_the_inventory_cannot_set_are_a_warning() {
    for name in
        "inventory_hostname inventory_hostname_short group_names ansible_facts ansible_play_role_names".split(' ')
    {
        assert_eq!(advice_on_vars(&format!("{name}: x\n")), [""; 0]);
        for text in [
            format!("all:\n  hosts:\n    n1:\n      {name}: x\n"),
            format!("all:\n  hosts: {{n1: }}\n  vars:\n    {name}: x\n"),
        ] {
            let said = parse(&text).expect(name).warnings;
            let sentence = format!("Line 4: ansible never reads the variable “{name}”. It sets this one itself. ");
            assert!(said.iter().any(|said| said.starts_with(&sentence)), "{said:?}");
        }
    }
    assert_eq!(parse("all: {hosts: {n1: {inventory_dir: x, role_name: y}}}\n").expect("a host").warnings, [""; 0]);
}

#[test]
fn keys_below_a_variable_may_be_any_text() {
    let text = "labels: {node.kubernetes.io/role: a, 1: b, on: c, a b: d, über – x: e}\nl: [{a-b: 1}]\n";
    assert_eq!(advice_on_vars(text), [""; 0]);
    let said = advice_on_vars("lb:\n  address: a\n  \u{A0}port: 1\n").join("\n");
    assert!(said.starts_with("Line 3: the key ") && said.contains("U+00A0 (no-break space)"), "{said}");
}

#[test]
fn there_are_not_too_many_warnings() {
    let many: String = (0..1000).map(|n| format!("a-{n}: 1\n")).collect();
    assert_eq!(advice_on_vars(&many).len(), 20);
}

#[test]
fn an_inventory_as_variables_is_refused() {
    for text in [
        "x: 1\nall:\n  hosts: {n1: }\n",
        "x: 1\nkube_node: {hosts: {n1: }}\n",
        "---\nk8s_cluster:\n  children: {kube_node: }\n  vars: {a: 1}\n",
        "x: 1\nall:\n  vars:\n    kube_version: v1.33.4\n",
        "x: 1\nall:\n  host: {n1: }\n  other: 1\n",
        "x: 1\nall:\n  \u{A0}children: {kube_node: }\n",
        "x: 1\nkube-master: {hosts: {n1: }}\n",
        "x: 1\nkube-node: {hosts: {n1: }}\n",
        "x: 1\nk8s-cluster: {children: {kube-node: }}\n",
        "x: 1\netcd: {hosts: {n1: }}\n",
    ] {
        let refused = parse_vars(text).expect_err(text);
        assert!(matches!(refused.kind, Kind::InventoryAsVars { .. }), "{refused}");
        assert_eq!(refused.line, Some(2), "{refused}");
        assert!(refused.to_string().contains("Move it to the inventory"), "{refused}");
    }
    for text in
        ["ingress: {hosts: [a]}\nall: {x: 1}\netcd: {hosts: [a], port: 1}\n", "etcd: {vars: {a: 1}}\nall: [hosts]\n"]
    {
        assert!(parse_vars(text).is_ok(), "{text}");
    }
}

#[test]
fn a_group_among_variables_is_a_warning() {
    for (text, name) in [
        ("# ours\nmasters:\n  hosts:\n    n1:\n", "masters"),
        ("# ours\nmy-workers: {hosts: {n1: {ansible_host: 10.0.0.1, rack: a}, n2: {rack: b}}}\n", "my-workers"),
        ("# ours\nprod: {children: {masters: , workers: }, vars: {a: 1}}\n", "prod"),
        ("# ours\nhosts: {n1: {ip: 10.0.0.1}}\n", "hosts"),
        ("# ours\nchildren: {kube_node: {hosts: {n1: }}}\n", "children"),
    ] {
        let said = advice_on_vars(text);
        let [said] = said.as_slice() else { panic!("{text}: {said:?}") };
        assert!(said.starts_with(&format!("Line 2: “{name}” looks like a ")), "{said}");
        assert!(said.contains("ansible reads it as a variable here. If it is "), "{said}");
    }
    let indented =
        parse("all:\n  hosts:\n    n1:\n    children:\n      kube_node: {hosts: {n1: }}\n").expect("two hosts");
    assert!(
        indented.warnings.iter().any(|said| said.starts_with("Line 5: “kube_node” looks like a group")),
        "{indented:?}"
    );
}

#[test]
fn variables_with_hosts_in_them_are_fine() {
    for text in [
        "ingress: {hosts: [a]}\nhosts: [a, b]\n",
        "lb: {hosts: {n1: {weight: 1}, n2: {weight: 2}}}\n",
        "dns: {hosts: {n1: 10.0.0.1}, vars: {a: 1}}\n",
        "hosts: {n1: 10.0.0.1}\nchildren: {ann: , bob: }\n",
        "ha: {hosts: {n1: }, port: 1}\nempty: {hosts: {}, children: {}, vars: {}}\n",
        "defaults: {vars: {a: 1}}\nempty: {}\n",
    ] {
        assert!(parse_vars(text).is_ok(), "{text}");
        assert_eq!(advice_on_vars(text), [""; 0], "{text}");
    }
}

#[test]
fn variables_as_an_inventory_are_refused() {
    for text in ["kube_version: 1.34.4\n", "all: {hosts: {a: }}\nkube_version: 1\n", "dns: [a]\nall: {hosts: {a: }}\n"]
    {
        let said = parse(text).expect_err(text).to_string();
        assert!(said.contains("If it is a variable, move it to the variables"), "{said}");
    }
}
