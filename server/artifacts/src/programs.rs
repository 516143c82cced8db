//! kubeadm, kubelet and kubectl, and the images that this kubeadm needs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use api::cluster::Version;
use operation::versions;

use crate::Request;
use crate::curl::{self, Limit};
use crate::error::Error;
use crate::files;
use crate::sums::Sums;
use crate::url::{self, ShownUrl};

const PROGRAMS: [&str; 3] = ["kubeadm", "kubelet", "kubectl"];

fn path(release: &Path, processor: &str, program: &str) -> PathBuf {
    release.join("bin/linux").join(processor).join(program)
}

/// Downloads the programs, each with a `.sha256` beside it. A version of the catalogue must have the catalogue's checksum, another one that
/// which the server publishes.
pub(crate) fn write(request: &Request, release: &Path, sums: &mut Sums, report: &dyn Fn(&str)) -> Result<(), Error> {
    let Request { version, processor, sources, .. } = request;
    for program in PROGRAMS {
        let url = format!(
            "{}/release/v{version}/bin/linux/{processor}/{program}",
            sources.dl_k8s_io_url.trim_end_matches('/')
        );
        let to = path(release, processor, program);
        let sum = match versions::checksum(*version, processor, program) {
            Some(known) => known.to_owned(),
            None => published(&url, &to)?,
        };
        files::download(&url, &to, &sum, report)?;
        let beside = to.with_added_extension("sha256");
        files::write(&beside, &sum)?;
        sums.add(&beside, files::sha256(&beside)?);
        sums.add(&to, sum);
    }
    Ok(())
}

/// Downloads containerd and runc, each with a `.sha256` beside it.
pub(crate) fn write_runtime(request: &Request, folder: &Path, report: &dyn Fn(&str)) -> Result<(), Error> {
    let Request { processor, containerd, runc, sources, .. } = request;
    let archive = format!("containerd-static-{}-linux-{processor}.tar.gz", containerd.version);
    for (name, owner, program, file) in [
        ("containerd", "containerd", containerd, archive),
        ("runc", "opencontainers", runc, format!("runc.{processor}")),
    ] {
        let version = format!("v{}", program.version);
        let base = sources.github_url.trim_end_matches('/');
        let url = format!("{base}/{owner}/{name}/releases/download/{version}/{file}");
        let sum = catalogued_sum(name, program, processor)?;
        let to = folder.join(name).join(&version).join(&file);
        files::download(&url, &to, sum, report)?;
        files::write(&to.with_added_extension("sha256"), sum)?;
    }
    Ok(())
}

/// The SHA-256 of a program of the catalogue for this processor.
pub(crate) fn catalogued_sum<'a>(
    name: &'static str,
    program: &'a versions::Program,
    processor: &str,
) -> Result<&'a str, Error> {
    let sum = program.sha256.get(processor).map(String::as_str);
    sum.ok_or_else(|| Error::NoProgramFor { name, processor: processor.to_owned() })
}

/// The checksum in the file beside a program.
fn published(url: &str, to: &Path) -> Result<String, Error> {
    let url = format!("{url}.sha256");
    let file = files::beside(to)?;
    curl::download(&url, file.path(), Limit::Text)?;
    let text = files::read(file.path())?;
    let sum = text.split_whitespace().next().unwrap_or_default();
    if sum.len() == 64 && sum.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(sum.to_lowercase());
    }
    Err(Error::Malformed { url: ShownUrl::new(&url), what: "it is no SHA-256".into() })
}

/// The images of this version. kubeadm names them; where it can't or may not be started, the catalogue does.
pub(crate) fn images(request: &Request, release: &Path) -> Result<Vec<String>, Error> {
    let kubeadm = path(release, &request.processor, "kubeadm");
    let named = match is_trusted(request) {
        true => named_by(&kubeadm, request),
        false => Err(format!("{} has no TLS, so it isn't started", ShownUrl::new(&request.sources.dl_k8s_io_url))),
    };
    match named {
        Ok(images) => Ok(images.into_iter().map(|image| with_newest_etcd(image, request.version)).collect()),
        Err(why) => of_catalogue(request, &why),
    }
}

/// Whether kubeadm may be started: the catalogue has its checksum, or nobody on the way could change both it and its published checksum.
fn is_trusted(request: &Request) -> bool {
    let is_known = versions::checksum(request.version, &request.processor, "kubeadm").is_some();
    let url = &request.sources.dl_k8s_io_url;
    is_known || url.starts_with("https://") || url::is_of_this_machine(url)
}

fn named_by(kubeadm: &Path, request: &Request) -> Result<Vec<String>, String> {
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(kubeadm, executable).map_err(|error| error.to_string())?;
    let repository = request.sources.kube_image_repo.trim_end_matches('/');
    let done = Command::new(kubeadm)
        .args(["config", "images", "list", "--kubernetes-version", &format!("v{}", request.version)])
        .args(["--image-repository", repository])
        .output()
        .map_err(|error| error.to_string())?;
    if !done.status.success() {
        return Err(masking::hide_in_script(String::from_utf8_lossy(&done.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect())
}

/// The image, but of etcd the one of the catalogue if that is newer than kubeadm's: the playbooks install it.
fn with_newest_etcd(image: String, version: Version) -> String {
    let wanted = versions::minor_of(version).map_or("", |minor| minor.components.etcd.as_str());
    match image.rsplit_once("/etcd:") {
        Some((repository, own)) if numbers(own) < numbers(wanted) => format!("{repository}/etcd:{wanted}"),
        _ => image,
    }
}

/// `[3, 6, 11, 0]` for `3.6.11-0`.
fn numbers(tag: &str) -> Vec<u32> {
    tag.split(['.', '-']).filter_map(|number| number.parse().ok()).collect()
}

fn of_catalogue(request: &Request, why: &str) -> Result<Vec<String>, Error> {
    let Request { version, processor, sources, .. } = request;
    let minor = versions::minor_of(*version).filter(|minor| minor.components.of == *version);
    let Some(minor) = minor else {
        let known: Vec<_> = versions::minors().iter().map(|minor| minor.components.of.to_string()).collect();
        return Err(Error::UnknownImages {
            version: version.to_string(),
            why: why.to_owned(),
            known: known.join(", "),
            processor: processor.clone(),
        });
    };
    let repository = sources.kube_image_repo.trim_end_matches('/');
    // As in kubeadm: only in Kubernetes' own registry is CoreDNS one level deeper.
    let coredns = if repository == "registry.k8s.io" { "coredns/coredns" } else { "coredns" };
    let own = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"];
    let own = own.map(|name| format!("{repository}/{name}:v{version}"));
    let others =
        [(coredns, &minor.components.coredns), ("pause", &minor.components.pause), ("etcd", &minor.components.etcd)];
    Ok(own.into_iter().chain(others.map(|(name, tag)| format!("{repository}/{name}:{tag}"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_etcd_of_the_catalogue_takes_the_place_of_kubeadms() {
        let found = |image: &str, version: &str| with_newest_etcd(image.to_owned(), version.parse().unwrap());
        let etcd = &versions::minor_of("1.36.0".parse().unwrap()).unwrap().components.etcd;
        assert_eq!(found("registry.example/etcd:3.6.8-0", "1.36.4"), format!("registry.example/etcd:{etcd}"));
        for kept in ["registry.example/etcd:3.99.0-0", "registry.example/coredns/coredns:v1.14.2"] {
            assert_eq!(found(kept, "1.36.4"), kept);
        }
        assert_eq!(found("registry.example/etcd:3.6.8-0", "1.20.0"), "registry.example/etcd:3.6.8-0");
    }
}
