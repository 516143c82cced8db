//! What responses reveal: reads everything that a signed-in user can get, as pages and as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use http::Method;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use serde_json::Value;

use crate::server::{Server, kube};

/// Printed by the run, so that its page, log and events have content.
const PRINTED: &str = "hello from the run";

/// A server with a cluster whose key it generated, and a run that has ended.
async fn server_with_data(test: &str) -> Option<(Server, String)> {
    let server = Server::start(&[]).await;
    if server.has_no_pages(test).await {
        return None;
    }
    let cookie = server.sign_in_by_link().await;
    let fields = [
        ("form", "register_cluster"),
        ("name", "prod"),
        ("pasted", "m1 192.0.2.1\nm2 192.0.2.2\n"),
        ("ssh", "generate"),
        ("variables", "a: 1\n"),
    ];
    let got = server.post("/clusters/_new", &cookie, &fields).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let got = server.submit(&cookie, "prod", "grow", &format!("echo {PRINTED}")).await;
    assert_eq!(got.status, 303, "{}", got.body);
    let ended =
        async || server.get("/api/load_operation?name=grow", &cookie).await.json()["row"]["phase"] == "succeeded";
    server.eventually("the end of the run", ended).await;
    let logged = async || server.get("/operations/grow/log.txt", &cookie).await.body.contains(PRINTED);
    server.eventually("its log", logged).await;
    Some((server, cookie))
}

/// The addresses of every page, with names filled in, and of every server function that reads.
fn addresses() -> BTreeSet<String> {
    let _ = any_spawner::Executor::init_tokio();
    let pages = leptos_axum::generate_route_list(app::App).into_iter().map(|route| {
        let name = if route.path().starts_with("/clusters") { "prod" } else { "grow" };
        route.path().replace("{name}", name)
    });
    let arguments = "cluster=prod&name=grow&node=m1&again=grow&from=1&to=&count=1000&gone=true&q=hello&host=&filter[q]=\
         &requests=[{%22do%22:%22follow%22,%22run%22:%22grow%22,%22from%22:1}]";
    let reading = server_fn::axum::server_fn_paths().filter(|(_, method)| *method == Method::GET);
    let functions: Vec<String> = reading.map(|(path, _)| format!("{path}?{arguments}")).collect();
    assert!(functions.len() > 8, "{functions:?}");
    pages.chain(functions).chain(["/favicon.svg".into(), "/nowhere".into()]).collect()
}

/// Reads these addresses and everything that they link to.
pub(crate) async fn read_everything(server: &Server, cookie: &str) -> BTreeMap<String, String> {
    let (mut left, mut read) = (addresses(), BTreeMap::new());
    while let Some(address) = left.pop_first() {
        let got = server.get(&address, cookie).await;
        let expected = if address == "/nowhere" { 404 } else { 200 };
        // The start page and, for a signed-in user, the sign-in page redirect. Removing or replacing a node
        // needs the name of one, and the only control plane can't be removed or replaced.
        let refused = matches!(got.status, 404 | 422) && (address.contains("remov") || address.contains("replac"));
        assert!(got.status == expected || got.status == 303 || got.status == 302 || refused, "{address}: {got:?}");
        let linked = ["href=\"", "src=\""].into_iter().flat_map(|attribute| got.body.split(attribute).skip(1));
        let linked = linked.filter_map(|rest| rest.split(['"', '#']).next()).filter(|link| link.starts_with('/'));
        let linked = linked.map(|link| link.replace("&amp;", "&")).filter(|link| !link.ends_with(".wasm"));
        read.insert(address, format!("{}\n{}", got.head, got.body));
        left.extend(linked.filter(|link| !read.contains_key(link)));
        assert!(read.len() < 1000, "too many links: {:?}", read.keys());
    }
    read
}

