//! A fake backend, and functions that render pages over it as the binary does.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of the fixtures")]

use std::sync::{Arc, LazyLock, Mutex};

use api::availability::{Answer, Answers, Outage, Span, Target};
use api::backend::{About, Changes, Clusters, Configurations, Creations, Frames, Nodes, Operations, Runs, Upgrades};
use api::cluster::{
    CheckResult, CheckedHost, ClusterDetail, ClusterFilter, ClusterList, ClusterRow, ClusterTotals, ConditionRow,
    ConfirmedKeys, Creation, CreationPlan, CreationStage, Fact, Health, LiveCluster, LiveState, MachineCheck,
    NewCluster, NewNodes, NodeList, NodeResults, NodeRow, NodeState, NodesReview, OfferedVersion, PlannedMachine,
    PlannedSetting, RegistrationReview, Removal, Replacement, ReviewedFile, ReviewedPlan, ReviewedRemoval,
    ReviewedUpgrade, SettingsOffer, Unregister, Upgrade, UpgradeNode, UpgradePlan, UpgradeWish, VersionChoice,
    VersionSource,
};
use api::configuration::{
    ChangeReview, Configuration, DiffKind, DiffLine, Document, DocumentText, HostKeyScan, HostKeys, KeyChange, Login,
    MachineKey, SecretVariableChange, SecretVariables, SshAccess, Standing,
};
use api::live::Topic;
use api::log::{Found, LogFrame, LogPage, LogQuery, RunRecord};
use api::operation::{
    ActionOffer, ClusterChoice, Draft, Effect, NewOperation, OperationDetail, OperationFilter, OperationList,
    OperationReview, OperationRow, Phase, RunInputs, SourceChoices, SubmitChoices, Usual,
};
use api::watch::{Stall, StopAdvice, StopWhen, Watch};
use api::{Backend, ClusterName, OperationName, Problem, Time, User};
use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use kubeonkube_app::session::Session;
use kubeonkube_app::{self as app};
use leptos::prelude::provide_context;

pub const NOW: Time = Time(1_790_000_000_000);

/// A backend with fixed answers. Tests set the fields that they need.
#[derive(Clone)]
pub struct Fake {
    pub clusters: Result<ClusterList, Problem>,
    pub detail: Result<ClusterDetail, Problem>,
    pub nodes: Result<NodeList, Problem>,
    pub watch: Watch,
    pub configuration: Result<Configuration, Problem>,
    pub change: Result<ChangeReview, Problem>,
    pub registration: Result<RegistrationReview, Problem>,
    pub creation: Result<Creation, Problem>,
    pub addition: Result<NodesReview, Problem>,
    pub replacement: Result<Replacement, Problem>,
    pub removal: Result<Removal, Problem>,
    pub upgrade: Result<Upgrade, Problem>,
    pub operations: Result<OperationList, Problem>,
    pub run: Result<OperationDetail, Problem>,
    pub record: RunRecord,
    pub found: Result<Found, Problem>,
    pub choices: SubmitChoices,
    pub sources: SourceChoices,
    pub again: Draft,
    pub review: Result<OperationReview, Problem>,
    pub notice: Option<String>,
    /// The recorded calls, with their arguments.
    pub calls: Arc<Mutex<Vec<String>>>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            clusters: Ok(list(vec![cluster("prod-fra", Health::Good)])),
            detail: Ok(detail("prod-fra")),
            nodes: Ok(NodeList {
                nodes: vec![node("fra-cp1")],
                results: NodeResults::NewestRun,
                live: LiveCluster::default(),
                problem: None,
                now: NOW,
            }),
            watch: Watch::default(),
            configuration: Ok(configuration()),
            change: Ok(change()),
            registration: Ok(RegistrationReview {
                files: vec![ReviewedFile { title: "hosts.yml".into(), text: "all:\n  hosts: {}\n".into() }],
                nodes: vec![node("node1")],
                warnings: vec![],
            }),
            creation: Ok(creation()),
            addition: Ok(nodes_review()),
            replacement: Ok(Replacement::Worker { last: None }),
            removal: Ok(Removal::FromCluster {
                consequences: vec!["The pods on fra-w1 are evicted.".into()],
                gone: false,
                not_ready: None,
                operation: operation_review(),
            }),
            upgrade: Ok(upgrade()),
            operations: Ok(operations(vec![operation("ping-1", "prod-fra", Phase::Succeeded)])),
            run: Ok(run("ping-1", Phase::Succeeded)),
            record: RunRecord::default(),
            found: Ok(Found::default()),
            choices: choices(),
            sources: SourceChoices {
                config_maps: Some(vec!["machines/books".into(), "machines/scripts".into()]),
                keys: Some(vec!["site.yml".into(), "fix.sh".into()]),
                ..SourceChoices::default()
            },
            again: Draft::default(),
            review: Ok(operation_review()),
            notice: None,
            calls: Arc::default(),
        }
    }
}

