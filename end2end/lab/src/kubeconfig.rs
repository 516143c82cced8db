//! The user's kubeconfig: one file, or several that are merged as kubectl merges those in `KUBECONFIG`:
//! <https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files>.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use kube::config::Kubeconfig;

use crate::error::Error;

/// The absolute paths of the files in a path list (`a:b`). Empty names are skipped.
pub fn named_by(list: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list)
        .filter(|path| !path.as_os_str().is_empty())
        .map(|path| std::path::absolute(&path).unwrap_or(path))
        .collect()
}

/// The path list of the files, for `KUBECONFIG`.
pub fn list(files: &[PathBuf]) -> OsString {
    files.iter().map(|file| file.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"))
}

/// Merges the files. If two files set the same value, the first one wins. Missing files are skipped.
///
/// # Errors
/// If no file exists, or one can't be read.
pub(crate) fn read(files: &[PathBuf]) -> Result<Kubeconfig, Error> {
    let wrong = |file: &Path, why: String| Error::Kubeconfig { file: file.to_owned(), why };
    let existing: Vec<_> = files.iter().filter(|file| file.exists()).collect();
    if existing.is_empty() {
        return Err(wrong(Path::new(&list(files)), "there is no such file".to_owned()));
    }
    existing.into_iter().try_fold(Kubeconfig::default(), |merged, file| {
        Kubeconfig::read_from(file).and_then(|next| merged.merge(next)).map_err(|error| wrong(file, error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_merged_as_kubectl_does() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let config = |context: &str, server: &str| {
            format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: {context}\n\
                 clusters: [{{name: shared, cluster: {{server: '{server}'}}}}]\n\
                 contexts: [{{name: {context}, context: {{cluster: shared, user: {context}}}}}]\n\
                 users: [{{name: {context}, user: {{token: t}}}}]\n"
            )
        };
        std::fs::write(at("a"), config("one", "https://first")).unwrap();
        std::fs::write(at("b"), config("two", "https://second")).unwrap();
        let files = named_by(&list(&[at("a"), at("missing"), PathBuf::new(), at("b")]));
        assert_eq!(files, [at("a"), at("missing"), at("b")]);
        let merged = read(&files).unwrap();
        assert_eq!(merged.current_context.as_deref(), Some("one"));
        assert_eq!(merged.clusters.len(), 1);
        assert_eq!(merged.clusters[0].cluster.as_ref().unwrap().server.as_deref(), Some("https://first"));
        assert_eq!(merged.contexts.len(), 2);

        let none = read(&[at("missing"), at("gone")]).unwrap_err().to_string();
        assert!(none.contains("missing:") && none.contains("gone can't be used: there is no such file"), "{none}");
        std::fs::write(at("b"), "nonsense").unwrap();
        let wrong = read(&files).unwrap_err().to_string();
        assert!(wrong.contains(&format!("{} can't be used", at("b").display())), "{wrong}");
    }
}
