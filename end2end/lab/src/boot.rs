//! Boots a lab: parts, lock, namespaces, machines, Kubernetes. Reports the time of each step.

use std::path::PathBuf;
use std::time::Instant;

use crate::build::locks::InUse;
use crate::build::part::{Built, Part};
use crate::build::parts::{FOR_CLUSTER, FOR_MACHINES, FOR_RELEASES};
use crate::build::release::Release;
use crate::build::workshop::{self, Pins};
use crate::cluster::pki::Authority;
use crate::cluster::programs::Programs;
use crate::cluster::{control_plane, node, readiness};
use crate::error::Error;
use crate::inside::Inside;
use crate::layout::Layout;
use crate::machine::description::{Description, Folder, Share};
use crate::machine::{Machine, disk};
use crate::namespaces::Namespaces;
use crate::process::Process;
use crate::program::for_each_at_once;
use crate::record::{Boot, Record};
use crate::{Lab, addresses, files, guard, keys, kubeconfig, lock, requirements, sharing};

/// What to boot.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The number of machines: `m1`, `m2`, …
    pub machines: u8,
    /// The number of nodes of the lab's own Kubernetes: 0 (no Kubernetes), 1 or 2.
    pub nodes: u8,
    /// Serve these Kubernetes releases to the machines: minor versions, `1.36`.
    pub releases: Vec<String>,
    /// Use the cluster of these kubeconfig files and boot no Kubernetes.
    pub kubeconfig: Vec<PathBuf>,
    /// Use etcd and kube-apiserver from this folder for the lab's own cluster. It then runs no pods.
    pub assets: Option<PathBuf>,
    /// End the lab when this process ends.
    pub until_exit_of: Option<i32>,
    /// Build no parts: it is an error if one is missing.
    pub only_built: bool,
}

/// What the options ask for, checked.
struct Wanted {
    own_cluster: bool,
    given: Option<Programs>,
    releases: Vec<&'static Release>,
    parts: Vec<&'static str>,
}

impl Wanted {
    /// # Errors
    /// If an option can't be met, or if there is another lab.
    fn by(options: &Options) -> Result<Self, Error> {
        let own_cluster = options.nodes > 0 && options.kubeconfig.is_empty();
        let given = given(options, own_cluster)?;
        let releases = options.releases.iter().map(|minor| Release::of(minor)).collect::<Result<Vec<_>, _>>()?;
        let parts = wanted(options, own_cluster, &releases);
        // If that lab doesn't end, the next line says so.
        let _late = sharing::wait_ended(lock::read);
        lock::require_none(lock::find())?;
        Ok(Self { own_cluster, given, releases, parts })
    }
}

/// Checks whether the lab can be booted, as far as that is possible without building or starting anything.
pub fn check(layout: &Layout, options: &Options) -> Result<(), Error> {
    let wanted = Wanted::by(options)?;
    require(layout, options, &wanted.parts, Pins::of_this_run()).map(drop)
}

/// Checks that this computer can boot the lab, and build what is missing. Returns that.
fn require(layout: &Layout, options: &Options, wanted: &[&str], pins: Pins) -> Result<Vec<&'static Part>, Error> {
    let missing = workshop::missing(layout, wanted, pins)?;
    if options.only_built && !missing.is_empty() {
        return Err(Error::NotBuilt(missing.iter().map(|part| part.name.to_owned()).collect()));
    }
    requirements::check(layout, &missing)?;
    Ok(missing)
}

/// Boots the lab and waits until all of it is usable. If a step fails, what earlier steps started is kept for inspection:
/// [`crate::teardown::down`] ends it.
pub fn up(layout: &Layout, options: &Options, report: &(dyn Fn(String) + Sync)) -> Result<Lab, Error> {
    let Wanted { own_cluster, given, releases, parts: wanted } = Wanted::by(options)?;
    let in_use = InUse::take(layout, report)?;
    let pins = Pins::of_this_run();
    let missing = require(layout, options, &wanted, pins)?;
    let built = workshop::build(&in_use, layout, &wanted, pins, report)?;
    if !missing.is_empty() {
        // iptables rules can only be tried with the iptables of the machines' root file system, which is built now.
        requirements::check(layout, &[])?;
    }

    let programs = given.or_else(|| own_cluster.then(|| Programs::built(&built)));
    let mut record = Record {
        folder: layout.folder.clone(),
        since: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        booter: Process::this()?,
        namespaces: None,
        ends_with: options.until_exit_of.and_then(Process::now),
        machines: (1..=options.machines).map(|number| format!("m{number}")).collect(),
        nodes: if own_cluster { (1..=options.nodes).map(|number| format!("n{number}")).collect() } else { Vec::new() },
        kubeconfigs: options.kubeconfig.clone(),
        own_cluster,
        parts: built.values().cloned().collect(),
        tools: built["tools"].clone(),
        runc: built["runc"].clone(),
        kubectl: programs.as_ref().map(|programs| programs.kubectl.clone()),
        releases: releases.iter().map(|release| release.version()).collect::<Result<_, _>>()?,
        boot: Boot::Underway,
    };
    lock::take(&record)?;
    // From here on the record protects the parts in use.
    drop(in_use);
    match boot(layout, options, &mut record, &Made { built, programs, releases }, report) {
        Ok(inside) => Ok(Lab::of(layout.clone(), record, inside)),
        Err(error) => Err(give_up(record, error)?),
    }
}

