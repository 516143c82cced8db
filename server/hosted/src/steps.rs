//! The steps from a checked plan to a control plane that is ready.

use crd::{Cluster, DataRef, Hosted, HostedStatus, Time};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service};
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::addons::{self, Addon};
use crate::address::{self, Address};
use crate::api::{ensure, read};
use crate::bootstrap;
use crate::certificates::authority::{Authorities, Data};
use crate::certificates::leaf;
use crate::certificates::secrets::{self, Bundle, bundles};
use crate::check::{Plan, check};
use crate::context::{Context, Reach};
use crate::objects::{self, api_server, controllers, etcd};
use crate::stop::Stop;
use crate::trouble;

/// Annotation on Secrets: when the first certificate in it expires.
const EXPIRES: &str = "kubeonkube.clay.io/expires";
/// Annotation on Secrets: the names and addresses in it.
const MADE_FOR: &str = "kubeonkube.clay.io/made-for";

/// What a reconcile has found to be done.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// For each step that is done, a sentence.
    pub(crate) done: Vec<String>,
    namespace: String,
    version: Option<String>,
    endpoint: Option<String>,
    has_configs: bool,
    expires: Option<i64>,
}

impl Progress {
    /// The status with what is known now.
    pub(crate) fn status(&self, old: &HostedStatus) -> HostedStatus {
        let mut status = old.clone();
        let config = |name: &str| Some(DataRef::new(&self.namespace, name));
        if self.has_configs {
            status.admin_config = config(secrets::ADMIN_CONFIG);
            status.super_admin_config = config(secrets::SUPER_ADMIN_CONFIG);
        }
        let time = |seconds| Timestamp::from_second(seconds).ok().map(Time);
        status.certificates_expire = self.expires.and_then(time).or(status.certificates_expire);
        status.endpoint = self.endpoint.clone().or(status.endpoint);
        status.version = self.version.clone().or(status.version);
        status
    }
}

/// What can be known before any object exists: whether the spec can be realised, and whether the server has rights in the namespace.
pub(crate) async fn first(
    ctx: &Context,
    cluster: &Cluster,
    spec: &Hosted,
    progress: &mut Progress,
) -> Result<Plan, Stop> {
    progress.namespace.clone_from(&spec.namespace);
    let others = ctx.clusters.state();
    let plan = check(cluster, spec, others.iter().map(|other| &**other))
        .map_err(|refusal| Stop::refuse(refusal.reason, refusal.message))?;
    progress.done.push("The spec can be realised.".into());
    read::<Service>(&ctx.client, &plan, objects::API_SERVER).await?;
    Ok(plan)
}

/// Does all further steps. Stops at the first that isn't done.
pub(crate) async fn further(ctx: &Context, plan: &Plan, progress: &mut Progress) -> Result<(), Stop> {
    let service = ensure(&ctx.client, plan, &objects::service(plan)).await?;
    let address = &address::read(plan, &service).map_err(|why| Stop::wait("NoAddress", why))?;
    progress.endpoint = Some(address.url());
    progress.done.push(format!("The API server's address is {}.", address.url()));

    let stored = certificates(ctx, plan, address, progress).await?;
    progress.has_configs = true;
    progress.done.push("Keys, certificates and kubeconfigs are stored.".into());

    etcd(ctx, plan, &stored).await?;
    progress.done.push("etcd is ready.".into());

    let hosted = api_server(ctx, plan, address, &stored).await?;
    progress.version = Some(plan.spec.version.clone());
    progress.done.push(format!("{} of {} API servers are ready.", plan.spec.replicas, plan.spec.replicas));

    let own = stored.data(secrets::OWN_CONFIG).cloned().unwrap_or_default();
    bootstrap::apply(&hosted, plan, address, &own).await.map_err(|error| {
        Stop::wait("RequestFailed", format!("The first objects in the new cluster can't be created: {error}."))
    })?;
    progress.done.push("The Service “kubernetes” leads to the API server, admin.conf has its rights, and machines can join with kubeadm.".into());

    controllers(ctx, plan, &stored).await?;
    progress.done.push("Controller manager and scheduler are ready.".into());

    let addons = addons::all(plan, address);
    bootstrap::apply_addons(&hosted, &addons).await.map_err(|error| {
        Stop::wait("RequestFailed", format!("The add-ons can't be stored in the new cluster: {error}."))
    })?;
    progress.done.push(which(&addons));
    Ok(())
}

