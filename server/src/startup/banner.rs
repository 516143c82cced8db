//! The text in the terminal when the server has started.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

use runner::Isolation;

use crate::session::{SessionError, links};

pub(super) struct Banner<'a> {
    /// The address that people open.
    pub(super) address: &'a str,
    pub(super) mode: &'a str,
    pub(super) data: &'a Path,
    /// The port that answers probes, and has the figures for Prometheus.
    pub(super) probes: Option<SocketAddr>,
    /// Standalone: the kubeconfig for kubectl.
    pub(super) kubeconfig: Option<&'a Path>,
    /// Standalone: how well runs are isolated.
    pub(super) isolation: Option<&'a Isolation>,
    /// Standalone: the token of a new sign-in link, or why there is none.
    pub(super) token: Option<Result<&'a str, &'a SessionError>>,
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  kubeonkube {}\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(f, "  Address   {}", self.address)?;
        writeln!(f, "  Mode      {}", self.mode)?;
        writeln!(f, "  Data      {}", self.data.display())?;
        if let Some(probes) = self.probes {
            writeln!(f, "  Probes    http://{probes}/healthz, /readyz and /metrics")?;
        }
        if let Some(kubeconfig) = self.kubeconfig {
            writeln!(f, "  kubectl   KUBECONFIG={} kubectl get clusters", kubeconfig.display())?;
        }
        if let Some(isolation) = self.isolation {
            writeln!(f, "  Isolation {isolation}")?;
        }
        match self.token {
            // The link is on a separate line, unbroken: terminals make it clickable, and people copy whole lines.
            Some(Ok(token)) => writeln!(
                f,
                "\n  Sign in with this link. It works once, within an hour. For another link, run: {}\n\n{}\n",
                links::command(self.data),
                links::url(self.address, token)
            ),
            Some(Err(error)) => {
                let login = links::command(self.data);
                writeln!(f, "\n  There is no sign-in link: {error}\n  When the disk has room, run: {login}\n")
            }
            None => writeln!(f, "\n  Open the address and sign in with your Kubernetes token.\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_alone_on_its_line() {
        let address = "http://127.0.0.1:7080";
        let token = "x".repeat(43);
        let data = Path::new("/d");
        let (mode, token) = ("standalone", Some(Ok(token.as_str())));
        let mut banner = Banner { address, mode, data, probes: None, kubeconfig: None, isolation: None, token };
        let link = format!("http://127.0.0.1:7080/login?token={}", "x".repeat(43));
        assert!(banner.to_string().lines().any(|line| line == link), "{banner}");
        banner.token = None;
        assert!(banner.to_string().contains("Kubernetes token") && !banner.to_string().contains("login?"));
    }
}