/// What a boot needs from the steps before the lock.
struct Made<'a> {
    built: Built,
    programs: Option<Programs>,
    releases: Vec<&'a Release>,
}

/// Boots the lab of this record, and keeps the record up to date.
fn boot(
    layout: &Layout,
    options: &Options,
    record: &mut Record,
    Made { built, programs, releases }: &Made<'_>,
    report: &(dyn Fn(String) + Sync),
) -> Result<Inside, Error> {
    let started = Instant::now();
    let step = |what: &str| report(format!("{:>5.1} s  {what}", started.elapsed().as_secs_f64()));
    files::remove(&layout.run())?;
    let namespaces = Namespaces::make(&built["tools"].join("pause"), |namespaces| {
        lock::write(&Record { namespaces: Some(namespaces), ..record.clone() })
    })?;
    record.namespaces = Some(namespaces);
    if let Some(process) = options.until_exit_of {
        guard::start(layout, process)?;
    }
    let inside = Inside(namespaces);
    step("namespaces");

    if !releases.is_empty() {
        serve_releases(layout, inside, built, releases)?;
        step("releases are served");
    }
    let machines = install(layout, options, record, built, programs.as_ref())?;
    lock::write(record)?;
    let machines = for_each_at_once(&machines, |machine| {
        let machine = Machine::find(layout, inside, &machine.name)?;
        machine.start()?;
        Ok(machine)
    })?;
    for_each_at_once(&machines, Machine::wait_reachable)?;
    step(&format!("{} machines answer to SSH", machines.len()));

    let lab = Lab::of(layout.clone(), record.clone(), inside);
    if let Some(programs) = programs {
        let administrator = lab.administrator()?;
        administrator.wait_api()?;
        step("the API server is ready");
        if programs.kubernetes.is_some() {
            administrator.install_dns()?;
            administrator.wait_nodes(&record.nodes)?;
            step("all nodes are Ready");
            let nodes: Vec<_> =
                machines.iter().filter(|machine| record.nodes.iter().any(|node| node == machine.name())).collect();
            for_each_at_once(&nodes, |node| readiness::wait_images(node))?;
            step("images are imported");
            administrator.wait_dns()?;
            step("cluster DNS answers");
        }
    }
    record.boot = Boot::Ready;
    lock::write(record)?;
    Ok(inside)
}

/// Writes the reason of a failed boot into the record, or releases the lock if nothing was started. Returns the error to
/// report.
fn give_up(mut record: Record, error: Error) -> Result<Error, Error> {
    record.boot = Boot::Failed(error.to_string());
    // If another process ended the lab, this fails with `Error::Ended`, which is the real reason.
    lock::write(&record)?;
    if record.namespaces.is_none() {
        lock::release()?;
    }
    Ok(error)
}

/// Checks what the caller provides, before anything is built or started: the kubeconfig files can be read, and the process
/// that ends the lab exists. Returns the binaries of `assets`.
fn given(options: &Options, own_cluster: bool) -> Result<Option<Programs>, Error> {
    if let Some(process) = options.until_exit_of
        && Process::now(process).is_none()
    {
        return Err(Error::NoProcess { process });
    }
    if !options.kubeconfig.is_empty() {
        kubeconfig::read(&options.kubeconfig)?;
    }
    options.assets.as_deref().filter(|_| own_cluster).map(Programs::assets).transpose()
}

