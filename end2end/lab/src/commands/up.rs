//! `lab up` and `lab down`.

use std::{ffi::OsString, path::PathBuf, time::Instant};

use clap::Args;
use lab::{Error, Layout, boot, build::release::RELEASES, kubeconfig, teardown};

#[derive(Args)]
pub(crate) struct Up {
    /// So many machines: m1, m2, …
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=i64::from(lab::addresses::MOST_MACHINES)))]
    machines: u8,
    /// So many nodes of the lab's own Kubernetes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    meta_nodes: u8,
    /// Kubernetes only.
    #[arg(long, conflicts_with = "machines_only")]
    meta_only: bool,
    /// Machines only.
    #[arg(long)]
    machines_only: bool,
    /// Serve Kubernetes releases to the machines: these minor versions (`--releases=1.33,1.34`), or all there are. They
    /// are built first, which takes long the first time.
    #[arg(long, value_name = "MINOR", num_args = 0.., require_equals = true, value_delimiter = ',')]
    releases: Option<Vec<String>>,
    /// Use this cluster instead of one of the lab's own; several files are separated by colons, and read as kubectl does.
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<OsString>,
    /// Use etcd and kube-apiserver of this folder: an API that runs no pods, without building one.
    #[arg(long, env = "KUBEBUILDER_ASSETS", value_name = "FOLDER")]
    assets: Option<PathBuf>,
    /// End the lab when this process ends.
    #[arg(long, value_name = "PID")]
    until_exit_of: Option<i32>,
    /// Only say whether it could be booted. The exit code is 69 where this computer lacks something, 75 where another lab
    /// is in the way; so it is without this, too.
    #[arg(long)]
    check: bool,
}

pub(crate) fn up(up: &Up) -> Result<(), Error> {
    let begun = Instant::now();
    // Either may stand in the caller's environment, for other work.
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
    };
    if up.check {
        return boot::check(&Layout::of_this_checkout(), &options);
    }
    if !options.kubeconfig.is_empty() {
        let files = kubeconfig::list(&options.kubeconfig);
        eprintln!("the Kubernetes of {} is used; the lab boots none of its own", files.display());
    }
    boot::up(&Layout::of_this_checkout(), &options, &|line| eprintln!("{line}"))?;
    eprintln!("the lab is up after {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

pub(crate) fn down(force: bool) -> Result<(), Error> {
    let begun = Instant::now();
    teardown::down(&Layout::of_this_checkout(), force)?;
    eprintln!("the lab is down after {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}
