//! The limits of an inventory or a variables file: far above what people need, but low enough to stop attacks.

/// The largest text, in bytes. A ConfigMap can't hold more.
pub const BYTES: usize = 1024 * 1024;
/// The deepest nesting of mappings and lists, with aliases expanded. A group inside a group takes two levels.
/// Reading is recursive: this depth needs half the stack of a tokio worker without optimisation.
pub const DEPTH: usize = 32;
/// Aliases (`*name`) in one document.
pub const ALIASES: usize = 2_000;
/// Values in one document, with aliases expanded.
pub const VALUES: usize = 200_000;
/// Bytes of all keys and values, with aliases expanded.
pub const VALUE_BYTES: usize = 4 * BYTES;
/// Bytes of variables that are written once but apply to many hosts, through a range or a group. Counted once per host.
pub const COPIED_BYTES: usize = VALUE_BYTES;
/// Characters of a host range, as written.
pub const RANGE: usize = 1_000;
/// Hosts of one inventory. Kubernetes itself is tested with up to 5,000 nodes.
pub const HOSTS: usize = 5_000;
/// Groups of one inventory.
pub const GROUPS: usize = 500;
/// How often all groups together may list a host, with ranges expanded.
pub const MENTIONS: usize = 100_000;
/// Problems reported at once: a person fixes a few and tries again.
pub const PROBLEMS: usize = 20;