impl Fake {
    fn record_call(&self, what: impl Into<String>) {
        self.calls.lock().unwrap().push(what.into());
    }

    fn backend(&self) -> Backend {
        let this = Arc::new(self.clone());
        Backend {
            clusters: this.clone(),
            creations: this.clone(),
            nodes: this.clone(),
            upgrades: this.clone(),
            configurations: this.clone(),
            operations: this.clone(),
            runs: this.clone(),
            changes: this,
            notice: {
                let notice = self.notice.clone();
                Arc::new(move || notice.clone())
            },
            about: Arc::new(About {
                version: "0.1.0".into(),
                mode: "standalone".into(),
                facts: vec![("Data directory".into(), "/var/lib/kubeonkube".into())],
            }),
        }
    }
}

/// The token of the signed-in user. No page may show it.
pub const TOKEN: &str = "token-that-no-page-may-show";

pub fn user() -> User {
    User { name: "ada@example.org".into(), token: Some(TOKEN.into()) }
}

/// A rendered page.
pub struct Page {
    pub status: StatusCode,
    pub location: Option<String>,
    pub html: String,
}

impl Page {
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "{text:?} is missing in\n{}", self.html);
        self
    }

    #[track_caller]
    pub fn hides(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{text:?} is in\n{}", self.html);
        self
    }
}

// Generated before anything is rendered: while Leptos generates the list, no resource in the process loads.
static ROUTES: LazyLock<Vec<String>> = LazyLock::new(|| {
    leptos_axum::generate_route_list(app::App).into_iter().map(|route| route.path().to_owned()).collect()
});

/// Renders a page as the binary does. `more` provides further context, such as a submitted form.
pub async fn page_with(fake: &Fake, path: &str, more: impl Fn() + Clone + Send + Sync + 'static) -> Page {
    rendered(fake, Request::get(path), more).await
}

/// A page for a browser with these cookies.
#[allow(dead_code, reason = "not every test has cookies")]
pub async fn page_with_cookies(fake: &Fake, path: &str, cookies: &str) -> Page {
    rendered(fake, Request::get(path).header(header::COOKIE, cookies), || {}).await
}

async fn rendered(
    fake: &Fake,
    request: axum::http::request::Builder,
    more: impl Fn() + Clone + Send + Sync + 'static,
) -> Page {
    assert!(ROUTES.len() > 10);
    let backend = fake.backend();
    let context = move || {
        provide_context(backend.clone());
        provide_context(Session(Some(user())));
        more();
    };
    let assets = app::Assets {
        css: "/assets/site.css".into(),
        js: "/assets/app.js".into(),
        wasm: "/assets/app.wasm".into(),
        pages: ["run", "run_hosts_piece"].map(|chunk| (chunk.to_owned(), format!("/assets/{chunk}.bin"))).into(),
    };
    let render = leptos_axum::render_app_async_with_context(context, move || app::shell(&assets));
    read(render(request.body(Body::empty()).unwrap()).await).await
}

pub async fn page(fake: &Fake, path: &str) -> Page {
    page_with(fake, path, || {}).await
}

/// Calls a server function as a form does.
pub async fn submit(fake: &Fake, function: &str, body: &str) -> Page {
    submit_as(fake, Some(user()), function, body).await
}

