//! The Kubernetes versions that the engines install: `deploy/runner/playbooks/versions.json`, also part of the runner image.
//!
//! The built-in engine accepts any version, so another one can be typed; the catalogue says what is known about a version.

mod data;
mod path;

use api::cluster::{OfferedVersion, Version};
use crd::Engine;
use data::CATALOGUE;
pub use data::{Components, KubesprayRelease, Minor, Plugin, PluginFile, Program};
pub use path::Span;

/// The minor versions of the built-in engine, oldest first.
pub fn minors() -> &'static [Minor] {
    &CATALOGUE.kubeonkube.minors
}

/// The SHA-256 of a program as dl.k8s.io publishes it, for example `kubeadm` for `amd64`; `None` if the catalogue doesn't have it.
pub fn checksum(version: Version, processor: &str, program: &str) -> Option<&'static str> {
    CATALOGUE.kubeonkube.programs.get(&version.to_string())?.get(processor)?.get(program).map(String::as_str)
}

/// The network plugins that are installed from published files, by their names.
pub fn plugins() -> impl Iterator<Item = (&'static str, &'static Plugin)> {
    CATALOGUE.kubeonkube.plugins.iter().map(|(name, plugin)| (name.as_str(), plugin))
}

/// The containerd of all machines: the archive `containerd-static`.
pub fn containerd() -> &'static Program {
    &CATALOGUE.kubeonkube.containerd
}

/// The runc of all machines.
pub fn runc() -> &'static Program {
    &CATALOGUE.kubeonkube.runc
}

/// The helm that renders the charts of network plugins, as an archive.
pub fn helm() -> &'static Program {
    &CATALOGUE.kubeonkube.helm
}

/// The releases of kubespray, oldest first.
pub fn kubespray_releases() -> &'static [KubesprayRelease] {
    &CATALOGUE.kubespray
}

/// The day of the catalogue, `2026-11-23`: newer patches may exist.
pub fn as_of() -> &'static str {
    &CATALOGUE.as_of
}

/// The version that the built-in engine installs if the variables name none.
pub fn default_version() -> Version {
    CATALOGUE.kubeonkube.default
}

/// Whether the tests of this project run exactly this version with the built-in engine.
pub fn is_proven(version: Version) -> bool {
    minors().iter().any(|minor| minor.run == Some(version))
}

/// The catalogue's entry for the minor version that `version` belongs to.
pub fn minor_of(version: Version) -> Option<&'static Minor> {
    minors().iter().find(|minor| minor.newest.is_patch_of(version))
}

/// The newest known patch of the minor version that `version` belongs to.
pub fn newest_patch(version: Version) -> Option<Version> {
    minor_of(version).map(|minor| minor.newest)
}

/// The kubespray release that an image contains, by its tag: `quay.io/kubespray/kubespray:v2.28.1`.
pub fn kubespray_release(image: &str) -> Option<&'static KubesprayRelease> {
    let tag = image.split('@').next()?.rsplit_once(':')?.1;
    let is_of = |release: &&KubesprayRelease| {
        tag.strip_prefix(release.release.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    };
    kubespray_releases().iter().find(is_of)
}

/// The versions that a form offers, newest first. For the built-in engine, these are the tested and the newest patch of each minor
/// version; for kubespray, the newest version of the release in `image`, or none if the release is unknown.
pub fn offered(engine: Engine, image: &str) -> Vec<OfferedVersion> {
    let mut versions: Vec<Version> = match engine {
        Engine::Kubespray => kubespray_release(image).map(|release| release.to).into_iter().collect(),
        Engine::Kubeonkube => minors().iter().flat_map(|minor| minor.run.into_iter().chain([minor.newest])).collect(),
    };
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.dedup();
    versions.into_iter().map(|version| describe(engine, version)).collect()
}

/// What is known about a version of this engine.
pub fn describe(engine: Engine, version: Version) -> OfferedVersion {
    let ours = engine == Engine::Kubeonkube;
    OfferedVersion {
        version,
        proven: ours && is_proven(version),
        newest_patch: newest_patch(version) == Some(version),
        default: ours && version == default_version(),
        end_of_support: minor_of(version).map(|minor| minor.end_of_support.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
