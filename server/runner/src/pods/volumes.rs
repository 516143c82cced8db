//! Writes the volumes of a pod as files below its root folder.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, Pod, SecretVolumeSource};
use rust_embed::RustEmbed;

use super::container::{Secrets, Unfit};

/// The playbooks that our runner image has below `/kubespray`.
#[derive(RustEmbed)]
#[folder = "../../deploy/runner/playbooks"]
struct Playbooks;

/// The files (path, mode, content) and folders to create, relative to the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) folders: Vec<PathBuf>,
    pub(super) files: Vec<(PathBuf, u32, Vec<u8>)>,
}

/// The names of the Secrets that a pod refers to.
pub(super) fn secrets(pod: &Pod) -> BTreeSet<&str> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.filter_map(|volume| volume.secret.as_ref()?.secret_name.as_deref()).collect()
}

/// The files and folders of all mounts of the container.
pub(super) fn layout(pod: &Pod, container: &Container, secrets: &Secrets) -> Result<Layout, Unfit> {
    let mut layout = Layout::default();
    let volumes = || pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    for mount in container.volume_mounts.iter().flatten() {
        let at = below_root(&mount.mount_path)?;
        let volume =
            volumes().find(|volume| volume.name == mount.name).ok_or_else(|| Unfit::NoVolume(mount.name.clone()))?;
        let is_part = mount.sub_path.is_some() || mount.sub_path_expr.is_some();
        match &volume.secret {
            Some(secret) if !is_part => {
                for (path, mode, bytes) in files(pod, secret, secrets)? {
                    layout.files.push((at.join(path), mode, bytes));
                }
            }
            None if volume.empty_dir.is_some() && !is_part => {}
            _ => return Err(Unfit::VolumeKind { volume: volume.name.clone() }),
        }
        layout.folders.push(at);
    }
    Ok(layout)
}

/// Fills the root folder: the mounts, `dev` for the termination message, `tmp` for temporary files, and our playbooks in `kubespray`, as in the image. Can be
/// repeated after an interruption. Blocks.
pub(super) fn materialise(root: &Path, layout: &Layout) -> io::Result<()> {
    let private = |folder: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    private(&root.join("dev"))?;
    private(&root.join("tmp"))?;
    for folder in &layout.folders {
        private(&root.join(folder))?;
    }
    for (path, mode, bytes) in &layout.files {
        let path = root.join(path);
        path.parent().map_or(Ok(()), private)?;
        write(&path, bytes, *mode)?;
    }
    for name in Playbooks::iter() {
        let path = root.join("kubespray").join(&*name);
        path.parent().map_or(Ok(()), private)?;
        if let Some(file) = Playbooks::get(&name) {
            write(&path, &file.data, 0o600)?;
        }
    }
    fs::set_permissions(root, fs::Permissions::from_mode(0o700))
}

/// Replaces the file, as one from an interrupted attempt may be read-only. Needn't be atomic: no command reads it before all files
/// are written, and a restarted server writes all of them again.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    fs::OpenOptions::new().create_new(true).write(true).mode(mode).open(path)?.write_all(bytes)
}

fn files(pod: &Pod, secret: &SecretVolumeSource, all: &Secrets) -> Result<Vec<(PathBuf, u32, Vec<u8>)>, Unfit> {
    let (name, optional) = (secret.secret_name.clone().unwrap_or_default(), secret.optional == Some(true));
    let Some(data) = all.get(&name) else {
        return if optional { Ok(Vec::new()) } else { Err(Unfit::Missing(name)) };
    };
    let mode = secret.default_mode;
    let Some(items) = &secret.items else {
        return data.iter().map(|(key, bytes)| Ok((inside(key)?, private_mode(mode), bytes.clone()))).collect();
    };
    let mut files = Vec::new();
    for item in items {
        match data.get(&item.key) {
            Some(bytes) => files.push((inside(&item.path)?, private_mode(item.mode.or(mode)), bytes.clone())),
            None if optional => {}
            None => {
                let namespace = pod.metadata.namespace.clone().unwrap_or_default();
                return Err(Unfit::MissingKey { namespace, name, key: item.key.clone() });
            }
        }
    }
    Ok(files)
}

/// Only the owner's part of a mode: a container hides its files from other users, so this machine must do it too. The owner can
/// always read.
fn private_mode(mode: Option<i32>) -> u32 {
    let mode = mode.and_then(|mode| u32::try_from(mode).ok()).unwrap_or(0o644);
    mode & 0o700 | 0o400
}

/// Turns an absolute path in the container into one relative to the root.
fn below_root(path: &str) -> Result<PathBuf, Unfit> {
    inside(path.trim_start_matches('/'))
}

