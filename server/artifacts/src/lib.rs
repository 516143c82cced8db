//! Writes the folder from which the built-in engine installs a Kubernetes version without internet access (`files_repo`).
//!
//! ```text
//! release/v1.34.4/bin/linux/amd64/{kubeadm,kubelet,kubectl}   each with a .sha256
//! release/v1.34.4/images/*.tar, release/v1.34.4/SHA256SUMS
//! containerd/v2.3.4/containerd-static-2.3.4-linux-amd64.tar.gz, runc/v1.4.3/runc.amd64   each with a .sha256
//! calico/v3.31.7/calico-vxlan.yaml, calico/v3.31.7/images/*.tar, calico/v3.31.7/SHA256SUMS
//! ```
//!
//! Downloads run in `curl`, which knows proxies and the certificates of the machine. A file appears in the folder only when it is complete
//! and has the expected checksum, so a second call continues an interrupted one.

mod arguments;
mod curl;
mod error;
mod files;
mod image;
mod leftovers;
mod lock;
mod programs;
mod progress;
mod registry;
mod sums;
mod url;

use std::path::Path;

use api::cluster::Version;
use operation::versions::{self, PluginFile, Program};

pub use crate::error::Error;
use crate::lock::Lock;
use crate::registry::Registries;
use crate::sums::Sums;
pub use crate::url::ShownUrl;

/// What to download.
#[derive(Clone)]
pub struct Request {
    pub version: Version,
    /// `amd64` or `arm64`
    pub processor: String,
    /// The container runtime of the machines: entries of the catalogue.
    pub containerd: Program,
    pub runc: Program,
    /// Network plugins of the catalogue, beside `bridge`, which needs no download.
    pub plugins: Vec<String>,
    pub sources: Sources,
}

/// Where it comes from. The names are those of the playbooks' variables.
#[derive(Clone)]
pub struct Sources {
    pub dl_k8s_io_url: String,
    pub kube_image_repo: String,
    pub quay_image_repo: String,
    pub github_url: String,
    pub cilium_chart_url: String,
    pub get_helm_url: String,
}

/// Writes the folder, and removes what an interrupted call has left in it. `report` gets a line for each file. Standard error shows
/// the progress of long downloads.
pub fn write(request: &Request, folder: &Path, report: &dyn Fn(&str)) -> Result<(), Error> {
    let plugins = plugins(request)?;
    arguments::check(request, &plugins)?;
    files::create_folder(folder)?;
    let lock = lock::take(folder)?;
    let remove_leftovers = || match lock {
        Lock::Held(_) => leftovers::remove(folder),
        Lock::Unsupported => Ok(()),
    };
    if matches!(lock, Lock::Unsupported) {
        report(&format!(
            "{} can't be locked: don't run this command twice on it at the same time. Temporary files of interrupted calls stay.",
            folder.display()
        ));
    }
    remove_leftovers()?;
    let written = write_all(request, &plugins, folder, report);
    if written.is_err() {
        // The first error says more than one of this.
        let _second = remove_leftovers();
    }
    written
}

type CataloguedPlugin = (&'static str, &'static versions::Plugin);

fn write_all(
    request: &Request,
    plugins: &[CataloguedPlugin],
    folder: &Path,
    report: &dyn Fn(&str),
) -> Result<(), Error> {
    let release = folder.join(format!("release/v{}", request.version));
    refuse_another_processor(folder, &request.processor)?;
    let mut sums = Sums::read(&release)?;
    programs::write(request, &release, &mut sums, report)?;
    programs::write_runtime(request, folder, report)?;
    let mut registries = Registries::new(&request.processor);
    let images = programs::images(request, &release)?;
    write_images(&mut registries, &images, &release, &mut sums, report)?;
    for (name, plugin) in plugins {
        let folder = folder.join(name).join(&plugin.version);
        let mut sums = Sums::read(&folder)?;
        write_plugin(request, plugin, &folder, &mut sums, report)?;
        let images: Vec<String> =
            plugin.images.iter().map(|image| from(&request.sources.quay_image_repo, image)).collect();
        write_images(&mut registries, &images, &folder, &mut sums, report)?;
    }
    Ok(())
}

