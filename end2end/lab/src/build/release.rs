//! Kubernetes versions that machines can install: programs and image archives, with the same paths as dl.k8s.io. The lab serves
//! them at [`crate::addresses::ARTIFACTS`].
//!
//! ```text
//! release/v1.36.4/bin/linux/amd64/{kubeadm,kubelet,kubectl}  each with a .sha256
//! release/v1.36.4/bin/linux/amd64/{etcdctl,etcdutl}
//! release/v1.36.4/images/{kubernetes,etcd,coredns,pause,probe}.tar
//! release/v1.36.4/SHA256SUMS
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::contents;
use crate::build::go::required;
use crate::build::image::{self, Config};
use crate::build::part::{Built, Part};
use crate::error::{Doing, Error};
use crate::layout::parts;
use crate::{files, program};

/// The registry in the names of a release's images. kubeadm needs it as `imageRepository`.
pub const REGISTRY: &str = "lab.test";

/// One Kubernetes version for machines.
pub struct Release {
    /// `1.36`
    pub minor: &'static str,
    pub(crate) part: &'static str,
    etcd: &'static str,
    etcdctl: &'static str,
    coredns: &'static str,
    /// The tags that this version's kubeadm expects (`cmd/kubeadm/app/constants` of that version).
    etcd_tag: &'static str,
    pause_tag: &'static str,
}

/// Two releases, one minor version apart, so that upgrades can be tested.
pub const RELEASES: &[Release] = &[
    Release {
        minor: "1.36",
        part: "release-1.36",
        etcd: "etcd-3.6",
        etcdctl: "etcdctl-3.6",
        coredns: "coredns-1.14.2",
        // Newer than kubeadm's own, because etcd 3.7 needs it before an upgrade.
        etcd_tag: "3.6.11-0",
        pause_tag: "3.10.2",
    },
    Release {
        minor: "1.37",
        part: "release-1.37",
        etcd: "etcd-3.7",
        etcdctl: "etcdctl-3.7",
        coredns: "coredns-1.14.6",
        etcd_tag: "3.7.0-0",
        pause_tag: "3.10.2",
    },
];

impl Release {
    /// The release of a minor version, `1.36`.
    pub(crate) fn of(minor: &str) -> Result<&'static Self, Error> {
        let known = || RELEASES.iter().map(|release| release.minor).collect::<Vec<_>>().join(", ");
        RELEASES
            .iter()
            .find(|release| release.minor == minor)
            .ok_or_else(|| Error::NoSuchRelease { minor: minor.to_owned(), known: known() })
    }

    /// The full version, `v1.36.4`, as the part's `go.mod` pins it.
    pub fn version(&self) -> Result<String, Error> {
        let file = parts().join(format!("kubernetes-{}/go.mod", self.minor));
        let module = files::read(&file)?;
        required(&module, "k8s.io/kubernetes")
            .map(str::to_owned)
            .ok_or_else(|| Error::Malformed { file, why: "it requires no k8s.io/kubernetes".into() })
    }
}

/// The name of this computer's architecture in published files.
pub(crate) fn architecture() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" }
}

/// Programs that kube-proxy runs. They come from Debian, with the libraries they load.
const KUBE_PROXY_RUNS: &[&str] = &["xtables-nft-multi", "xtables-legacy-multi", "conntrack", "nft", "ipset"];