/// A relative path without `..`.
fn inside(path: &str) -> Result<PathBuf, Unfit> {
    let parsed = Path::new(path);
    let is_inside = !path.is_empty() && parsed.components().all(|part| matches!(part, Component::Normal(_)));
    is_inside.then(|| parsed.to_owned()).ok_or_else(|| Unfit::Path(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn paint() -> Secrets {
        let data = [("a".to_owned(), b"one".to_vec()), ("b.c".to_owned(), b"two".to_vec())];
        [("paint".to_owned(), data.into())].into()
    }

    fn laid_out(mounts: &Value, volumes: &Value) -> Result<Layout, Unfit> {
        let pod = json!({"metadata": {"namespace": "n"}, "spec": {"volumes": volumes, "containers": [{"name": "c", "volumeMounts": mounts}]}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        layout(&pod, &pod.spec.as_ref().unwrap().containers[0], &paint())
    }

    fn file(path: &str, mode: u32, text: &str) -> (PathBuf, u32, Vec<u8>) {
        (path.into(), mode, text.into())
    }

    #[test]
    fn a_secret_becomes_private_files() {
        let all = laid_out(
            &json!([{"name": "v", "mountPath": "/conf"}]),
            &json!([{"name": "v", "secret": {"secretName": "paint"}}]),
        )
        .unwrap();
        assert_eq!(all.folders, [PathBuf::from("conf")]);
        assert_eq!(all.files, [file("conf/a", 0o600, "one"), file("conf/b.c", 0o600, "two")]);
    }

    #[test]
    fn items_choose_paths_and_modes() {
        let items = json!([{"key": "a", "path": "deep/x", "mode": 0o400}, {"key": "b.c", "path": "y"}]);
        let volumes = json!([{"name": "v", "secret": {"secretName": "paint", "items": items, "defaultMode": 0o755}}, {"name": "w", "emptyDir": {}}]);
        let all =
            laid_out(&json!([{"name": "v", "mountPath": "/conf/"}, {"name": "w", "mountPath": "/work"}]), &volumes)
                .unwrap();
        assert_eq!(all.files, [file("conf/deep/x", 0o400, "one"), file("conf/y", 0o700, "two")]);
        assert_eq!(all.folders, [PathBuf::from("conf"), PathBuf::from("work")]);
    }

    #[test]
    fn missing_secrets_and_paths_that_lead_out_are_refused() {
        let mount = json!([{"name": "v", "mountPath": "/conf"}]);
        let refusal = |volume: Value| laid_out(&mount, &json!([volume])).unwrap_err().to_string();
        assert_eq!(refusal(json!({"name": "v", "secret": {"secretName": "ink"}})), "secret \"ink\" not found");
        let item = |key: &str, path: &str| json!({"name": "v", "secret": {"secretName": "paint", "items": [{"key": key, "path": path}]}});
        assert_eq!(refusal(item("z", "z")), "couldn't find key z in secret n/paint");
        assert!(refusal(item("a", "../x")).contains("leads out"));
        assert!(
            refusal(json!({"name": "v", "hostPath": {"path": "/"}}))
                .contains("of a kind that local runs don't support")
        );
        assert!(
            refusal(json!({"name": "v", "configMap": {"name": "paint"}}))
                .contains("of a kind that local runs don't support")
        );
        let part = laid_out(
            &json!([{"name": "v", "mountPath": "/conf/a", "subPath": "a"}]),
            &json!([{"name": "v", "secret": {"secretName": "paint"}}]),
        );
        assert_eq!(part, Err(Unfit::VolumeKind { volume: "v".into() }));
        let optional = json!([{"name": "v", "secret": {"secretName": "ink", "optional": true}}]);
        assert_eq!(laid_out(&mount, &optional).unwrap().files, []);
        let escape =
            laid_out(&json!([{"name": "v", "mountPath": "/a/../../b"}]), &json!([{"name": "v", "emptyDir": {}}]));
        assert!(matches!(escape, Err(Unfit::Path(_))));
    }

    #[test]
    fn an_interrupted_root_can_be_filled_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        let layout = Layout { folders: vec!["work".into()], files: vec![file("auth/key", 0o400, "secret")] };
        materialise(&root, &layout).unwrap();
        materialise(&root, &layout).unwrap();
        assert_eq!(fs::read(root.join("auth/key")).unwrap(), b"secret");
        assert_eq!(fs::metadata(root.join("auth/key")).unwrap().permissions().mode() & 0o777, 0o400);
        assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(root.join("kubespray/ping.yml").is_file() && root.join("dev").is_dir());
    }
}
