//! Which versions of Kubernetes can be hosted, and their images.

/// The minor versions, and for each the tags of the images of etcd and CoreDNS. The lab's tests run the last one; the others stay for
/// clusters that exist.
const KNOWN: [(&str, &str, &str); 2] = [("1.34", "3.6.5-0", "v1.12.1"), ("1.36", "3.6.11-0", "v1.14.2")];
/// The registry of Kubernetes. Only there, the image of CoreDNS has a folder of its own.
const UPSTREAM: &str = "registry.k8s.io";

/// The images of a control plane and its add-ons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Images {
    pub(crate) api_server: String,
    pub(crate) controller_manager: String,
    pub(crate) scheduler: String,
    pub(crate) etcd: String,
    pub(crate) core_dns: String,
    pub(crate) kube_proxy: String,
}

/// The images of `version`. The error is a sentence.
pub(crate) fn images(repository: &str, version: &str) -> Result<Images, String> {
    let minor = version.trim_start_matches('v').rsplit_once('.').map_or("", |(minor, _)| minor);
    let Some((_, etcd, dns)) = KNOWN.iter().find(|(known, ..)| *known == minor) else {
        let known: Vec<&str> = KNOWN.iter().map(|(known, ..)| *known).collect();
        return Err(format!("Version {version} can't be hosted. Supported are: {}.", known.join(", ")));
    };
    let repository = repository.trim_end_matches('/');
    let folder = if repository == UPSTREAM { "coredns/" } else { "" };
    let of = |program: &str| format!("{repository}/{program}:{version}");
    Ok(Images {
        api_server: of("kube-apiserver"),
        controller_manager: of("kube-controller-manager"),
        scheduler: of("kube-scheduler"),
        etcd: format!("{repository}/etcd:{etcd}"),
        core_dns: format!("{repository}/{folder}coredns:{dns}"),
        kube_proxy: of("kube-proxy"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_those_of_the_repository() {
        let images = images("mirror.example/k8s/", "v1.36.4").unwrap();
        assert_eq!(images.api_server, "mirror.example/k8s/kube-apiserver:v1.36.4");
        assert_eq!(images.etcd, "mirror.example/k8s/etcd:3.6.11-0");
        assert_eq!(images.core_dns, "mirror.example/k8s/coredns:v1.14.2");
        assert_eq!(super::images(UPSTREAM, "v1.36.4").unwrap().core_dns, "registry.k8s.io/coredns/coredns:v1.14.2");
    }
}