pub async fn submit_as(fake: &Fake, user: Option<User>, function: &str, body: &str) -> Page {
    let backend = fake.backend();
    let context = move || {
        provide_context(backend.clone());
        provide_context(Session(user.clone()));
    };
    let request = Request::post(format!("{}/{function}", app::PREFIX))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ACCEPT, "application/json")
        .body(Body::from(body.to_owned()))
        .unwrap();
    use axum::response::IntoResponse;
    let response = leptos_axum::handle_server_fns_with_context(context, request).await.into_response();
    read(response).await
}

async fn read(response: axum::response::Response) -> Page {
    let status = response.status();
    let location = response.headers().get(header::LOCATION).map(|l| l.to_str().unwrap().to_owned());
    let bytes = to_bytes(response.into_body(), 10 << 20).await.unwrap();
    Page { status, location, html: String::from_utf8(bytes.to_vec()).unwrap() }
}

pub fn cluster(name: &str, health: Health) -> ClusterRow {
    ClusterRow {
        name: name.parse().unwrap(),
        health,
        health_word: match health {
            Health::Broken => "Inventory missing",
            Health::Attention => "ping.yml failed",
            Health::Working => "Running ping.yml",
            Health::Good => "Last run OK",
            Health::Unknown => "Never run",
        }
        .into(),
        note: String::new(),
        fix: None,
        nodes: Some(3),
        live: None,
        last: (health != Health::Unknown).then(|| operation("ping-1", name, Phase::Succeeded)),
        queued: 0,
        labels: vec!["region=eu".into()],
        created: Time(NOW.0 - 86_400_000 * 9),
    }
}

pub fn list(rows: Vec<ClusterRow>) -> ClusterList {
    let all = u32::try_from(rows.len()).unwrap();
    let totals = ClusterTotals { all, good: all, nodes: 3 * all, ..Default::default() };
    ClusterList { matching: all, rows, totals, page: 1, pages: 1, now: NOW }
}

pub fn operation(name: &str, cluster: &str, phase: Phase) -> OperationRow {
    OperationRow {
        name: name.parse().unwrap(),
        cluster: cluster.into(),
        action: "ping.yml".into(),
        script: false,
        check: false,
        phase,
        cancelling: false,
        reason: String::new(),
        message: String::new(),
        by: "ada".into(),
        submitted: Time(NOW.0 - 900_000),
        started: Some(Time(NOW.0 - 899_000)),
        ended: phase.is_final().then_some(Time(NOW.0 - 840_000)),
    }
}

pub fn detail(name: &str) -> ClusterDetail {
    ClusterDetail {
        row: cluster(name, Health::Good),
        live: LiveCluster::default(),
        wrong_engine: None,
        creatable: false,
        kubeconfig: None,
        facts: vec![Fact { label: "Namespace".into(), value: "kubeonkube".into(), mono: true }],
        conditions: vec![ConditionRow {
            name: "Inputs".into(),
            ok: true,
            message: "All readable.".into(),
            fix: None,
            since: None,
        }],
        recent: vec![operation("ping-1", name, Phase::Succeeded)],
        operations: 34,
        now: NOW,
    }
}

/// From 1.33.13, read from the cluster, to 1.34.4.
pub fn upgrade() -> Upgrade {
    let choice = |version: &str, refused: Option<&str>, proven| VersionChoice {
        offered: OfferedVersion {
            version: version.parse().unwrap(),
            proven,
            newest_patch: !proven,
            default: proven,
            end_of_support: "2026-10-27".into(),
        },
        refused: refused.map(Into::into),
        chosen: proven,
    };
    let node = |name: &str, role: &str| UpgradeNode {
        name: name.into(),
        roles: vec![role.into()],
        version: "v1.33.13".into(),
        state: NodeState::Waiting,
        word: "Will be upgraded".into(),
        detail: "Drained.".into(),
    };
    Upgrade {
        running: "1.33.13".into(),
        source: VersionSource::Cluster,
        nodes: vec![node("fra-cp1", "control plane"), node("fra-w1", "node")],
        last: None,
        versions: vec![
            choice("1.35.9", Some("Needs 1.34 first."), false),
            choice("1.34.9", None, false),
            choice("1.34.4", None, true),
        ],
        none_newer: "The catalogue has no newer version.".into(),
        path: vec!["1.34.4".parse().unwrap(), "1.35.9".parse().unwrap()],
        plan: Some(UpgradePlan {
            to: "1.34.4".parse().unwrap(),
            continues: false,
            consequences: vec!["fra-cp1 is the only control plane.".into()],
            warnings: vec!["fra-w1 is not ready.".into()],
            change: Some(change()),
            operation: operation_review(),
        }),
        refused: None,
        probe_url: String::new(),
        live: LiveState::Healthy,
        read: Some(Time(NOW.0 - 20_000)),
        now: NOW,
    }
}

