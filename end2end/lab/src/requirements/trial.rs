//! Tries what the kernel can do. No file shows this, because it depends on installed modules. All trials run in temporary
//! namespaces. If the kernel loads modules on first use, the trials load them, as the boot of a lab would.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::program;

/// A feature that the boot of a lab uses, and a script that tries it.
pub(crate) struct Trial {
    pub(crate) what: &'static str,
    /// Why the lab needs it.
    pub(crate) purpose: &'static str,
    pub(crate) remedy: &'static str,
    /// A shell script. `$1` is the root file system of machines, or empty if it isn't built yet.
    script: &'static str,
}

/// All other trials run in new namespaces. If the kernel refuses them, nothing else is tried.
const NAMESPACES: Trial = Trial {
    what: "new namespaces",
    purpose: "the lab runs in namespaces",
    remedy: "inside a container, start the container as privileged",
    script: "true",
};

pub(crate) const TRIALS: &[Trial] = &[
    NAMESPACES,
    Trial {
        what: "an overlay file system",
        purpose: "every machine's disk is an overlay",
        remedy: "`modprobe overlay` (CONFIG_OVERLAY_FS)",
        script: "mount -t tmpfs tmpfs /tmp\n\
                 mkdir /tmp/below /tmp/changes /tmp/work /tmp/root\n\
                 mount -t overlay overlay -o lowerdir=/tmp/below,upperdir=/tmp/changes,workdir=/tmp/work /tmp/root",
    },
    Trial {
        what: "a bridge",
        purpose: "a bridge connects the machines",
        remedy: "`modprobe bridge` (CONFIG_BRIDGE)",
        script: "ip link add name lab0 type bridge",
    },
    Trial {
        what: "a veth pair",
        purpose: "it connects a machine to the bridge",
        remedy: "`modprobe veth` (CONFIG_VETH)",
        script: "ip link add name lab-m1 type veth peer name eth0",
    },
    Trial {
        what: "packet filters on bridges",
        purpose: "pods need them to reach Services whose pods are on the same node",
        remedy: "`modprobe br_netfilter` (CONFIG_BRIDGE_NETFILTER)",
        script: "cat /proc/sys/net/bridge/bridge-nf-call-iptables",
    },
    // The kinds of rules that kube-proxy writes, with the iptables of the machines' root file system.
    Trial {
        what: "iptables rules in nf_tables",
        purpose: "kube-proxy implements Services with them",
        remedy: "`modprobe -a nf_tables nft_compat nf_nat xt_MASQUERADE xt_conntrack xt_comment xt_mark xt_statistic` \
                 (CONFIG_NF_TABLES, CONFIG_NFT_COMPAT, CONFIG_NF_NAT, CONFIG_NETFILTER_XT_*)",
        script: "[ -z \"$1\" ] || chroot \"$1\" iptables-restore <<END\n\
                 *nat\n\
                 -A PREROUTING -p tcp -m comment --comment lab -m mark --mark 0x4000/0x4000 -j DNAT --to-destination 10.77.0.1:80\n\
                 -A POSTROUTING -m statistic --mode random --probability 0.5 -j MASQUERADE --random-fully\n\
                 COMMIT\n\
                 *filter\n\
                 -A FORWARD -m conntrack --ctstate INVALID -j DROP\n\
                 -A FORWARD -j MARK --set-xmark 0x4000/0x4000\n\
                 COMMIT\n\
                 END",
    },
];

/// Runs all trials. Returns those that failed ([`Trial::what`]), with the last line of their output.
pub(crate) fn refused(machine_root: Option<&Path>) -> BTreeMap<&'static str, String> {
    // Arguments: the root file system, then a name and a script for each trial. Output: a line `name: error` for each failed
    // trial. Each trial has its own mount namespace, so its mounts don't affect the others.
    let script = "root=$1; shift\n\
                  while [ $# -gt 0 ]; do\n\
                  said=$(unshare --mount --propagation private sh -ec \"$2\" sh \"$root\" 2>&1) || echo \"$1: $(echo \"$said\" | tail -n 1)\"\n\
                  shift 2\n\
                  done";
    let mut trial = Command::new("unshare");
    trial.args(["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--propagation", "private"]);
    trial.args(["sh", "-c", script, "sh"]).arg(machine_root.unwrap_or(Path::new("")));
    match program::output(trial.args(TRIALS.iter().flat_map(|trial| [trial.what, trial.script]))) {
        Ok(said) => said
            .lines()
            .filter_map(|line| line.split_once(": "))
            .filter_map(|(name, why)| Some((TRIALS.iter().find(|trial| trial.what == name)?.what, why.to_owned())))
            .collect(),
        Err(Error::Program { output, .. }) => [(NAMESPACES.what, output.trim().to_owned())].into(),
        Err(error) => [(NAMESPACES.what, error.to_string())].into(),
    }
}