/// The entries of the catalogue for the requested network plugins.
fn plugins(request: &Request) -> Result<Vec<CataloguedPlugin>, Error> {
    let find = |wanted: &String| {
        let known = || versions::plugins().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
        versions::plugins()
            .find(|(name, _)| name == wanted)
            .ok_or_else(|| Error::NoSuchPlugin { name: wanted.clone(), known: known() })
    };
    request.plugins.iter().map(find).collect()
}

/// Neither archives nor the folders of plugins have a processor in their names, so all versions in a folder are for the same one. Its first
/// complete program decides which one: empty folders and temporary files don't count.
fn refuse_another_processor(folder: &Path, processor: &str) -> Result<(), Error> {
    let has_program = |folder: &Path| files::children(folder).iter().any(|name| !files::is_temporary(name));
    let releases = folder.join("release");
    for version in files::children(&releases) {
        let programs = releases.join(version).join("bin/linux");
        for other in files::children(&programs) {
            if other != processor && has_program(&programs.join(&other)) {
                let processor = processor.to_owned();
                return Err(Error::AnotherProcessor { folder: folder.to_owned(), other, processor });
            }
        }
    }
    Ok(())
}

/// The image in another registry.
fn from(registry: &str, image: &str) -> String {
    let (_, rest) = image.split_once('/').unwrap_or(("", image));
    format!("{}/{rest}", registry.trim_end_matches('/'))
}

/// Writes the archives of images and the list of all checksums in `folder`. An archive is kept only if it is as an earlier call has recorded it.
fn write_images(
    registries: &mut Registries,
    images: &[String],
    folder: &Path,
    sums: &mut Sums,
    report: &dyn Fn(&str),
) -> Result<(), Error> {
    for name in images {
        let to = folder.join("images").join(format!("{}.tar", archive_name(name)));
        if sums.check(&to)? {
            image::expect(&to, name, &registries.processor)?;
            report(&format!("{name}: already there"));
        } else {
            let image::Written { digest, sha256 } = image::write(registries, name, &to)?;
            sums.add(&to, sha256);
            sums.write_unfinished()?;
            report(&format!("{name}: {digest}"));
        }
    }
    sums.write()
}

/// `etcd` for `registry.k8s.io/etcd:3.6.5-0`. Workers leave out the archive with this name.
fn archive_name(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.split(':').next().unwrap_or(last)
}

fn write_plugin(
    request: &Request,
    plugin: &versions::Plugin,
    folder: &Path,
    sums: &mut Sums,
    report: &dyn Fn(&str),
) -> Result<(), Error> {
    let Sources { github_url, cilium_chart_url, get_helm_url, .. } = &request.sources;
    let mut get = |base: &str, path: &str, name: &str, sha256: &str| {
        let url = format!("{}/{path}{name}", base.trim_end_matches('/'));
        files::download(&url, &folder.join(name), sha256, report)?;
        sums.add(&folder.join(name), sha256.to_owned());
        Ok(())
    };
    match &plugin.file {
        PluginFile::Manifest(name) => {
            let path = format!("projectcalico/calico/raw/{}/manifests/", plugin.version);
            get(github_url, &path, name, &plugin.sha256)
        }
        PluginFile::Chart(name) => {
            get(cilium_chart_url, "", name, &plugin.sha256)?;
            let helm = versions::helm();
            let processor = request.processor.as_str();
            let sha256 = programs::catalogued_sum("helm", helm, processor)?;
            get(get_helm_url, "", &format!("helm-v{}-linux-{processor}.tar.gz", helm.version), sha256)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_last_part_of_the_images_name() {
        assert_eq!(archive_name("registry.k8s.io/coredns/coredns:v1.12.1"), "coredns");
        assert_eq!(archive_name("127.0.0.1:5000/etcd:3.6.5-0"), "etcd");
    }

    #[test]
    fn only_a_complete_program_decides_the_processor() {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("release/v1.36.4/bin/linux/arm64");
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::write(programs.join(".download-a1B2c3"), "half").unwrap();
        assert!(refuse_another_processor(folder.path(), "amd64").is_ok());
        std::fs::write(programs.join("kubelet"), "complete").unwrap();
        assert!(refuse_another_processor(folder.path(), "amd64").is_err());
        assert!(refuse_another_processor(folder.path(), "arm64").is_ok());
    }

    #[test]
    fn an_image_may_come_from_another_registry() {
        assert_eq!(
            from("mirror.example:5000/quay/", "quay.io/calico/cni:v3.31.7"),
            "mirror.example:5000/quay/calico/cni:v3.31.7"
        );
    }
}