/// An upgrade that drains w3: with an outage of 15 s, and a budget that blocks.
pub fn watch() -> Watch {
    let span = |seconds, answer| Span { seconds, answer };
    let outage = Outage { start: Time(NOW.0 - 300_000), seconds: 15, why: "10.0.0.7:6443 can't be reached.".into() };
    Watch {
        is_running: true,
        stop: Some(StopAdvice { when: StopWhen::AfterNode("w3".into()), why: "w3 is being upgraded.".into() }),
        stall: Some(Stall {
            title: "“Drain the node” on w3 takes 4 min 0 s by now.".into(),
            reasons: vec!["Pod shop/db-0 is held by PodDisruptionBudget shop/db.".into()],
        }),
        answers: vec![
            Answers {
                target: Target::Api,
                start: Time(NOW.0 - 400_000),
                spans: vec![span(100, Answer::Yes), span(15, Answer::No), span(285, Answer::Yes)],
                outages: vec![outage],
                unasked: None,
            },
            Answers {
                target: Target::Service("https://shop.example.com".into()),
                start: Time(NOW.0 - 400_000),
                spans: vec![span(400, Answer::Yes)],
                outages: vec![],
                unasked: None,
            },
        ],
        now: NOW,
    }
}

pub fn node(name: &str) -> NodeRow {
    NodeRow {
        name: name.into(),
        address: "10.0.0.11".into(),
        reached_by: "ops@10.0.0.11:22".into(),
        roles: vec!["control plane".into(), "etcd".into()],
        last_result: Some("ok".into()),
        removed_by: None,
        in_inventory: true,
        live: None,
    }
}

pub fn configuration() -> Configuration {
    let text = |text: &str, version: &str| DocumentText {
        place: "kubeonkube/prod-fra-hosts, hosts.yml".into(),
        text: text.into(),
        version: version.into(),
        problem: None,
        hints: Vec::new(),
        warnings: Vec::new(),
        foreign: false,
    };
    Configuration {
        inventory: text("all:\n  hosts:\n    fra-cp1: {}\n", "41"),
        variables: text("kube_version: 1.34.4\n", "42"),
        ssh: SshAccess {
            secret: Some("kubeonkube/prod-fra-ssh".into()),
            public_key: Some("ssh-ed25519 AAAApublic prod-fra".into()),
            fingerprint: Some("SHA256:abc".into()),
            replaceable: true,
            foreign: false,
            next: None,
            previous: None,
            host_keys: Some(HostKeys { count: 0, document: text("", "") }),
            problem: None,
        },
        secrets: SecretVariables {
            secret: Some("kubeonkube/prod-fra-secret-vars".into()),
            names: vec!["ansible_become_password".into()],
            changeable: true,
            ..SecretVariables::default()
        },
        now: NOW,
    }
}

pub fn change() -> ChangeReview {
    let line = |kind, text: &str| DiffLine { kind, text: text.into() };
    ChangeReview {
        summary: vec!["fra-w1 added to kube_node".into()],
        lines: vec![line(DiffKind::Same, "all:"), line(DiffKind::Added, "    fra-w1: {}")],
        warnings: Vec::new(),
        version: "41".into(),
    }
}

