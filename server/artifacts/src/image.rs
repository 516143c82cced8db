//! Image archives: <https://github.com/opencontainers/image-spec/blob/main/image-layout.md>.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::error::Error;
use crate::files;
use crate::registry::{Descriptor, Registries};

/// Refuses an archive of [`write`] that contains another image.
pub(crate) fn expect(archive: &Path, name: &str, processor: &str) -> Result<(), Error> {
    let done = Command::new("tar")
        .args(["--extract", "--to-stdout", "--occurrence=1", "--file"])
        .arg(archive)
        .arg("index.json")
        .output()
        .map_err(|error| Error::NoProgram { program: "tar", error })?;
    let index: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
    let image = &index["manifests"][0];
    let text = |value: &Value| value.as_str().unwrap_or("nothing known").to_owned();
    let found = [text(&image["annotations"]["io.containerd.image.name"]), text(&image["platform"]["architecture"])];
    if found == [name, processor] {
        return Ok(());
    }
    let [other, for_processor] = found;
    Err(Error::AnotherImage {
        path: archive.to_owned(),
        found: format!("{other} for {for_processor}"),
        wanted: format!("{name} for {processor}"),
    })
}

/// What an archive contains, and its own checksum.
pub(crate) struct Written {
    /// `sha256:…` of the image's manifest
    pub(crate) digest: String,
    pub(crate) sha256: String,
}

/// Pulls an image and writes it as an archive that `ctr images import` reads.
pub(crate) fn write(registries: &mut Registries, name: &str, to: &Path) -> Result<Written, Error> {
    let folder = files::folder_beside(to)?;
    let blobs = folder.path().join("blobs/sha256");
    files::create_folder(&blobs)?;
    let Descriptor { kind, digest, size } = registries.pull(name, &blobs)?;
    let index = json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{
        "mediaType": kind, "digest": digest, "size": size,
        "platform": {"os": "linux", "architecture": registries.processor},
        "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rsplit(':').next()}}]});
    files::write(&folder.path().join("index.json"), &index.to_string())?;
    files::write(&folder.path().join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let archive = files::beside(to)?;
    let done = Command::new("tar")
        .args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--file"])
        .arg(archive.path())
        .arg("--directory")
        .arg(folder.path())
        .args(["oci-layout", "index.json", "blobs"])
        .output()
        .map_err(|error| Error::NoProgram { program: "tar", error })?;
    if !done.status.success() {
        return Err(Error::Program { program: "tar", said: String::from_utf8_lossy(&done.stderr).trim().to_owned() });
    }
    let sha256 = files::sha256(archive.path())?;
    files::keep(archive, to)?;
    Ok(Written { digest, sha256 })
}
