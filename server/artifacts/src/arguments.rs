//! What can be checked before anything is downloaded or written.

use operation::versions::{self, Plugin, PluginFile};

use crate::error::Error;
use crate::programs::catalogued_sum;
use crate::registry::Reference;
use crate::{Request, Sources, url};

/// Refuses a request that can't succeed. `plugins` are the entries of the catalogue for its network plugins.
pub(crate) fn check(request: &Request, plugins: &[(&str, &Plugin)]) -> Result<(), Error> {
    check_processor(request, plugins)?;
    check_sources(&request.sources)
}

/// All programs of the catalogue that are needed must exist for the processor.
fn check_processor(request: &Request, plugins: &[(&str, &Plugin)]) -> Result<(), Error> {
    let Request { processor, containerd, runc, .. } = request;
    catalogued_sum("containerd", containerd, processor)?;
    catalogued_sum("runc", runc, processor)?;
    if plugins.iter().any(|(_, plugin)| matches!(plugin.file, PluginFile::Chart(_))) {
        catalogued_sum("helm", versions::helm(), processor)?;
    }
    Ok(())
}

/// The errors don't repeat the values: they may contain passwords.
fn check_sources(sources: &Sources) -> Result<(), Error> {
    let Sources { dl_k8s_io_url, kube_image_repo, quay_image_repo, github_url, cilium_chart_url, get_helm_url } =
        sources;
    for (flag, value) in [
        ("--dl-k8s-io-url", dl_k8s_io_url),
        ("--github-url", github_url),
        ("--cilium-chart-url", cilium_chart_url),
        ("--get-helm-url", get_helm_url),
    ] {
        if !url::is_base(value) {
            return Err(Error::NoUrl { flag });
        }
    }
    for (flag, value) in [("--kube-image-repo", kube_image_repo), ("--quay-image-repo", quay_image_repo)] {
        let image = format!("{}/image:tag", value.trim_end_matches('/'));
        if value.contains("//") || Reference::parse(&image).is_err() {
            return Err(Error::NoRegistry { flag });
        }
    }
    Ok(())
}
