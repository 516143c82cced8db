//! `kubeonkube artifacts`: what to download for machines without internet access.

use api::cluster::VersionError;
use artifacts::{Request, Sources};
use operation::versions;

use crate::cli::ArtifactsArgs;

/// What the command line asks for.
pub fn request(args: ArtifactsArgs) -> Result<Request, VersionError> {
    Ok(Request {
        version: args.version.parse()?,
        processor: args.processor,
        containerd: versions::containerd().clone(),
        runc: versions::runc().clone(),
        plugins: args.network_plugin,
        sources: Sources {
            dl_k8s_io_url: args.dl_k8s_io_url,
            kube_image_repo: args.kube_image_repo,
            quay_image_repo: args.quay_image_repo,
            github_url: args.github_url,
            cilium_chart_url: args.cilium_chart_url,
            get_helm_url: args.get_helm_url,
        },
    })
}