pub(crate) fn assemble(part: &Part, built: &Built, to: &Path) -> Result<(), Error> {
    let release = Release::of(part.name.trim_start_matches("release-"))?;
    let version = release.version()?;
    let folder = to.join("release").join(&version);
    let programs = folder.join("bin/linux").join(architecture());
    let kubernetes = built[format!("kubernetes-{}", release.minor).as_str()].join("kubernetes");

    for name in ["kubeadm", "kubelet", "kubectl"] {
        hard_link(&kubernetes, &programs.join(name))?;
    }
    for name in ["etcdctl", "etcdutl"] {
        hard_link(&built[release.etcdctl].join(name), &programs.join(name))?;
    }
    let images = folder.join("images");
    files::make_folder(&images)?;
    kubernetes_image(&kubernetes, &built["machine-root"].join("root"), &version, &images.join("kubernetes.tar"))?;
    let named = |image: &str, tag: &str| format!("{REGISTRY}/{image}:{tag}");
    let coredns_tag = format!("v{}", release.coredns.trim_start_matches("coredns-"));
    // Kubernetes' own image of etcd also contains etcdutl, which restores snapshots.
    let (etcd, etcdutl) = (built[release.etcd].join("etcd"), built[release.etcdctl].join("etcdutl"));
    contents::single(&[&etcd, &etcdutl], &[&named("etcd", release.etcd_tag)], &images.join("etcd.tar"))?;
    for (program, image, tag) in [
        (built[release.coredns].join("coredns"), "coredns", coredns_tag.as_str()),
        (built["tools"].join("pause"), "pause", release.pause_tag),
        (built["tools"].join("probe"), "probe", "lab"),
    ] {
        contents::single(&[&program], &[&named(image, tag)], &images.join(format!("{image}.tar")))?;
    }
    let mut sums = String::new();
    for file in files::all_files(&folder) {
        let sum = image::sha256(&file)?;
        sums += &format!("{sum}  {}\n", file.strip_prefix(&folder).unwrap_or(&file).display());
        if file.starts_with(&programs) {
            files::write(&file.with_added_extension("sha256"), 0o644, sum)?;
        }
    }
    files::write(&folder.join("SHA256SUMS"), 0o644, sums)
}

/// Makes one image for the four components, so that machines import one layer instead of four.
fn kubernetes_image(kubernetes: &Path, machine: &Path, version: &str, to: &Path) -> Result<(), Error> {
    let root = to.with_added_extension("root");
    contents::base(&root)?;
    hard_link(kubernetes, &root.join("usr/local/bin/kubernetes"))?;
    let components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"];
    for name in components {
        files::link("kubernetes", &root.join("usr/local/bin").join(name))?;
    }
    files::link("usr/lib", &root.join("lib"))?;
    files::link("usr/lib64", &root.join("lib64"))?;
    files::link("usr/sbin", &root.join("sbin"))?;
    for file in needed_by_kube_proxy(machine)? {
        contents::copy(&machine.join(&file), &root.join(&file))?;
    }
    for tables in ["iptables", "ip6tables"] {
        for verb in ["", "-save", "-restore"] {
            for (kind, program) in
                [("", "xtables-nft-multi"), ("-nft", "xtables-nft-multi"), ("-legacy", "xtables-legacy-multi")]
            {
                files::link(program, &root.join(format!("usr/sbin/{tables}{kind}{verb}")))?;
            }
        }
    }
    let layer = image::layer(&root, &to.with_added_extension("layer"))?;
    files::remove(&root)?;
    let names = components.map(|component| format!("{REGISTRY}/{component}:{version}"));
    image::archive(&names, vec![layer], &Config { folder: "/", ..Config::default() }, to).map(drop)
}

/// The programs that kube-proxy runs and their libraries, relative to a machine's root. Extensions of iptables load further
/// libraries (libxt_statistic.so needs libm). Without these, iptables accepts no rule of a Service.
fn needed_by_kube_proxy(machine: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let mut all: BTreeSet<PathBuf> = KUBE_PROXY_RUNS.iter().map(|name| Path::new("usr/sbin").join(name)).collect();
    for library in files::all_files(&machine.join("usr/lib")) {
        if library.parent().is_some_and(|folder| folder.ends_with("xtables")) {
            all.insert(library.strip_prefix(machine).unwrap_or(&library).to_owned());
        }
    }
    let said = program::output(
        Command::new("chroot").arg(machine).arg("ldd").args(all.iter().map(|file| Path::new("/").join(file))),
    )?;
    // Lines are `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)` and `/lib64/ld-linux-x86-64.so.2 (0x…)`.
    let libraries = said.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    for library in libraries.filter(|library| !library.ends_with(':')) {
        all.insert(Path::new("usr").join(library.trim_start_matches("/usr").trim_start_matches('/')));
    }
    Ok(all)
}

/// Makes a hard link, which needs no space.
pub(crate) fn hard_link(file: &Path, name: &Path) -> Result<(), Error> {
    if let Some(folder) = name.parent() {
        files::make_folder(folder)?;
    }
    fs::hard_link(file, name).doing(|| format!("link {} to {}", name.display(), file.display()))
}
