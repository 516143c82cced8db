//! `lab up` and `lab down`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use lab::build::release::RELEASES;
use lab::{Error, Layout, boot, kubeconfig, teardown};

#[derive(Args)]
pub(crate) struct Up {
    /// The number of machines: m1, m2, …
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=i64::from(lab::addresses::MOST_MACHINES)))]
    machines: u8,
    /// The number of nodes of the lab's own Kubernetes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    meta_nodes: u8,
    /// Boot no machines.
    #[arg(long, conflicts_with = "machines_only")]
    meta_only: bool,
    /// Boot no Kubernetes.
    #[arg(long)]
    machines_only: bool,
    /// Serve Kubernetes releases to the machines: these minor versions (`--releases=1.36,1.37`), or all. The first build
    /// takes several minutes.
    #[arg(long, value_name = "MINOR", num_args = 0.., require_equals = true, value_delimiter = ',')]
    releases: Option<Vec<String>>,
    /// Use this cluster and boot no Kubernetes. Several files, separated by colons, are merged as kubectl does.
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<OsString>,
    /// Use etcd and kube-apiserver from this folder instead of building them. Such a cluster runs no pods.
    #[arg(long, env = "KUBEBUILDER_ASSETS", value_name = "FOLDER")]
    assets: Option<PathBuf>,
    /// End the lab when this process ends.
    #[arg(long, value_name = "PID")]
    until_exit_of: Option<i32>,
    /// Build no parts: end with exit code 69 if one is missing.
    #[arg(long)]
    only_built: bool,
    /// Only check whether the lab can be booted. Exit codes, with and without this option: 69 if this computer lacks
    /// something, 75 if there is another lab, 76 if a crashed lab has left something behind.
    #[arg(long)]
    check: bool,
}

pub(crate) fn up(up: &Up) -> Result<(), Error> {
    let started = Instant::now();
    // Ignored with --machines-only: both may be set in the environment for other programs.
    let has_cluster = !up.machines_only;
    let assets = up.assets.as_ref().filter(|_| has_cluster);
    let kubeconfig = up.kubeconfig.as_deref().filter(|_| has_cluster);
    let options = boot::Options {
        machines: if up.meta_only { 0 } else { up.machines },
        nodes: if up.machines_only { 0 } else { up.meta_nodes },
        releases: match &up.releases {
            Some(none) if none.is_empty() => RELEASES.iter().map(|release| release.minor.to_owned()).collect(),
            named => named.clone().unwrap_or_default(),
        },
        kubeconfig: kubeconfig.map(kubeconfig::named_by).unwrap_or_default(),
        assets: assets.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())),
        until_exit_of: up.until_exit_of,
        only_built: up.only_built,
    };
    if up.check {
        return boot::check(&Layout::of_this_checkout(), &options);
    }
    if !options.kubeconfig.is_empty() {
        let files = kubeconfig::list(&options.kubeconfig);
        eprintln!("using the Kubernetes of {}; the lab boots none", files.display());
    }
    boot::up(&Layout::of_this_checkout(), &options, &|line| eprintln!("{line}"))?;
    eprintln!("the lab is up after {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

pub(crate) fn down(force: bool) -> Result<(), Error> {
    let started = Instant::now();
    teardown::down(&Layout::of_this_checkout(), force)?;
    eprintln!("the lab is down after {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}
