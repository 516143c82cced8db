//! The last steps of a boot, each with a deadline: the API answers, nodes are Ready, images are imported, DNS answers.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Doing, Error};
use crate::inside::Inside;
use crate::machine::Machine;
use crate::{program, wait};

const DNS: &str = include_str!("dns.yaml");
/// The time limit of one check on a node.
const CHECK: Duration = Duration::from_secs(30);

/// `kubectl` as the cluster's administrator, inside the lab.
pub(crate) struct Administrator<'a> {
    pub(crate) inside: Inside,
    pub(crate) kubectl: &'a std::path::Path,
    pub(crate) kubeconfig: &'a std::path::Path,
}

impl Administrator<'_> {
    pub(crate) fn kubectl(&self) -> Command {
        let mut command = self.inside.command(&self.kubectl.to_string_lossy());
        command.arg("--kubeconfig").arg(self.kubeconfig);
        command
    }

    pub(crate) fn wait_api(&self) -> Result<(), Error> {
        wait::until("the API server to be ready", wait::PATIENCE, || self.answer(&["get", "--raw=/readyz"]).map(drop))
    }

    pub(crate) fn wait_nodes(&self, nodes: &[String]) -> Result<(), Error> {
        let ready = "jsonpath={range .items[?(@.status.conditions[-1].status==\"True\")]}{.metadata.name} {end}";
        wait::until("all nodes to be Ready", wait::PATIENCE, || {
            let said = self.answer(&["get", "nodes", "-o", ready])?;
            let missing: Vec<_> =
                nodes.iter().filter(|node| !said.split_whitespace().any(|name| name == *node)).collect();
            if missing.is_empty() { Ok(()) } else { Err(format!("not Ready: {missing:?}")) }
        })
    }

    /// Creates cluster DNS. Its pod starts when its image has been imported.
    pub(crate) fn install_dns(&self) -> Result<(), Error> {
        let mut kubectl = self
            .kubectl()
            .args(["--request-timeout=30s", "apply", "-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .doing(|| "start kubectl".to_owned())?;
        if let Some(mut input) = kubectl.stdin.take() {
            input.write_all(DNS.as_bytes()).doing(|| "write the DNS manifest to kubectl".to_owned())?;
        }
        let status = kubectl.wait().doing(|| "wait for kubectl".to_owned())?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Program { program: "kubectl apply".into(), how: status.to_string(), output: String::new() })
    }

    pub(crate) fn wait_dns(&self) -> Result<(), Error> {
        let ready = "jsonpath={.status.readyReplicas}";
        wait::until("cluster DNS", wait::PATIENCE, || {
            let said = self.answer(&["-n", "kube-system", "get", "deployment", "coredns", "-o", ready])?;
            if said == "1" { Ok(()) } else { Err("its pod is not ready".to_owned()) }
        })
    }

    fn answer(&self, words: &[&str]) -> Result<String, String> {
        program::output(self.kubectl().arg("--request-timeout=10s").args(words)).map_err(|error| error.to_string())
    }
}

/// Waits until a node has imported all images.
pub(crate) fn wait_images(node: &Machine) -> Result<(), Error> {
    wait::until(&format!("the images on {}", node.name()), wait::PATIENCE, || {
        match node.run_within("systemctl is-active lab-images", CHECK) {
            Ok(_) => Ok(()),
            Err(Error::Program { output, .. }) if output.contains("failed") => {
                Err(node.run_within("journalctl -u lab-images -n 5 --no-pager", CHECK).unwrap_or(output))
            }
            Err(error) => Err(error.to_string()),
        }
    })
}
