//! Where a hosted API server is reached.

use std::net::Ipv4Addr;

use crd::EndpointType;
use k8s_openapi::api::core::v1::Service;

use crate::check::Plan;

/// The port of the API server in its pod and on its Service.
pub(crate) const PORT: u16 = 6443;

/// The addresses of a hosted API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Of the Service, inside the server's own Kubernetes.
    pub(crate) cluster_ip: Ipv4Addr,
    /// For machines and users.
    pub(crate) public: Ipv4Addr,
    pub(crate) port: u16,
}

impl Address {
    /// The URL for machines and users.
    pub(crate) fn url(&self) -> String {
        format!("https://{}:{}", self.public, self.port)
    }

    /// The URL inside the server's own Kubernetes.
    pub(crate) fn inner_url(&self) -> String {
        format!("https://{}:{PORT}", self.cluster_ip)
    }
}

/// The addresses that the Service has now. The error is a sentence.
pub(crate) fn read(plan: &Plan, service: &Service) -> Result<Address, String> {
    let spec = service.spec.as_ref();
    let parse = |text: &str, what: &str| {
        text.parse().map_err(|_| format!("The {what} of Service apiserver is “{text}”, and only IPv4 is supported."))
    };
    let cluster_ip =
        spec.and_then(|spec| spec.cluster_ip.as_deref()).ok_or("Service apiserver has no ClusterIP yet.")?;
    let cluster_ip = parse(cluster_ip, "ClusterIP")?;
    let (public, port) = match plan.spec.endpoint.kind {
        EndpointType::ClusterIp => (cluster_ip, PORT),
        EndpointType::NodePort => {
            let port = spec.and_then(|spec| spec.ports.as_deref()?.first()?.node_port);
            let port =
                port.and_then(|port| u16::try_from(port).ok()).ok_or("Service apiserver has no NodePort yet.")?;
            (parse(plan.spec.endpoint.host.as_deref().unwrap_or_default(), "host")?, port)
        }
        EndpointType::LoadBalancer => {
            let ingress = || service.status.as_ref()?.load_balancer.as_ref()?.ingress.as_deref()?.first();
            let ingress = ingress().ok_or("Service apiserver has no address of a load balancer yet.")?;
            let Some(ip) = &ingress.ip else {
                let name = ingress.hostname.as_deref().unwrap_or_default();
                return Err(format!(
                    "The load balancer has only a name ({name}), which is not supported: machines need an IP address. Use NodePort."
                ));
            };
            (parse(ip, "load balancer's address")?, PORT)
        }
    };
    Ok(Address { cluster_ip, public, port })
}
