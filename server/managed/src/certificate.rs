//! The end of a certificate's validity. Of X.509 (RFC 5280) this reads only the way to that one field.

use api::Time;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The end of the validity of a certificate in DER; `None` if it can't be read.
pub(crate) fn expires(der: &[u8]) -> Option<Time> {
    let (certificate, _) = take(der, SEQUENCE)?;
    let (mut fields, _) = take(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        (_, fields) = take(fields, VERSION)?;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        (_, fields) = take(fields, *fields.first()?)?;
    }
    let (validity, _) = take(fields, SEQUENCE)?;
    let (_, after) = take(validity, *validity.first()?)?;
    let kind = *after.first()?;
    let (text, _) = take(after, kind)?;
    time(kind, std::str::from_utf8(text).ok()?)
}

/// The content of the value with this tag at the start of `der`, and what follows it.
fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        // At most 4 bytes of length.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (found == tag).then(|| rest.split_at_checked(length)).flatten()
}

/// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
fn time(kind: u8, text: &str) -> Option<Time> {
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let digits =
        rest.strip_suffix('Z').filter(|digits| digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit()))?;
    let at = |n: usize| digits[2 * n..2 * n + 2].parse::<i8>().ok();
    let date = jiff::civil::DateTime::new(year, at(0)?, at(1)?, at(2)?, at(3)?, at(4)?, 0).ok()?;
    Some(Time(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expiry_of_a_certificate_is_read() {
        for (year, expected) in [(2031, 1_930_176_000_000), (2061, 2_876_947_200_000)] {
            let mut params = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, 3, 2);
            let key = rcgen::KeyPair::generate().unwrap();
            let der = params.self_signed(&key).unwrap().der().to_vec();
            assert_eq!(expires(&der), Some(Time(expected)), "{year}");
            for length in 0..der.len().min(120) {
                // No part of a certificate makes the reader panic.
                let _ = expires(&der[..length]);
            }
        }
        assert_eq!(expires(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!((time(UTC_TIME, "991332000000Z"), time(UTC_TIME, "9é")), (None, None));
    }
}
