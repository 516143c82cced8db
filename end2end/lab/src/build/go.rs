//! Programs from the Go module proxy. `go.mod` pins versions, `go.sum` checksums, `parts/go-toolchain.txt` the toolchain. If
//! another toolchain is installed, `go` fetches the pinned one as a module and verifies it with the checksum database
//! (<https://go.dev/doc/toolchain>). Nothing else is downloaded.

use std::path::Path;
use std::process::Command;

use crate::build::part::{Built, GO_TOOLCHAIN, Part};
use crate::error::Error;
use crate::layout::{parts, workspace};
use crate::{files, program};

/// The programs of one Go module, and how to build them.
struct Recipe {
    /// File name and package of each program.
    programs: &'static [(&'static str, &'static str)],
    /// Further names of the first program, which acts on the name by which it is called.
    names: &'static [&'static str],
    /// Build tags.
    tags: &'static str,
    /// Needs a C compiler (runc's C code enters namespaces before Go's runtime starts) and libseccomp.
    with_c: bool,
}

const KUBERNETES: Recipe = Recipe {
    programs: &[("kubernetes", ".")],
    names: &[
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
        "kubelet",
        "kubectl",
        "kubeadm",
    ],
    tags: "",
    with_c: false,
};

fn recipe(part: &str) -> Recipe {
    let plain = |programs| Recipe { programs, names: &[], tags: "", with_c: false };
    match part {
        "tools" => plain(&[("pause", "./pause"), ("probe", "./probe")]),
        "runc" => RUNC,
        "containerd" => CONTAINERD,
        etcdctl if etcdctl.starts_with("etcdctl-") => {
            plain(&[("etcdctl", "go.etcd.io/etcd/etcdctl/v3"), ("etcdutl", "go.etcd.io/etcd/etcdutl/v3")])
        }
        etcd if etcd.starts_with("etcd-") => plain(&[("etcd", ".")]),
        coredns if coredns.starts_with("coredns-") => plain(&[("coredns", "github.com/coredns/coredns")]),
        _ => KUBERNETES,
    }
}

const RUNC: Recipe = Recipe {
    programs: &[("runc", "github.com/opencontainers/runc")],
    names: &[],
    tags: "seccomp osusergo netgo",
    with_c: true,
};

/// Without the snapshotters that need headers of other libraries.
const CONTAINERD: Recipe = Recipe {
    programs: &[
        ("containerd", "github.com/containerd/containerd/v2/cmd/containerd"),
        ("containerd-shim-runc-v2", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"),
        ("ctr", "github.com/containerd/containerd/v2/cmd/ctr"),
    ],
    names: &[],
    tags: "no_btrfs no_devmapper no_zfs",
    with_c: false,
};

pub(crate) fn build(part: &Part, _: &Built, to: &Path) -> Result<(), Error> {
    let module = parts().join(part.name);
    let recipe = recipe(part.name);
    let link = link_flags(part.name, &files::read(&module.join("go.mod"))?, recipe.with_c);
    let toolchain = files::read(&workspace().join(GO_TOOLCHAIN))?;
    for (name, package) in recipe.programs {
        program::run(
            go_build(toolchain.trim(), &recipe)
                .current_dir(&module)
                .args(["-ldflags", &link, "-o"])
                .args([to.join(name).as_path(), Path::new(package)]),
        )?;
    }
    for name in recipe.names {
        files::link(recipe.programs[0].0, &to.join(name))?;
    }
    Ok(())
}

/// `go build` with this toolchain, independent of the installed one and of the caller's environment.
fn go_build(toolchain: &str, recipe: &Recipe) -> Command {
    let mut go = Command::new("go");
    go.env("GOTOOLCHAIN", toolchain)
        .env("CGO_ENABLED", if recipe.with_c { "1" } else { "0" })
        .env("GOFLAGS", "-buildvcs=false -mod=readonly")
        .env("GOWORK", "off")
        .env("GOOS", "linux")
        .env("GOARCH", "amd64")
        .env("GOAMD64", "v1")
        .env_remove("GOEXPERIMENT")
        .args(["build", "-trimpath", "-tags", recipe.tags]);
    go
}

/// Linker flags. They set the versions that programs report: kubeadm compares its own with kubelet's, and the engine compares containerd's.
fn link_flags(part: &str, module: &str, with_c: bool) -> String {
    let mut flags = String::from("-s -w");
    if with_c {
        flags += " -extldflags -static";
    }
    if let (true, Some(version)) = (part.starts_with("kubernetes-"), required(module, "k8s.io/kubernetes")) {
        let minor = version.split('.').nth(1).unwrap_or_default();
        for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
            flags += &format!(
                " -X {package}.gitVersion={version} -X {package}.gitMajor=1 -X {package}.gitMinor={minor} -X {package}.gitTreeState=clean"
            );
        }
    }
    if let ("containerd", Some(version)) = (part, required(module, "github.com/containerd/containerd/v2")) {
        flags += &format!(" -X github.com/containerd/containerd/v2/version.Version={version}");
    }
    flags
}

/// The version of the module `name` that a `go.mod` requires.
pub(crate) fn required<'a>(module: &'a str, name: &str) -> Option<&'a str> {
    module.lines().filter(|line| !line.contains("=>")).find_map(|line| {
        let mut words = line.trim().trim_start_matches("require ").split_whitespace();
        (words.next() == Some(name)).then(|| words.next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_build_uses_the_pinned_toolchain() {
        let pinned = files::read(&workspace().join(GO_TOOLCHAIN)).unwrap();
        assert!(pinned.starts_with("go1.") && pinned.trim().split('.').count() == 3, "{pinned}");
        let go = go_build(pinned.trim(), &KUBERNETES);
        assert!(go.get_envs().any(|(name, value)| name == "GOTOOLCHAIN" && value == Some(pinned.trim().as_ref())));
    }

    #[test]
    fn the_callers_go_environment_does_not_change_the_build() {
        let go = go_build("go1.26.8", &KUBERNETES);
        let set: Vec<_> = go.get_envs().collect();
        for (name, value) in [("GOWORK", "off"), ("GOOS", "linux"), ("GOARCH", "amd64"), ("GOAMD64", "v1")] {
            assert!(set.contains(&(name.as_ref(), Some(value.as_ref()))), "{name}");
        }
        assert!(set.contains(&("GOEXPERIMENT".as_ref(), None)));
    }

    #[test]
    fn kubernetes_programs_report_the_pinned_version() {
        let module = files::read(&parts().join("kubernetes-1.36/go.mod")).unwrap();
        let version = required(&module, "k8s.io/kubernetes").unwrap();
        assert!(version.starts_with("v1.36."), "{version}");
        assert!(link_flags("kubernetes-1.36", &module, false).contains(&format!("gitVersion={version}")));
        assert!(link_flags("kubernetes-1.36", &module, false).contains("gitMinor=36 "));
    }
}