/// Which add-ons are switched on.
fn which(addons: &[Addon]) -> String {
    let names = |enabled: bool| {
        let chosen: Vec<&str> =
            addons.iter().filter(|addon| addon.enabled == enabled).map(|addon| addon.name).collect();
        if chosen.is_empty() { "none".into() } else { chosen.join(", ") }
    };
    format!("Switched on: {}. Switched off: {}. Their pods run on the machines that join.", names(true), names(false))
}

/// The content of all Secrets, by name.
struct Stored(Vec<(&'static str, Data)>);

impl Stored {
    fn data(&self, secret: &str) -> Option<&Data> {
        self.0.iter().find(|(name, _)| *name == secret).map(|(_, data)| data)
    }

    /// Changes with any file in these Secrets.
    fn checksum(&self, secrets: &[&str]) -> String {
        let mut digest = Sha256::new();
        for (file, bytes) in secrets.iter().filter_map(|name| self.data(name)).flatten() {
            digest.update(file.as_bytes());
            digest.update(bytes.0.len().to_be_bytes());
            digest.update(&bytes.0);
        }
        digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Makes the Secrets that are missing. A Secret that exists is never changed. One that was made for other addresses, or expires soon, is made
/// again: its authority stays, so kubeconfigs stay valid. The pods that mount it restart, one after the other.
async fn certificates(ctx: &Context, plan: &Plan, address: &Address, progress: &mut Progress) -> Result<Stored, Stop> {
    let now = Timestamp::now().as_second();
    let bundles = bundles(plan, address);
    let authorities = authorities(ctx, plan, now, &bundles).await?;
    let (mut stored, mut expires) = (Stored(Vec::new()), authorities.expires);
    for bundle in bundles {
        let mut found = read::<Secret>(&ctx.client, plan, bundle.secret).await?;
        let is_due = found.as_ref().map(expiry).transpose()?.is_some_and(|at| leaf::is_due(&authorities, at, now));
        if is_due {
            tracing::info!(cluster = plan.cluster, secret = bundle.secret, "certificates are renewed");
        }
        if let Some(old) = found.take_if(|old| is_due || old.annotations().get(MADE_FOR) != Some(&bundle.made_for)) {
            remove(ctx, plan, &old).await?;
        }
        let secret = match found {
            Some(found) => found,
            None => {
                let data = bundle.make(&authorities, now).map_err(|why| Stop::refuse("CertificateFailed", why))?;
                create(ctx, plan, bundle.secret, data, leaf::expires(&authorities, now), &bundle.made_for).await?
            }
        };
        expires = expires.min(expiry(&secret)?);
        let data = secret.data.unwrap_or_default();
        if !bundle.is_complete(&data) {
            let message = format!(
                "Secret {}/{} lacks a file. Delete it: the server makes it again.",
                plan.spec.namespace, bundle.secret
            );
            return Err(Stop::refuse("SecretIncomplete", message));
        }
        stored.0.push((bundle.secret, data));
    }
    progress.expires = Some(expires);
    Ok(stored)
}

/// The authorities: stored ones, or new ones for a new cluster.
async fn authorities(ctx: &Context, plan: &Plan, now: i64, bundles: &[Bundle]) -> Result<Authorities, Stop> {
    let name = secrets::AUTHORITIES;
    let secret = match read::<Secret>(&ctx.client, plan, name).await? {
        Some(found) => found,
        None => {
            // New authorities would lock out everything that trusts the old ones.
            let remains = remains(ctx, plan, bundles).await?;
            // Another replica may have made them meanwhile.
            match (read::<Secret>(&ctx.client, plan, name).await?, remains) {
                (Some(found), _) => found,
                (None, Some(other)) => {
                    let message = format!(
                        "Secret {0}/{name} with the keys of the cluster's authorities is gone, but {0}/{other} exists. Restore the Secret from a backup.",
                        plan.spec.namespace
                    );
                    return Err(Stop::refuse("KeysLost", message));
                }
                (None, None) => {
                    let new = Authorities::generate(now)
                        .map_err(|error| Stop::refuse("CertificateFailed", format!("No keys can be made: {error}.")))?;
                    create(ctx, plan, name, new.data().clone(), new.expires, "").await?
                }
            }
        }
    };
    let expires = expiry(&secret)?;
    Authorities::parse(secret.data.unwrap_or_default(), expires).map_err(|why| {
        Stop::refuse("SecretIncomplete", format!("Secret {}/{name} can't be used. {why}", plan.spec.namespace))
    })
}

/// What exists of a control plane that has had authorities already.
async fn remains(ctx: &Context, plan: &Plan, bundles: &[Bundle]) -> Result<Option<&'static str>, Stop> {
    for bundle in bundles {
        if read::<Secret>(&ctx.client, plan, bundle.secret).await?.is_some() {
            return Ok(Some(bundle.secret));
        }
    }
    let etcd = read::<StatefulSet>(&ctx.client, plan, objects::ETCD).await?;
    let config = read::<ConfigMap>(&ctx.client, plan, objects::ETCD_CONFIG).await?;
    Ok(etcd.map(|_| objects::ETCD).or(config.map(|_| objects::ETCD_CONFIG)))
}

/// Refuses a volume of another cluster: the StatefulSet would use it, with all that is stored there.
async fn no_other_volume(ctx: &Context, plan: &Plan) -> Result<(), Stop> {
    let (namespace, name) = (&plan.spec.namespace, etcd::claim());
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(ctx.client.clone(), namespace);
    let what = format!("read PersistentVolumeClaim {namespace}/{name}");
    let found = claims.get_opt(&name).await.map_err(|error| Stop::of(namespace, &what, &error))?;
    match found {
        Some(claim) if !etcd::is_claim_of(&claim, &plan.uid) => Err(Stop::refuse(
            "NameTaken",
            format!(
                "PersistentVolumeClaim {namespace}/{name} exists and doesn't belong to this cluster, but etcd would use it. Delete it, or host the cluster in another namespace."
            ),
        )),
        _ => Ok(()),
    }
}

/// Creates a Secret. If another replica was faster, returns its Secret.
async fn create(
    ctx: &Context,
    plan: &Plan,
    name: &'static str,
    data: Data,
    expires: i64,
    made_for: &str,
) -> Result<Secret, Stop> {
    let mut metadata = objects::metadata(plan, name);
    let expires = Timestamp::from_second(expires).expect("a time of these years");
    metadata["annotations"] = json!({EXPIRES: expires.to_string(), MADE_FOR: made_for});
    let secret = Secret {
        metadata: serde_json::from_value(metadata).expect("valid metadata"),
        data: Some(data),
        immutable: Some(true),
        ..Secret::default()
    };
    let secrets: Api<Secret> = Api::namespaced(ctx.client.clone(), &plan.spec.namespace);
    let params = PostParams { field_manager: Some(crd::PRODUCT.into()), ..PostParams::default() };
    match secrets.create(&params, &secret).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = read::<Secret>(&ctx.client, plan, name).await?;
            found.ok_or_else(|| {
                Stop::wait("Conflict", format!("Secret {name} was created and deleted by another client."))
            })
        }
        made => made.map_err(|error| Stop::of(&plan.spec.namespace, &format!("create Secret {name}"), &error)),
    }
}

async fn remove(ctx: &Context, plan: &Plan, secret: &Secret) -> Result<(), Stop> {
    let name = secret.name_any();
    let secrets: Api<Secret> = Api::namespaced(ctx.client.clone(), &plan.spec.namespace);
    let this = Preconditions { uid: secret.uid(), resource_version: None };
    let params = DeleteParams { preconditions: Some(this), ..DeleteParams::default() };
    match secrets.delete(&name, &params).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(Stop::of(&plan.spec.namespace, &format!("delete Secret {name}"), &error)),
        Ok(_) => Ok(()),
    }
}

