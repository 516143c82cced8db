//! The tabs of the page. The URL names the open one.

/// A tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Log,
    Hosts,
    Matrix,
    Results,
    Inputs,
}

impl Tab {
    pub(super) const ALL: [Self; 5] = [Self::Log, Self::Hosts, Self::Matrix, Self::Results, Self::Inputs];

    /// The tab that a query names as `tab`, or the log. The first `tab` counts, and its text is not percent-decoded.
    pub(super) fn of(search: &str) -> Self {
        let named = search.trim_start_matches('?').split('&').find_map(|pair| pair.strip_prefix("tab="));
        Self::ALL.into_iter().find(|tab| Some(tab.key()) == named).unwrap_or(Self::Log)
    }

    /// Its value in the query; empty for the log.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Log => "",
            Self::Hosts => "hosts",
            Self::Matrix => "matrix",
            Self::Results => "results",
            Self::Inputs => "inputs",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Log => "Log",
            Self::Hosts => "Hosts",
            Self::Matrix => "Matrix",
            Self::Results => "Results",
            Self::Inputs => "Inputs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tab_of_a_query_counts_without_decoding() {
        let of = |search| Tab::of(search);
        assert_eq!((of(""), of("?tab=hosts"), of("from=7&tab=inputs")), (Tab::Log, Tab::Hosts, Tab::Inputs));
        assert_eq!((of("tab=log&tab=hosts"), of("tab=%68osts"), of("tab=")), (Tab::Log, Tab::Log, Tab::Log));
    }
}
