//! One page of a sorted list.

/// Rows of one page.
pub(crate) const ROWS: usize = 100;

/// Which rows to show of `matching`, the page's number from 1, and how many pages there are. A page beyond the last shows the last.
pub(crate) fn window(matching: usize, page: u32) -> (std::ops::Range<usize>, u32, u32) {
    let pages = matching.div_ceil(ROWS).max(1);
    let page = (page.max(1) as usize).min(pages);
    let start = (page - 1) * ROWS;
    (start..matching.min(start + ROWS), count(page), count(pages))
}

/// A count for a view.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// `sort` without its `-`, and whether the order is reversed.
pub(crate) fn direction(sort: &str) -> (&str, bool) {
    sort.strip_prefix('-').map_or((sort, false), |column| (column, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_last_is_the_last() {
        assert_eq!(window(250, 0), (0..100, 1, 3));
        assert_eq!(window(250, 99), (200..250, 3, 3));
        assert_eq!(window(0, 5), (0..0, 1, 1));
    }
}
