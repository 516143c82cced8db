//! How much an inventory or a variables file may be. Generous for people, tight for attacks.

/// The largest text read, in bytes: a ConfigMap holds no more.
pub const BYTES: usize = 1024 * 1024;
/// The deepest nesting of mappings and lists, aliases followed. A group inside a group takes two.
/// Reading recurses: this fits into half the stack of a tokio worker even without optimisation.
pub const DEPTH: usize = 32;
/// Aliases (`*name`) in one document.
pub const ALIASES: usize = 2_000;
/// Values in one document after aliases were followed.
pub const VALUES: usize = 200_000;
/// Bytes of all keys and values after aliases were followed.
pub const VALUE_BYTES: usize = 4 * BYTES;
/// Bytes of variables that stand once and are given to many hosts, by a range or by a group, one copy for each host.
pub const COPIED_BYTES: usize = VALUE_BYTES;
/// Characters of a host range as it is written.
pub const RANGE: usize = 1_000;
/// Hosts of one inventory; Kubernetes itself is tested to 5,000 nodes.
pub const HOSTS: usize = 5_000;
/// Groups of one inventory.
pub const GROUPS: usize = 500;
/// Times that a host may be named in a group, ranges expanded, over the whole inventory.
pub const MENTIONS: usize = 100_000;
/// Problems reported at once for pasted lines: a person fixes a few and tries again.
pub const PROBLEMS: usize = 20;
