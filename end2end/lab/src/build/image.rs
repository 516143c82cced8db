//! Writes OCI image archives without a container engine: <https://github.com/opencontainers/image-spec>.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::error::{Doing, Error};
use crate::{files, program};

/// The timestamp of everything in an image, so that the same content always has the same digest.
const TIME: &str = "2026-01-01T00:00:00Z";

/// One layer: an uncompressed tar file and its digest.
pub(crate) struct Layer {
    file: PathBuf,
    sha256: String,
}

/// The part of an image's configuration that isn't about layers.
#[derive(Default)]
pub(crate) struct Config<'a> {
    pub(crate) entrypoint: &'a [&'a str],
    pub(crate) folder: &'a str,
}

/// Packs a folder into a layer. `file` must be on the same file system as the later archive.
pub(crate) fn layer(folder: &Path, file: &Path) -> Result<Layer, Error> {
    program::run(
        Command::new("tar")
            .args(["--sort=name", "--numeric-owner", "--format=pax", "--pax-option=delete=atime,delete=ctime"])
            .args([&format!("--mtime={TIME}"), "--one-file-system", "--directory"])
            .arg(folder)
            .arg("--create")
            .arg("--file")
            .arg(file)
            .arg("."),
    )?;
    Ok(Layer { sha256: sha256(file)?, file: file.to_owned() })
}

/// Writes an archive with one image under all `names`. Moves the layers' files.
pub(crate) fn archive(names: &[String], layers: Vec<Layer>, config: &Config<'_>, to: &Path) -> Result<(), Error> {
    let folder = to.with_added_extension("blobs");
    let blobs = folder.join("blobs/sha256");
    files::make_folder(&blobs)?;
    let mut described = Vec::new();
    let mut digests = Vec::new();
    for layer in layers {
        let size = fs::metadata(&layer.file).doing(|| format!("read the size of {}", layer.file.display()))?.len();
        let digest = format!("sha256:{}", layer.sha256);
        described.push(json!({"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": digest, "size": size}));
        digests.push(digest);
        fs::rename(&layer.file, blobs.join(&layer.sha256)).doing(|| format!("move {}", layer.file.display()))?;
    }
    let architecture = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    let (config_digest, config_size) = blob(
        &blobs,
        &json!({"architecture": architecture, "os": "linux", "created": TIME,
            "config": {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
                "Entrypoint": config.entrypoint, "WorkingDir": config.folder},
            "rootfs": {"type": "layers", "diff_ids": digests},
            "history": digests.iter().map(|_| json!({"created": TIME})).collect::<Vec<_>>()}),
    )?;
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let (digest, size) = blob(
        &blobs,
        &json!({"schemaVersion": 2, "mediaType": manifest,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": config_digest, "size": config_size},
            "layers": described}),
    )?;
    let named: Vec<_> = names
        .iter()
        .map(|name| {
            json!({"mediaType": manifest, "digest": digest, "size": size,
                "platform": {"architecture": architecture, "os": "linux"},
                "annotations": {"io.containerd.image.name": name,
                    "org.opencontainers.image.ref.name": name.rsplit(':').next()}})
        })
        .collect();
    let index = json!({"schemaVersion": 2, "manifests": named});
    files::write(&folder.join("index.json"), 0o644, index.to_string())?;
    files::write(&folder.join("oci-layout"), 0o644, r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    program::run(
        Command::new("tar")
            .args([
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                &format!("--mtime={TIME}"),
                "--directory",
            ])
            .arg(&folder)
            .args(["--create", "--file"])
            .arg(to)
            .args(["oci-layout", "index.json", "blobs"]),
    )?;
    files::remove(&folder)
}

fn blob(blobs: &Path, content: &Value) -> Result<(String, usize), Error> {
    let text = content.to_string();
    let fresh = blobs.join("fresh");
    files::write(&fresh, 0o644, &text)?;
    let sha256 = sha256(&fresh)?;
    fs::rename(&fresh, blobs.join(&sha256)).doing(|| format!("move {}", fresh.display()))?;
    Ok((format!("sha256:{sha256}"), text.len()))
}

/// The SHA-256 of a file, by `sha256sum`: hashing an image in an unoptimised build takes many times as long.
pub(crate) fn sha256(file: &Path) -> Result<String, Error> {
    let said = program::output(Command::new("sha256sum").arg(file))?;
    Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
}
