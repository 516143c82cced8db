//! What a kernel can do is seen by doing it, where no file tells: with modules it depends on which are installed. All of
//! it happens in namespaces that end with the trial. A kernel that loads a module when it is first used does so then, as
//! it would at the boot of the lab.

use std::{collections::BTreeMap, path::Path, process::Command};

use crate::{error::Error, program};

/// Something that the lab does at its boot, done once for nothing.
pub(crate) struct Trial {
    pub(crate) what: &'static str,
    /// Why the lab does it.
    pub(crate) purpose: &'static str,
    pub(crate) remedy: &'static str,
    /// Shell lines; `$1` is the root file system of machines, empty while it is not built.
    script: &'static str,
}

/// What the others happen in: where it is refused, they are not tried.
const NAMESPACES: Trial = Trial {
    what: "new namespaces",
    purpose: "the lab is made of them",
    remedy: "inside a container, start that one as privileged",
    script: "true",
};

pub(crate) const TRIALS: &[Trial] = &[
    NAMESPACES,
    Trial {
        what: "an overlay file system",
        purpose: "every machine's disk is one",
        remedy: "`modprobe overlay` (CONFIG_OVERLAY_FS)",
        script: "mount -t tmpfs tmpfs /tmp\n\
                 mkdir /tmp/below /tmp/changes /tmp/work /tmp/root\n\
                 mount -t overlay overlay -o lowerdir=/tmp/below,upperdir=/tmp/changes,workdir=/tmp/work /tmp/root",
    },
    Trial {
        what: "a bridge",
        purpose: "machines hang on one",
        remedy: "`modprobe bridge` (CONFIG_BRIDGE)",
        script: "ip link add name lab0 type bridge",
    },
    Trial {
        what: "a veth pair",
        purpose: "it is what plugs a machine into the bridge",
        remedy: "`modprobe veth` (CONFIG_VETH)",
        script: "ip link add name lab-m1 type veth peer name eth0",
    },
    Trial {
        what: "packet filters on bridges",
        purpose: "pods reach Services of their own node by them",
        remedy: "`modprobe br_netfilter` (CONFIG_BRIDGE_NETFILTER)",
        script: "cat /proc/sys/net/bridge/bridge-nf-call-iptables",
    },
    // Rules of the kinds that kube-proxy writes, by the iptables of machines.
    Trial {
        what: "iptables rules in nf_tables",
        purpose: "they are what Services are made of",
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

/// Makes all trials; gives those that failed, by what was tried, with the last that was said.
pub(crate) fn refused(machine_root: Option<&Path>) -> BTreeMap<&'static str, String> {
    // In: the root, then a name and a script for each. Out: a line `name: why` for each that fails. What one mounts over the
    // root that another needs is its own.
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