/// Parts of all secrets, each long enough to be unique. `public` is the public key.
async fn secrets(server: &Server, public: &str) -> Vec<String> {
    let client = kube(&server.file("kubeconfig")).await;
    let all = Api::<Secret>::all(client).list(&ListParams::default()).await.expect("secrets");
    let mut secret = Vec::new();
    for (key, value) in all.iter().flat_map(|found| found.data.iter().flatten()) {
        // The entrypoint and the steps of a run aren't secret, and pages show parts of them.
        if key == crd::KEY_SSH || key == "token" {
            secret.push(String::from_utf8(value.0.clone()).expect("text"));
        }
    }
    let names: Vec<String> = all.iter().map(ResourceExt::name_any).collect();
    assert!(secret.len() >= 2, "the key and the run's token are not among {names:?}");
    let config: Value = serde_json::from_slice(&fs::read(server.file("kubeconfig")).expect("there")).expect("JSON");
    secret.push(config["users"][0]["user"]["token"].as_str().expect("a token").to_owned());
    let parts = secret.iter().flat_map(|text| text.lines().filter(|line| !line.starts_with("-----")));
    // Letters and digits are the same however a secret is escaped. A private key also contains its public key.
    let parts = parts.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
    parts.filter(|part| part.len() >= 12 && !public.contains(part)).map(ToOwned::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_of_the_console_contains_a_key_or_token() {
    let Some((server, cookie)) = server_with_data("no_answer_of_the_console_contains_a_key_or_token").await else {
        return;
    };
    let configuration = server.get("/api/load_configuration?cluster=prod", &cookie).await.body;
    let public = configuration.split("ssh-ed25519 ").nth(1).and_then(|rest| rest.split([' ', '"', '\\']).next());
    let secrets = secrets(&server, public.expect("the public key is shown")).await;
    assert!(secrets.len() >= 5, "{} parts", secrets.len());
    let everything = read_everything(&server, &cookie).await;
    for page in ["/clusters/prod/configuration", "/operations/grow", "/operations/grow/log.txt", "/settings"] {
        assert!(everything.contains_key(page), "{page} was not read: {:?}", everything.keys());
    }
    assert!(everything["/operations/grow"].contains(PRINTED), "the run's page lacks its output");
    for (address, answer) in &everything {
        for secret in &secrets {
            assert!(!answer.contains(secret.as_str()), "{address} contains a secret");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_script_or_style_names_another_origin() {
    let Some((server, cookie)) = server_with_data("no_page_script_or_style_names_another_origin").await else { return };
    let everything = read_everything(&server, &cookie).await;
    let kinds = ["text/html", "text/css", "javascript"];
    for kind in kinds {
        let of_kind = |answer: &&String| answer.split("\r\n\r\n").next().is_some_and(|head| head.contains(kind));
        assert!(everything.values().any(|answer| of_kind(&answer)), "no {kind} was read: {:?}", everything.keys());
    }
    for (address, answer) in &everything {
        let mut named = origins(answer);
        // The plan of a new cluster tells where programs come from, and the address of its API.
        if address.contains("create") || address.contains("load_creation") {
            named.retain(|host| !["dl.k8s.io", "github.com", "192.0.2.1:6443"].contains(&host.as_str()));
        }
        // An example in an empty field.
        if address.ends_with("/upgrade") {
            named.remove("shop.example.com");
        }
        assert_eq!(named, BTreeSet::new(), "{address}");
    }
}

/// The other origins that a text names. XML namespaces (www.w3.org) are left out, because browsers don't load them.
fn origins(text: &str) -> BTreeSet<String> {
    let host = |rest: &str| -> String {
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(*c)).collect()
    };
    // Comments of the generated script contain links, which load nothing.
    let text: String = text.lines().filter(|line| !line.trim_start().starts_with("// ")).collect();
    let absolute = text.split("://").skip(1).map(host);
    let relative =
        ["=\"//", "='//", "url(//", "url(\"//", "@import"].into_iter().flat_map(|at| text.split(at).skip(1)).map(host);
    let ours = |host: &String| host.is_empty() || host.starts_with("127.0.0.1:") || host == "www.w3.org";
    absolute.chain(relative).filter(|host| !ours(host)).collect()
}

#[test]
fn the_search_for_other_origins_finds_them() {
    for (text, found) in [
        ("<script src=\"https://cdn.example/x.js\">", "cdn.example"),
        ("<img src=\"//evil.example/pixel\">", "evil.example"),
        ("body { background: url(//evil.example/a.png) }", "evil.example"),
        ("// our own\nfetch('http://10.0.0.1:80/')", "10.0.0.1:80"),
    ] {
        assert_eq!(origins(text), BTreeSet::from([found.to_owned()]), "{text}");
    }
    assert_eq!(origins("<svg xmlns=\"http://www.w3.org/2000/svg\"><a href=\"/x\">// no</a>"), BTreeSet::new());
}