/// The parts that the lab needs.
fn wanted(options: &Options, own_cluster: bool, releases: &[&Release]) -> Vec<&'static str> {
    let mut wanted = FOR_MACHINES.to_vec();
    if own_cluster && options.assets.is_none() {
        wanted.extend(FOR_CLUSTER);
    }
    wanted.extend(releases.iter().map(|release| release.part));
    if !releases.is_empty() {
        wanted.push(FOR_RELEASES);
    }
    wanted
}

/// Writes keys, descriptions and the initial disks of machines and nodes. Returns the descriptions: machines, then nodes.
fn install(
    layout: &Layout,
    options: &Options,
    record: &mut Record,
    built: &Built,
    programs: Option<&Programs>,
) -> Result<Vec<Description>, Error> {
    let lab_keys = layout.keys();
    keys::make_own(&lab_keys)?;
    let describe = |name: String, address| Description {
        name,
        address,
        root: built["machine-root"].join("root"),
        runc: built["runc"].join("runc"),
        sees: Vec::new(),
        in_memory: Vec::new(),
        routes: Vec::new(),
    };
    let mut all: Vec<_> =
        (1..=options.machines).map(|number| describe(format!("m{number}"), addresses::machine(number))).collect();
    if let Some(programs) = programs {
        let authority = Authority::make()?;
        for number in 1..=options.nodes {
            let mut node = describe(format!("n{number}"), addresses::node(number));
            node.routes = (1..=options.nodes)
                .filter(|other| *other != number)
                .map(|other| (addresses::pods_of_node(other), addresses::node(other)))
                .collect();
            install_node(layout, &authority, programs, number, &mut node)?;
            all.push(node);
        }
        let kubeconfig = layout.cluster().join("admin.kubeconfig");
        authority.kubeconfig("admin", Some("system:masters"), &kubeconfig)?;
        record.kubeconfigs = vec![kubeconfig];
    }
    let mut known_hosts = String::new();
    for machine in &all {
        let folder = Folder::of(layout, &machine.name);
        folder.describe(machine)?;
        known_hosts += &disk::make_host_key(machine, &lab_keys)?;
        disk::personalise(machine, &folder, &lab_keys)?;
    }
    files::write(&keys::known_hosts(&lab_keys), 0o644, known_hosts)?;
    Ok(all)
}

fn install_node(
    layout: &Layout,
    authority: &Authority,
    programs: &Programs,
    number: u8,
    node: &mut Description,
) -> Result<(), Error> {
    let configuration = layout.cluster().join(&node.name);
    let etc = Folder::of(layout, &node.name).disk().join("changes/etc");
    files::write(&configuration.join("ca.crt"), 0o644, &authority.certificate)?;
    if number == 1 {
        control_plane::install(authority, programs, &configuration, &etc)?;
    }
    if let Some(kubernetes) = &programs.kubernetes {
        node::install(authority, number, kubernetes, &configuration, &etc)?;
    }
    // In memory, because unpacking images and removing them at the end takes minutes on a busy disk.
    node.in_memory = vec!["/var/lib/containerd".to_owned()];
    node.sees.clone_from(&programs.shares);
    node.sees.push(Share::new(&configuration, control_plane::CONFIGURATION));
    Ok(())
}

/// Starts the file server from which machines download releases.
fn serve_releases(layout: &Layout, inside: Inside, built: &Built, releases: &[&Release]) -> Result<(), Error> {
    let folder = layout.run().join("artifacts");
    for release in releases {
        let version = release.version()?;
        files::link(built[release.part].join("release").join(&version), &folder.join("release").join(&version))?;
    }
    if let Some(runtime) = built.get(FOR_RELEASES) {
        for name in ["containerd", "runc"] {
            files::link(runtime.join(name), &folder.join(name))?;
        }
    }
    let probe = built["tools"].join("probe");
    crate::program::run(
        inside
            .command("setsid")
            .args(["--fork", "sh", "-c", "exec \"$@\" >/dev/null 2>&1 </dev/null", "sh"])
            .arg(probe)
            .args(["files", &addresses::ARTIFACTS.to_string()])
            .arg(folder),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_only_built_missing_parts_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, options) =
            (Layout::within(folder.path().to_owned()), Options { only_built: true, ..Options::default() });
        let why = require(&layout, &options, &["tools", "runtime"], Pins::Preferred).err().unwrap();
        assert_eq!(why.exit_code(), 69);
        assert!(why.to_string().contains("`cargo xtask lab build tools runc containerd runtime`"), "{why}");
    }
}
