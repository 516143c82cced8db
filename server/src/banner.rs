//! What the terminal says when the server is up.

use std::{fmt, path::Path};

/// The facts of one start.
pub struct Banner<'a> {
    /// What people open.
    pub address: &'a str,
    pub mode: &'a str,
    pub data: &'a Path,
    /// Standalone: the file that leads kubectl here.
    pub kubeconfig: Option<&'a Path>,
    /// Standalone: the token of a fresh sign-in link.
    pub token: Option<&'a str>,
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
            // Alone on its line and whole: terminals make it a link, and people copy lines.
            Some(token) => writeln!(
                f,
                "\n  Sign in with this link; it works once, within an hour. Another one: kubeonkube login\n\n{}\n",
                link(self.address, token)
            ),
            None => writeln!(f, "\n  Sign in there with your Kubernetes token.\n"),
        }
    }
}

/// The address that signs in with `token`.
pub fn link(address: &str, token: &str) -> String {
    format!("{address}/login?token={token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_stands_alone_and_whole_on_its_line() {
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
