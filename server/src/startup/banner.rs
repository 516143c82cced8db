//! The text in the terminal when the server has started.

use std::fmt;
use std::path::Path;

use crate::session::links;

pub(super) struct Banner<'a> {
    /// The address that people open.
    pub(super) address: &'a str,
    pub(super) mode: &'a str,
    pub(super) data: &'a Path,
    /// Standalone: the kubeconfig for kubectl.
    pub(super) kubeconfig: Option<&'a Path>,
    /// Standalone: the token of a new sign-in link.
    pub(super) token: Option<&'a str>,
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  kubeonkube {}\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(f, "  Address   {}", self.address)?;
        writeln!(f, "  Mode      {}", self.mode)?;
        writeln!(f, "  Data      {}", self.data.display())?;
        if let Some(kubeconfig) = self.kubeconfig {
            writeln!(f, "  kubectl   KUBECONFIG={} kubectl get clusters", kubeconfig.display())?;
        }
        match self.token {
            // The link is on a separate line, unbroken: terminals make it clickable, and people copy whole lines.
            Some(token) => writeln!(
                f,
                "\n  Sign in with this link. It works once, within an hour. For another link, run: kubeonkube login\n\n{}\n",
                links::url(self.address, token)
            ),
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
        let mut banner =
            Banner { address, mode: "standalone", data: Path::new("/d"), kubeconfig: None, token: Some(&token) };
        let link = format!("http://127.0.0.1:7080/login?token={token}");
        assert!(banner.to_string().lines().any(|line| line == link), "{banner}");
        banner.token = None;
        assert!(banner.to_string().contains("Kubernetes token") && !banner.to_string().contains("login?"));
    }
}
