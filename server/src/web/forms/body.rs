//! Reads the body of a form, in either encoding, into ordered fields. A form that can't be used keeps its fields, so that the
//! page can show them again.

use std::collections::BTreeSet;

use api::Problem;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart};
use bytes::Bytes;
use http::{HeaderMap, Request, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use percent_encoding::percent_decode;

/// The largest form that is accepted, in bytes. Inventories and keys are far smaller.
pub(in crate::web) const LIMIT: usize = 2 * 1024 * 1024;

/// The largest form that is read at all, in bytes. A form between both limits is refused, but the page shows its fields again.
pub(super) const READ_LIMIT: usize = 32 * 1024 * 1024;

/// Names and values of fields, in the order of the page; a name may occur more than once.
pub(super) type Values = Vec<(String, String)>;

/// A form as it was filled in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::web) struct Filled {
    pub(in crate::web) values: Values,
    /// Why the form can't be used although it could be read.
    pub(in crate::web) problem: Option<Problem>,
}

/// Reads a form of at most `limit` bytes. An error means that there are no fields to show again.
pub(in crate::web) async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Filled, Problem> {
    let bytes = match Limited::new(body, limit).collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(Problem::TooLarge { limit: mebibytes(limit) }),
        Err(_) => {
            return Err(Problem::BadRequest { message: "The form was not received completely. Send it again.".into() });
        }
    };
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let fields = match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/x-www-form-urlencoded" => urlencoded(&bytes),
        "multipart/form-data" => multipart(kind, bytes).await?,
        _ => {
            return Err(Problem::BadRequest {
                message: "This is not a form of the console. Reload the page and try again.".into(),
            });
        }
    };
    Ok(decode(fields))
}

/// Decodes the fields as text and checks their size.
fn decode(fields: Vec<(String, Vec<u8>)>) -> Filled {
    let mut unreadable = BTreeSet::new();
    let size: usize = fields.iter().map(|(_, value)| value.len()).sum();
    let largest = fields.iter().max_by_key(|(_, value)| value.len()).map(|(name, value)| (name.clone(), value.len()));
    let mut values = Vec::new();
    for (name, value) in fields {
        let text = String::from_utf8(value).unwrap_or_else(|error| {
            unreadable.insert(name.clone());
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        values.push((name, text));
    }
    let problem = match (unreadable.first(), largest) {
        (Some(field), _) => {
            Some(Problem::field(field, "This is not UTF-8 text. Paste or upload a text file. Nothing was changed."))
        }
        (None, Some((field, bytes))) if size > LIMIT => {
            let message = format!(
                "This is {}; a form may have at most {}. Nothing was changed.",
                mebibytes(bytes),
                mebibytes(LIMIT)
            );
            Some(Problem::field(field, message))
        }
        _ => None,
    };
    Filled { values, problem }
}

fn mebibytes(bytes: usize) -> String {
    let tenths = bytes * 10 / (1024 * 1024);
    if tenths.is_multiple_of(10) {
        format!("{} MiB", tenths / 10)
    } else {
        format!("{}.{} MiB", tenths / 10, tenths % 10)
    }
}

/// The encoding of plain forms. The usual decoders silently replace bytes that aren't UTF-8, but here such bytes must be an error.
fn urlencoded(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let decode = |part: &[u8]| -> Vec<u8> {
        let spaced: Vec<u8> = part.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
        percent_decode(&spaced).collect()
    };
    let pairs = bytes.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
                Some(at) => (&pair[..at], &pair[at + 1..]),
                None => (pair, &[][..]),
            };
            (String::from_utf8_lossy(&decode(name)).into_owned(), decode(value))
        })
        .collect()
}

