//! Writes OCI image archives without a container engine: <https://github.com/opencontainers/image-spec>.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::error::{Doing, Error};
use crate::{files, program};

/// The timestamp of everything in an image, so that the same content always has the same digest.
const TIME: &str = "2026-01-01T00:00:00Z";
/// The same in seconds since 1970.
pub(crate) const SECONDS: &str = "1767225600";

/// One layer: a tar file and its digest.
pub(crate) struct Layer {
    file: PathBuf,
    sha256: String,
    /// The digest of the tar file before compression.
    content: String,
    media_type: &'static str,
}

/// Owners and modes in a layer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owners {
    AsTheyAre,
    /// Root owns everything, and all users may read it. For files of a checkout, whose modes depend on its user.
    Root,
}

/// The part of an image's configuration that isn't about layers.
#[derive(Default)]
pub(crate) struct Config<'a> {
    pub(crate) entrypoint: &'a [&'a str],
    pub(crate) command: &'a [&'a str],
    pub(crate) folder: &'a str,
    pub(crate) user: &'a str,
}

/// Packs a folder into a layer. `file` must be on the same file system as the later archive.
pub(crate) fn layer(folder: &Path, file: &Path) -> Result<Layer, Error> {
    program::run(tar(folder, file).arg("."))?;
    let sha256 = sha256(file)?;
    let media_type = "application/vnd.oci.image.layer.v1.tar";
    Ok(Layer { content: sha256.clone(), sha256, file: file.to_owned(), media_type })
}

/// The same for a layer that users download: compressed, and without device files, which a container gets from its engine.
pub(crate) fn compressed_layer(folder: &Path, owners: Owners, file: &Path) -> Result<Layer, Error> {
    let mut pack = tar(folder, file);
    pack.arg("--exclude=./dev/*");
    if owners == Owners::Root {
        pack.args(["--owner=0", "--group=0", "--mode=u=rwX,go=rX"]);
    }
    program::run(pack.arg("."))?;
    let content = sha256(file)?;
    // Without the name and the time of the file.
    program::run(Command::new("gzip").args(["--no-name", "--force"]).arg(file))?;
    let file = file.with_added_extension("gz");
    let media_type = "application/vnd.oci.image.layer.v1.tar+gzip";
    Ok(Layer { sha256: sha256(&file)?, content, file, media_type })
}

fn tar(folder: &Path, file: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--numeric-owner", "--format=pax", "--pax-option=delete=atime,delete=ctime"])
        .args([&format!("--mtime={TIME}"), "--one-file-system", "--directory"])
        .arg(folder)
        .arg("--create")
        .arg("--file")
        .arg(file);
    tar
}

/// Writes an archive with one image under all `names`. Moves the layers' files. Returns the digest of the image's manifest.
pub(crate) fn archive(names: &[String], layers: Vec<Layer>, config: &Config<'_>, to: &Path) -> Result<String, Error> {
    let folder = to.with_added_extension("blobs");
    let blobs = folder.join("blobs/sha256");
    files::make_folder(&blobs)?;
    let mut described = Vec::new();
    let mut digests = Vec::new();
    for layer in layers {
        let size = fs::metadata(&layer.file).doing(|| format!("read the size of {}", layer.file.display()))?.len();
        let digest = format!("sha256:{}", layer.sha256);
        described.push(json!({"mediaType": layer.media_type, "digest": digest, "size": size}));
        digests.push(format!("sha256:{}", layer.content));
        fs::rename(&layer.file, blobs.join(&layer.sha256)).doing(|| format!("move {}", layer.file.display()))?;
    }
    let architecture = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    let mut settings = json!({"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
        "Entrypoint": config.entrypoint, "WorkingDir": config.folder});
    if !config.user.is_empty() {
        settings["User"] = json!(config.user);
    }
    if !config.command.is_empty() {
        settings["Cmd"] = json!(config.command);
    }
    let (config_digest, config_size) = blob(
        &blobs,
        &json!({"architecture": architecture, "os": "linux", "created": TIME, "config": settings,
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
                "--mode=u=rwX,go=rX",
                &format!("--mtime={TIME}"),
                "--directory",
            ])
            .arg(&folder)
            .args(["--create", "--file"])
            .arg(to)
            .args(["oci-layout", "index.json", "blobs"]),
    )?;
    files::remove(&folder)?;
    Ok(digest)
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A checkout with a folder, a program and a link, made in another order, with other times and modes.
    fn checkout(order: &[&str], mode: u32) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in order {
            files::write(&root.path().join(file), mode, *file).unwrap();
        }
        files::link("program", &root.path().join("bin/link")).unwrap();
        fs::set_permissions(root.path().join("bin"), fs::Permissions::from_mode(mode)).unwrap();
        root
    }

    fn made(order: &[&str], mode: u32) -> (String, Vec<u8>) {
        let (root, to) = (checkout(order, mode), tempfile::tempdir().unwrap());
        let layer = compressed_layer(root.path(), Owners::Root, &to.path().join("layer")).unwrap();
        let config = Config { user: "1:1", folder: "/", ..Config::default() };
        let archive_file = to.path().join("image.tar");
        let digest = archive(&["a.example/image:v1".to_owned()], vec![layer], &config, &archive_file).unwrap();
        (digest, fs::read(archive_file).unwrap())
    }

    #[test]
    fn the_same_files_make_the_same_image() {
        let once = made(&["bin/program", "bin/a", "z"], 0o755);
        // Only root may enter the folder.
        let again = made(&["z", "bin/a", "bin/program"], 0o700);
        assert_eq!(once.0, again.0);
        assert_eq!(once.1, again.1);
        assert_ne!(once.0, made(&["bin/program", "z"], 0o755).0);
    }

    #[test]
    fn a_layer_is_found_by_the_digests_in_the_manifest() {
        let (digest, archive) = made(&["bin/program"], 0o755);
        let folder = tempfile::tempdir().unwrap();
        files::write(&folder.path().join("image.tar"), 0o644, archive).unwrap();
        program::run(Command::new("tar").current_dir(&folder).args(["--extract", "--file", "image.tar"])).unwrap();
        let blob = |digest: &str| folder.path().join("blobs").join(digest.replace(':', "/"));
        let manifest: Value = serde_json::from_str(&files::read(&blob(&digest)).unwrap()).unwrap();
        let config = blob(manifest["config"]["digest"].as_str().unwrap());
        let config: Value = serde_json::from_str(&files::read(&config).unwrap()).unwrap();
        assert_eq!(config["config"]["User"], "1:1");
        let layer = blob(manifest["layers"][0]["digest"].as_str().unwrap());
        let unpacked =
            program::output(Command::new("sh").args(["-c", "gunzip < \"$0\" | sha256sum"]).arg(layer)).unwrap();
        let content = config["rootfs"]["diff_ids"][0].as_str().unwrap();
        assert_eq!(unpacked.split(' ').next(), content.strip_prefix("sha256:"));
    }
}