pub fn nodes_review() -> NodesReview {
    NodesReview {
        names: vec!["w3".into(), "w4".into()],
        replaces: String::new(),
        consequences: Vec::new(),
        others: "fra-cp1 is asked, too. No task runs on the other 12 machines.".into(),
        change: ChangeReview { summary: vec!["w3 added to kube_node".into()], ..change() },
        keys: vec![MachineKey {
            name: "w3".into(),
            address: "10.0.0.13".into(),
            standing: Standing::New,
            algorithm: "ssh-ed25519".into(),
            fingerprint: "SHA256:w3".into(),
            login: Login::Works,
        }],
        host_keys: "10.0.0.13 ssh-ed25519 AAAA\n".into(),
        host_keys_version: "7".into(),
        operation: OperationReview {
            name: "scale-x7k2f".parse().unwrap(),
            commands: vec![vec!["ansible-playbook".into(), "--limit=w3,w4".into(), "/kubespray/scale.yml".into()]],
            ..operation_review()
        },
        warnings: vec!["w4 doesn't answer SSH at 10.0.0.14.".into()],
    }
}

#[async_trait]
impl Clusters for Fake {
    async fn list(&self, _: &User, filter: &ClusterFilter) -> Result<ClusterList, Problem> {
        self.record_call(format!("list {filter:?}"));
        self.clusters.clone()
    }
    async fn get(&self, _: &User, _: &ClusterName) -> Result<ClusterDetail, Problem> {
        self.record_call("get");
        self.detail.clone()
    }
    async fn nodes(&self, _: &User, _: &ClusterName) -> Result<NodeList, Problem> {
        self.record_call("nodes");
        self.nodes.clone()
    }
    async fn kubeconfig(&self, _: &User, _: &ClusterName) -> Result<String, Problem> {
        Err(Problem::Internal)
    }
    async fn review(&self, _: &User, new: &NewCluster) -> Result<RegistrationReview, Problem> {
        self.record_call(format!("review {new:?}"));
        self.registration.clone()
    }
    async fn register(&self, _: &User, new: &NewCluster) -> Result<ClusterName, Problem> {
        self.record_call(format!("register {new:?}"));
        self.registration.clone()?;
        new.name.value().cloned().map_err(|why| Problem::field("name", why))
    }
    async fn unregister(&self, _: &User, cluster: &ClusterName, how: &Unregister) -> Result<(), Problem> {
        self.record_call(format!("unregister {cluster} {how:?}"));
        Ok(())
    }
}

/// A cluster whose first machine has passed the check.
pub fn creation() -> Creation {
    let host = |name: &str, result, message: &str| CheckedHost {
        name: name.into(),
        result,
        message: message.into(),
        cause: String::new(),
    };
    let setting =
        |label: &str, value: &str, is_default| PlannedSetting { label: label.into(), value: value.into(), is_default };
    Creation {
        stage: CreationStage::Planned,
        public_key: Some("ssh-ed25519 AAAApublic prod-fra".into()),
        host_keys: Some(ConfirmedKeys { machines: 2, missing: vec!["fra-cp1".into(), "fra-w1".into()], problem: None }),
        check: Some(MachineCheck {
            run: Some(operation("precheck-1", "prod-fra", Phase::Failed)),
            hosts: vec![
                host("fra-cp1", CheckResult::Passed, ""),
                host("fra-w1", CheckResult::Failed, "The machine has 512 MB of memory, and a node needs 1024 MB."),
            ],
            ..MachineCheck::default()
        }),
        plan: CreationPlan {
            problems: vec![],
            machines: vec![PlannedMachine {
                name: "fra-cp1".into(),
                reached_by: "ops@10.0.0.11:22".into(),
                becomes: "Control plane and etcd".into(),
            }],
            settings: vec![setting("Kubernetes", "v1.34.4", false), setting("Pods", "10.233.64.0/18", true)],
            changes: vec!["kubeadm, kubelet and kubectl go to /usr/local/bin.".into()],
            operation: Some(OperationReview {
                name: "cluster-x7k2f".parse().unwrap(),
                waits_for: None,
                commands: vec![vec!["ansible-playbook".into(), "/playbooks/cluster.yml".into()]],
                ..operation_review()
            }),
        },
        run: None,
        failures: vec![],
        live: LiveCluster::default(),
        kubeconfig: None,
        now: NOW,
    }
}