/// Seconds since 1970.
fn expiry(secret: &Secret) -> Result<i64, Stop> {
    let text = secret.annotations().get(EXPIRES).and_then(|text| text.parse::<Timestamp>().ok());
    let missing = || {
        let name = secret.name_any();
        Stop::refuse(
            "SecretIncomplete",
            format!("Secret {name} has no annotation {EXPIRES} with a time. Restore it from a backup."),
        )
    };
    Ok(text.ok_or_else(missing)?.as_second())
}

async fn etcd(ctx: &Context, plan: &Plan, stored: &Stored) -> Result<(), Stop> {
    let client = &ctx.client;
    let found = read::<ConfigMap>(client, plan, objects::ETCD_CONFIG).await?;
    let initialized =
        found.is_some_and(|map| map.annotations().get(etcd::INITIALIZED).is_some_and(|text| text == "true"));
    ensure(client, plan, &etcd::config(plan, initialized)).await?;
    for service in etcd::services(plan) {
        ensure(client, plan, &service).await?;
    }
    if plan.spec.etcd.ephemeral != Some(true) {
        no_other_volume(ctx, plan).await?;
    }
    let set = ensure(client, plan, &etcd::stateful_set(plan, &stored.checksum(&[secrets::ETCD]))).await?;
    if !is_set_ready(&set) {
        return Err(not_ready(ctx, plan, objects::ETCD, "etcd").await);
    }
    if !initialized {
        ensure(client, plan, &etcd::config(plan, true)).await?;
    }
    Ok(())
}