/// The encoding of forms with files. A chosen file replaces the text field of the same name; an empty file field is ignored.
async fn multipart(kind: &str, bytes: Bytes) -> Result<Vec<(String, Vec<u8>)>, Problem> {
    let broken = || Problem::BadRequest { message: "The uploaded form can't be read. Choose the file again.".into() };
    let mut request =
        Request::builder().header(header::CONTENT_TYPE, kind).body(Body::from(bytes)).map_err(|_| broken())?;
    // axum's default limit is 2 MiB; the size was already checked when the body was read.
    DefaultBodyLimit::disable().apply(&mut request);
    let mut parts = Multipart::from_request(request, &()).await.map_err(|_| broken())?;
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    while let Some(part) = parts.next_field().await.map_err(|_| broken())? {
        let name = part.name().unwrap_or_default().to_owned();
        let is_file = part.file_name().is_some();
        let bytes = part.bytes().await.map_err(|_| broken())?.to_vec();
        match fields.iter_mut().find(|(field, _)| is_file && *field == name) {
            _ if is_file && bytes.is_empty() => {}
            Some((_, text)) => *text = bytes,
            None => fields.push((name, bytes)),
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_as(kind: &str, body: impl Into<Body>) -> Result<Filled, Problem> {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind.parse().expect("ascii"))]);
        read(&headers, body.into(), READ_LIMIT).await
    }

    const PLAIN: &str = "application/x-www-form-urlencoded";

    fn pairs(values: &[(&str, &str)]) -> Vec<(String, String)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[tokio::test]
    async fn fields_keep_their_order_and_repetition() {
        let filled = read_as(PLAIN, "form=save&tags=a&tags=b+c&text=%C3%A4%26%3D&empty=&bare").await.expect("read");
        let expected = [("form", "save"), ("tags", "a"), ("tags", "b c"), ("text", "ä&="), ("empty", ""), ("bare", "")];
        assert_eq!(filled, Filled { values: pairs(&expected), problem: None });
    }

    #[tokio::test]
    async fn invalid_utf8_is_reported_at_its_field_and_the_rest_kept() {
        let filled = read_as(PLAIN, "name=prod&pasted=a%FFb").await.expect("read");
        assert!(filled.problem.expect("refused").at("pasted").expect("at the field").contains("UTF-8"));
        assert_eq!(filled.values, pairs(&[("name", "prod"), ("pasted", "a\u{fffd}b")]));
    }

    #[tokio::test]
    async fn a_form_above_the_limit_is_refused_at_its_field_and_kept() {
        let text = "x".repeat(10 * 1024 * 1024);
        let filled = read_as(PLAIN, format!("name=prod&pasted={text}")).await.expect("read");
        let problem = filled.problem.expect("refused");
        assert_eq!(problem.at("pasted"), Some("This is 10 MiB; a form may have at most 2 MiB. Nothing was changed."));
        assert_eq!(filled.values[1].1.len(), text.len());
        assert_eq!(problem.status(), 422);
    }

    #[tokio::test]
    async fn a_body_above_the_read_limit_is_not_read() {
        let huge = format!("a={}", "x".repeat(READ_LIMIT));
        assert_eq!(read_as(PLAIN, huge).await, Err(Problem::TooLarge { limit: "32 MiB".into() }));
        assert!(matches!(read_as("text/plain", "a=b").await, Err(Problem::BadRequest { .. })));
    }

    #[tokio::test]
    async fn a_chosen_file_becomes_a_text_field() {
        let part = |head: &str, body: &str| format!("--XX\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n");
        let body = [
            part("name=\"name\"", "prod"),
            part("name=\"ssh_key\"", ""),
            part("name=\"ssh_key\"; filename=\"id\"", "KEY"),
            part("name=\"other\"; filename=\"\"", ""),
            "--XX--\r\n".into(),
        ];
        let filled = read_as("multipart/form-data; boundary=XX", body.concat()).await.expect("read");
        assert_eq!(filled.values, pairs(&[("name", "prod"), ("ssh_key", "KEY")]));
        assert!(read_as("multipart/form-data; boundary=XX", "--XX\r\nbroken").await.is_err());
    }
}
