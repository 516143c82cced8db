//! The graph of groups: cycles in it, the depth of each group, and the groups above a host.
//!
//! Nothing here is recursive, because a flat file can chain hundreds of groups.

use std::collections::HashSet;

/// Groups by index, with edges to their children and back. Index 0 is `all`.
pub(crate) struct GroupOrder {
    parents: Vec<Vec<usize>>,
    depth: Vec<usize>,
}

impl GroupOrder {
    /// Orders the groups, or returns the indices of a cycle, with its first group repeated at the end.
    pub(crate) fn new(children: &[Vec<usize>]) -> Result<Self, Vec<usize>> {
        let mut parents = vec![Vec::new(); children.len()];
        for (parent, below) in children.iter().enumerate() {
            for &child in below {
                parents[child].push(parent);
            }
        }
        let mut waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..children.len()).filter(|&g| waiting[g] == 0).collect();
        // Every other group is below `all`, even if no group lists it as a child.
        let mut depth: Vec<usize> = (0..children.len()).map(|g| usize::from(g != 0)).collect();
        let mut done = 0;
        while let Some(group) = ready.pop() {
            done += 1;
            for &child in &children[group] {
                depth[child] = depth[child].max(depth[group] + 1);
                waiting[child] -= 1;
                if waiting[child] == 0 {
                    ready.push(child);
                }
            }
        }
        if done == children.len() && parents.first().is_none_or(Vec::is_empty) {
            return Ok(Self { parents, depth });
        }
        Err(if done < children.len() { circle(&parents, &waiting) } else { vec![0, parents[0][0], 0] })
    }

    /// The groups that apply to a host listed in the groups `direct`, in ansible's order of precedence: by depth, then by
    /// name (`rank`). Later groups win.
    pub(crate) fn above<'a>(&self, direct: &[usize], rank: impl Fn(usize) -> &'a str) -> Vec<usize> {
        let mut seen: HashSet<usize> = HashSet::from([0]);
        let mut queue: Vec<usize> = direct.to_vec();
        while let Some(group) = queue.pop() {
            if seen.insert(group) {
                queue.extend(&self.parents[group]);
            }
        }
        let mut groups: Vec<usize> = seen.into_iter().collect();
        groups.sort_by_key(|&g| (self.depth[g], rank(g)));
        groups
    }
}

/// Finds a cycle by walking up from a group that never became ready. Each such group has a parent that didn't become ready
/// either, so the walk comes back to one of its groups.
fn circle(parents: &[Vec<usize>], waiting: &[usize]) -> Vec<usize> {
    let mut path = vec![waiting.iter().position(|&w| w > 0).unwrap_or(0)];
    loop {
        let here = path[path.len() - 1];
        let Some(&up) = parents[here].iter().find(|&&p| waiting[p] > 0) else { return path };
        if let Some(begin) = path.iter().position(|&g| g == up) {
            let mut circle = path.split_off(begin);
            circle.push(up);
            circle.reverse();
            return circle;
        }
        path.push(up);
    }
}
