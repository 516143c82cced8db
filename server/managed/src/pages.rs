//! Lists, read in pages.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Visitor};

use crate::connect::{Connection, Failed};

/// Kubernetes supports 5,000 nodes.
const PAGES: usize = 10;
const PAGE: usize = 500;

impl Connection {
    /// The first 500 objects of a list. `what` names the list in errors.
    pub(crate) async fn first_page<T: DeserializeOwned>(
        &mut self,
        what: &'static str,
        path: &str,
    ) -> Result<Vec<T>, Failed> {
        let begin = if path.contains('?') { '&' } else { '?' };
        let page: Page<T> = self.json(what, &format!("{path}{begin}limit={PAGE}")).await?;
        Ok(page.items)
    }

    /// All objects of a list, at most 5,000. `what` names the list in errors.
    pub(crate) async fn pages<T: DeserializeOwned>(
        &mut self,
        what: &'static str,
        path: &str,
    ) -> Result<Vec<T>, Failed> {
        let (mut all, mut next) = (Vec::new(), String::new());
        // A bounded number of pages: a hostile server could always announce another one.
        for _ in 0..PAGES {
            let page: Page<T> = self.json(what, &format!("{path}?limit={PAGE}{next}")).await?;
            all.extend(page.items);
            let Some(token) = page.metadata.continue_.filter(|token| !token.is_empty()) else { break };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '=' | '.' | '%' | '~');
            if !token.chars().all(is_plain) {
                return Err(Failed::Answer(what));
            }
            next = format!("&continue={token}");
        }
        Ok(all)
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    metadata: PageMetadata,
    #[serde(deserialize_with = "at_most_a_page")]
    items: Vec<T>,
}

/// Refuses more objects than were asked for: a `{}` of two bytes becomes an object of a kilobyte in memory.
fn at_most_a_page<'de, D: Deserializer<'de>, T: DeserializeOwned>(items: D) -> Result<Vec<T>, D::Error> {
    struct Items<T>(PhantomData<T>);
    impl<'de, T: DeserializeOwned> Visitor<'de> for Items<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {PAGE} objects")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut objects = Vec::new();
            while let Some(object) = seq.next_element()? {
                if objects.len() == PAGE {
                    return Err(A::Error::invalid_length(PAGE + 1, &self));
                }
                objects.push(object);
            }
            Ok(objects)
        }
    }
    items.deserialize_seq(Items(PhantomData))
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue", default)]
    continue_: Option<String>,
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Node;

    use super::*;

    #[test]
    fn more_objects_than_a_page_are_refused() {
        let page = |count: usize| {
            let items = vec!["{}"; count].join(",");
            serde_json::from_str::<Page<Node>>(&format!("{{\"metadata\":{{}},\"items\":[{items}]}}"))
        };
        assert_eq!(page(PAGE).unwrap().items.len(), PAGE);
        assert!(page(PAGE + 1).is_err());
    }
}