#[async_trait]
impl Creations for Fake {
    fn offer(&self) -> SettingsOffer {
        let version = |version: &str, default: bool| OfferedVersion {
            version: version.parse().unwrap(),
            proven: true,
            newest_patch: !default,
            default,
            end_of_support: "2026-10-27".into(),
        };
        SettingsOffer {
            versions: vec![version("1.34.4", true), version("1.33.13", false)],
            pods: "10.233.64.0/18".into(),
            services: "10.233.0.0/18".into(),
        }
    }
    async fn read(&self, _: &User, _: &ClusterName) -> Result<Creation, Problem> {
        self.record_call("creation");
        self.creation.clone()
    }
    async fn check(&self, _: &User, cluster: &ClusterName) -> Result<OperationName, Problem> {
        self.record_call(format!("check the machines of {cluster}"));
        self.creation.clone().map(|_| "precheck-x7k2f".parse().unwrap())
    }
    async fn create(&self, _: &User, cluster: &ClusterName, reviewed: &ReviewedPlan) -> Result<OperationName, Problem> {
        self.record_call(format!("create {cluster} {reviewed:?}"));
        self.creation.clone().map(|_| "cluster-x7k2f".parse().unwrap())
    }
}

#[async_trait]
impl Nodes for Fake {
    async fn review(&self, _: &User, cluster: &ClusterName, new: &NewNodes) -> Result<NodesReview, Problem> {
        self.record_call(format!("review nodes of {cluster} {new:?}"));
        self.addition.clone()
    }
    async fn add(&self, _: &User, cluster: &ClusterName, new: &NewNodes) -> Result<OperationName, Problem> {
        self.record_call(format!("add nodes to {cluster} {new:?}"));
        self.addition.clone().map(|review| review.operation.name)
    }
    async fn replacement(&self, _: &User, cluster: &ClusterName, node: &str) -> Result<Replacement, Problem> {
        self.record_call(format!("replacement of {node} of {cluster}"));
        self.replacement.clone()
    }
    async fn removal(&self, _: &User, _: &ClusterName, node: &str, gone: bool) -> Result<Removal, Problem> {
        self.record_call(format!("removal of {node}{}", if gone { ", which is gone" } else { "" }));
        self.removal.clone()
    }
    async fn remove(
        &self,
        _: &User,
        cluster: &ClusterName,
        node: &str,
        reviewed: &ReviewedRemoval,
    ) -> Result<OperationName, Problem> {
        self.record_call(format!("remove {node} from {cluster} {reviewed:?}"));
        self.removal.clone().map(|_| "remove-node-x7k2f".parse().unwrap())
    }
    async fn forget(&self, _: &User, cluster: &ClusterName, node: &str, version: &str) -> Result<(), Problem> {
        self.record_call(format!("forget {node} of {cluster} at {version}"));
        self.removal.clone().map(drop)
    }
}

#[async_trait]
impl Upgrades for Fake {
    async fn plan(&self, _: &User, cluster: &ClusterName, wish: &UpgradeWish) -> Result<Upgrade, Problem> {
        self.record_call(format!("upgrade of {cluster} {wish:?}"));
        self.upgrade.clone()
    }
    async fn start(
        &self,
        _: &User,
        cluster: &ClusterName,
        reviewed: &ReviewedUpgrade,
    ) -> Result<OperationName, Problem> {
        self.record_call(format!("start upgrade of {cluster} {reviewed:?}"));
        self.upgrade.clone().map(|_| "upgrade-cluster-x7k2f".parse().unwrap())
    }
    async fn set_probe(&self, _: &User, cluster: &ClusterName, url: &str) -> Result<(), Problem> {
        self.record_call(format!("probe of {cluster} {url}"));
        if url.contains(' ') { Err(Problem::field("url", "An address has no spaces.")) } else { Ok(()) }
    }
}

