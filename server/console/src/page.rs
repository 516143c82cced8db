//! Splits sorted lists into pages.

/// Maximum number of rows on a page.
pub(crate) const ROWS: usize = 100;

/// The rows on `page` of `matching` rows, the page's number from 1, and the number of pages. 0 counts as 1, and a number beyond
/// the last page as the last.
pub(crate) fn window(matching: usize, page: u32) -> (std::ops::Range<usize>, u32, u32) {
    let pages = matching.div_ceil(ROWS).max(1);
    let page = (page.max(1) as usize).min(pages);
    let start = (page - 1) * ROWS;
    (start..matching.min(start + ROWS), count(page), count(pages))
}

/// `n` in the type that pages use; the maximum if it is larger.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_the_last_page_shows_the_last() {
        assert_eq!(window(250, 0), (0..100, 1, 3));
        assert_eq!(window(250, 99), (200..250, 3, 3));
        assert_eq!(window(0, 5), (0..0, 1, 1));
    }
}