/// Returns a client of the hosted API server.
async fn api_server(ctx: &Context, plan: &Plan, address: &Address, stored: &Stored) -> Result<kube::Client, Stop> {
    let wanted = api_server::deployment(plan, &stored.checksum(&[secrets::API_SERVER]));
    if !is_deployed(&ensure(&ctx.client, plan, &wanted).await?) {
        return Err(not_ready(ctx, plan, objects::API_SERVER, "The API server").await);
    }
    let own = stored.data(secrets::OWN_CONFIG).cloned().unwrap_or_default();
    let reach = ctx.config.reach;
    let hosted = bootstrap::client(&own, address, reach).await.map_err(|why| Stop::refuse("SecretIncomplete", why))?;
    let hint = match reach {
        Reach::Inside => String::new(),
        _ => " This server runs outside of Kubernetes, so it needs an endpoint that it can reach.".into(),
    };
    let url = if reach == Reach::Inside { address.inner_url() } else { address.url() };
    bootstrap::is_ready(&hosted).await.map_err(|why| {
        Stop::wait("NoAnswer", format!("The API server's pods are ready, but {url} isn't: {why}.{hint}"))
    })?;
    Ok(hosted)
}

async fn controllers(ctx: &Context, plan: &Plan, stored: &Stored) -> Result<(), Stop> {
    let manager = stored.checksum(&[secrets::CONTROLLER_MANAGER, secrets::CONTROLLER_MANAGER_CONFIG]);
    let manager = ensure(&ctx.client, plan, &controllers::manager(plan, &manager)).await?;
    let scheduler = stored.checksum(&[secrets::SCHEDULER_CONFIG]);
    let scheduler = ensure(&ctx.client, plan, &controllers::scheduler(plan, &scheduler)).await?;
    if !is_deployed(&manager) {
        return Err(not_ready(ctx, plan, objects::CONTROLLER_MANAGER, "The controller manager").await);
    }
    if !is_deployed(&scheduler) {
        return Err(not_ready(ctx, plan, objects::SCHEDULER, "The scheduler").await);
    }
    Ok(())
}

async fn not_ready(ctx: &Context, plan: &Plan, app: &str, what: &str) -> Stop {
    match trouble::of(&ctx.client, plan, app).await {
        Some(why) => Stop::wait("NotReady", format!("{what} isn't ready. {why}")),
        None => Stop::wait("Starting", format!("{what} is starting.")),
    }
}

/// Whether all wanted pods are of the current template, and ready.
fn is_deployed(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && status.updated_replicas == Some(wanted)
            && status.ready_replicas == Some(wanted)
            && status.replicas == Some(wanted)
    })
}

fn is_set_ready(set: &StatefulSet) -> bool {
    let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    set.status.as_ref().is_some_and(|status| {
        status.observed_generation == set.metadata.generation
            && status.ready_replicas == Some(wanted)
            && status.current_revision == status.update_revision
    })
}