#[async_trait]
impl Configurations for Fake {
    async fn read(&self, _: &User, _: &ClusterName) -> Result<Configuration, Problem> {
        self.record_call("configuration");
        self.configuration.clone()
    }
    async fn review(
        &self,
        _: &User,
        _: &ClusterName,
        _: Document,
        _: &str,
        text: &str,
    ) -> Result<ChangeReview, Problem> {
        self.record_call(format!("review {text:?}"));
        self.change.clone()
    }
    async fn save(&self, _: &User, c: &ClusterName, d: Document, v: &str, t: &str) -> Result<String, Problem> {
        self.record_call(format!("save {c} {} {v} {t:?}", d.as_str()));
        self.change.clone().map(|_| "43".into())
    }
    async fn change_private_key(
        &self,
        _: &User,
        c: &ClusterName,
        change: &KeyChange,
    ) -> Result<Option<OperationName>, Problem> {
        self.record_call(format!("key of {c}: {change:?}"));
        self.change.clone()?;
        Ok(matches!(change, KeyChange::Test { .. }).then(|| "key-test-x7k2f".parse().unwrap()))
    }
    async fn change_secret_variable(
        &self,
        _: &User,
        c: &ClusterName,
        change: &SecretVariableChange,
    ) -> Result<String, Problem> {
        self.record_call(format!("secret variable of {c}: {change:?}"));
        self.change.clone().map(|_| "44".into())
    }
    async fn scan_host_keys(&self, _: &User, c: &ClusterName, v: &str, t: &str) -> Result<HostKeyScan, Problem> {
        self.record_call(format!("scan {c} {v} {t:?}"));
        let machine = MachineKey {
            name: "fra-cp1".into(),
            address: "[10.0.0.1]:2222".into(),
            standing: Standing::Changed,
            algorithm: "ssh-ed25519".into(),
            fingerprint: "SHA256:shown".into(),
            login: Login::NotTried,
        };
        let revoked = MachineKey { name: "fra-w1".into(), standing: Standing::Revoked, ..machine.clone() };
        let review = self.change.clone()?;
        Ok(HostKeyScan {
            machines: vec![machine, revoked],
            text: "[10.0.0.1]:2222 ssh-ed25519 AAAAshown\n".into(),
            review,
        })
    }
}

pub fn operations(rows: Vec<OperationRow>) -> OperationList {
    let all = u32::try_from(rows.len()).unwrap();
    OperationList { rows, matching: all, page: 1, pages: 1, now: NOW }
}

pub fn run(name: &str, phase: Phase) -> OperationDetail {
    OperationDetail {
        row: operation(name, "prod-fra", phase),
        source: "playbook, builtin".into(),
        action: "ping.yml".into(),
        image: "quay.io/kubespray/kubespray:v2.31.0".into(),
        ran_locally: true,
        extra_args: "--limit=w1 -e 'motd=two words'".into(),
        pre_hooks: vec!["ping.yml".into()],
        post_hooks: vec![],
        deadline: 21_600,
        job: Some("kubeonkube/kubeonkube-ping-1-job".into()),
        end: None,
        inputs: Some(RunInputs {
            inventory: "all:\n  hosts: {w1: {}}\n".into(),
            variables: "{}\n".into(),
            sha256: "5e1f".into(),
        }),
        limited_from: None,
        limit: "w1".into(),
        repeats_as_a_whole: false,
        restored_by: String::new(),
        cancelled_by: if phase == Phase::Cancelled { "ada".into() } else { String::new() },
        result_ignored: false,
        usual: None,
        cancel: if phase.is_final() { Err("It has ended; there is nothing to cancel.".into()) } else { Ok(()) },
        now: NOW,
    }
}

pub fn choices() -> SubmitChoices {
    let offer = |action: &str, effect, unavailable: Option<&str>| ActionOffer {
        action: action.into(),
        title: format!("Title of {action}"),
        summary: format!("What {action} does."),
        effect,
        parameters: Vec::new(),
        unavailable: unavailable.map(Into::into),
    };
    SubmitChoices {
        clusters: vec![
            ClusterChoice { name: "prod-fra".parse().unwrap(), nodes: Some(3) },
            ClusterChoice { name: "lab".parse().unwrap(), nodes: None },
        ],
        actions: vec![
            offer("ping.yml", Effect::Reads, None),
            offer("scale.yml", Effect::Changes, None),
            offer("reset.yml", Effect::Destroys, Some("It comes with the kubespray image.")),
        ],
        no_others: None,
        default_image: "quay.io/default:v1".into(),
    }
}

