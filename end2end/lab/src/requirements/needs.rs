//! Tables of the programs and kernel features that the lab needs.

/// A program, what it is for, and the command that installs it on Debian.
pub(crate) type Program = (&'static str, &'static str, &'static str);

/// The programs that a running lab needs.
pub(crate) const TO_RUN_PROGRAMS: &[Program] = &[
    ("ip", "connects machines to the network", "apt-get install iproute2"),
    ("nsenter", "runs programs inside the lab", "apt-get install util-linux"),
    ("setpriv", "ends programs inside the lab with their callers", "apt-get install util-linux"),
    ("unshare", "makes the lab's namespaces", "apt-get install util-linux"),
    ("setsid", "starts background processes", "apt-get install util-linux"),
    ("mount", "mounts machines' disks", "apt-get install mount"),
    ("mountpoint", "checks whether a machine's disk is mounted", "apt-get install util-linux"),
    ("ssh", "runs commands on machines", "apt-get install openssh-client"),
];
/// The programs that building parts needs.
pub(crate) const TO_BUILD_PROGRAMS: &[Program] = &[
    ("go", "compiles Kubernetes", GO_BY),
    ("cc", "compiles runc's C code", "apt-get install gcc libc6-dev"),
    ("mmdebstrap", "makes machines' root file system", "apt-get install mmdebstrap"),
    ("tar", "packs images", "apt-get install tar"),
    ("sha256sum", "computes the digests of images", "apt-get install coreutils"),
    ("python3", "installs ansible-core with pip", "apt-get install python3-pip"),
];
/// The programs that building the product's images needs.
pub(crate) const TO_BUILD_IMAGES: &[Program] = &[
    ("unshare", "keeps mounts of packages apart", "apt-get install util-linux"),
    ("mmdebstrap", "makes root file systems", "apt-get install mmdebstrap"),
    ("dpkg-deb", "describes packages", "apt-get install dpkg"),
    ("tar", "packs images", "apt-get install tar"),
    ("gzip", "compresses images", "apt-get install gzip"),
    ("sha256sum", "computes the digests of images", "apt-get install coreutils"),
    ("python3", "installs ansible-core with pip", "apt-get install python3-pip"),
];
/// Debian 12 has only an older version. `xtask` installs a newer one from its backports.
pub(crate) const GO_BY: &str = "cargo xtask doctor --install";
/// The first version of Go that fetches the toolchain a build asks for: <https://go.dev/doc/toolchain>.
pub(crate) const OLDEST_GO: (u32, u32) = (1, 21);

/// The kinds of namespaces, each with the kernel option that adds it.
pub(crate) const NAMESPACES: &[(&str, &str)] = &[
    ("net", "CONFIG_NET_NS"),
    ("pid", "CONFIG_PID_NS"),
    ("mnt", "CONFIG_NAMESPACES"),
    ("uts", "CONFIG_UTS_NS"),
    ("ipc", "CONFIG_IPC_NS"),
    ("cgroup", "CONFIG_CGROUPS"),
];

/// The cgroup controllers, each with the kernel option that adds it.
pub(crate) const CONTROLLERS: &[(&str, &str)] = &[
    ("cpu", "CONFIG_CGROUP_SCHED"),
    ("cpuset", "CONFIG_CPUSETS"),
    ("memory", "CONFIG_MEMCG, and on some distributions the boot parameter `cgroup_enable=memory`"),
    ("pids", "CONFIG_CGROUP_PIDS"),
];