pub fn operation_review() -> OperationReview {
    OperationReview {
        name: "ping-x7k2f".parse().unwrap(),
        commands: vec![vec![
            "ansible-playbook".into(),
            "-e".into(),
            "motd=two words".into(),
            "/kubespray/ping.yml".into(),
        ]],
        hosts: vec!["w1".into(), "w2".into()],
        expected_inputs: "0123456789abcdef".into(),
        waits_for: Some("Queued behind grow-1, which is running.".into()),
        warnings: vec!["This changes machines.".into()],
        usual: Some(Usual { ms: 20_000, shortest: 18_000, longest: 31_000, runs: 3 }),
        manifest: "apiVersion: kubeonkube.clay.io/v1alpha1\n".into(),
    }
}

#[async_trait]
impl Operations for Fake {
    async fn list(&self, _: &User, filter: &OperationFilter) -> Result<OperationList, Problem> {
        self.record_call(format!("operations {filter:?}"));
        self.operations.clone()
    }
    async fn get(&self, _: &User, _: &OperationName) -> Result<OperationDetail, Problem> {
        self.run.clone()
    }
    async fn watch(&self, _: &User, _: &OperationName) -> Result<Watch, Problem> {
        Ok(self.watch.clone())
    }
    async fn choices(&self, _: &User) -> Result<SubmitChoices, Problem> {
        Ok(self.choices.clone())
    }
    async fn sources(&self, _: &User, cluster: &str, chosen: &str) -> Result<SourceChoices, Problem> {
        self.record_call(format!("sources {cluster:?} {chosen:?}"));
        Ok(self.sources.clone())
    }
    async fn again(&self, _: &User, operation: &OperationName) -> Result<Draft, Problem> {
        self.record_call(format!("again {operation}"));
        Ok(self.again.clone())
    }
    async fn review(&self, _: &User, new: &NewOperation) -> Result<OperationReview, Problem> {
        self.record_call(format!("review {new:?}"));
        self.review.clone()
    }
    async fn submit(&self, _: &User, new: &NewOperation) -> Result<OperationName, Problem> {
        self.record_call(format!("submit {new:?}"));
        self.review.clone().map(|review| review.name)
    }
    async fn cancel(&self, _: &User, operation: &OperationName) -> Result<(), Problem> {
        self.record_call(format!("cancel {operation}"));
        self.run.clone()?.cancel.map_err(|message| Problem::Invalid { message, fields: vec![] })
    }
}

#[async_trait]
impl Runs for Fake {
    async fn record(&self, _: &User, _: &OperationName, from: u64, count: u32) -> Result<RunRecord, Problem> {
        self.record_call(format!("record from {from}, {count} lines"));
        Ok(self.record.clone())
    }
    async fn page(&self, _: &User, _: &OperationName, from: u64, count: u32) -> Result<LogPage, Problem> {
        self.record_call(format!("lines from {from}, {count}"));
        Ok(self.record.log.clone())
    }
    async fn find(&self, _: &User, _: &OperationName, query: &LogQuery) -> Result<Found, Problem> {
        self.record_call(format!("find {query:?}"));
        self.found.clone()
    }
    async fn follow(&self, _: &User, _: &OperationName, _: u64, _: u64) -> Result<Frames<LogFrame>, Problem> {
        Ok(Box::pin(futures::stream::empty()))
    }
    async fn text(&self, _: &User, _: &OperationName) -> Result<Frames<Result<Vec<u8>, Problem>>, Problem> {
        Ok(Box::pin(futures::stream::empty()))
    }
}

#[async_trait]
impl Changes for Fake {
    async fn subscribe(&self, _: &User) -> Result<Frames<Topic>, Problem> {
        Ok(Box::pin(futures::stream::empty()))
    }
}
