//! The formats that OpenSSL reads: RFC 8017 (RSA), RFC 5915 (EC), DSA's own one, and PKCS #8 (RFC 5208) around any of them. All are DER.
//!
//! This checks lengths and structure, not numbers. OpenSSL ignores bytes after the key, so they are allowed.

use crate::fault::Fault;
use crate::{openssh, pem};

/// The shortest modulus that ssh accepts, in bits.
const RSA_BITS: usize = 1024;

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The curve in an EC key.
const PARAMETERS: u8 = 0xa0;

/// 1.2.840.113549.1.1.1
const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
/// 1.2.840.10040.4.1
const DSA: &[u8] = b"\x2a\x86\x48\xce\x38\x04\x01";
/// 1.2.840.10045.2.1
const EC: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
/// 1.3.101.112
const ED25519: &[u8] = b"\x2b\x65\x70";
/// P-256, P-384 and P-521.
const CURVES: [&[u8]; 3] = [b"\x2a\x86\x48\xce\x3d\x03\x01\x07", b"\x2b\x81\x04\x00\x22", b"\x2b\x81\x04\x00\x23"];

/// Whether ssh can read these bytes under this label.
pub(crate) fn check(label: &'static str, bytes: &[u8]) -> Result<(), Fault> {
    let (right, inner) = if bytes.starts_with(openssh::MAGIC) { (pem::OPENSSH, pem::OPENSSH) } else { labels(bytes)? };
    // OpenSSL reads PKCS #8 under its own label and under that of the key inside.
    if label == right || label == inner { Ok(()) } else { Err(Fault::Label { found: label, right }) }
}

/// The labels of the key and of the key inside it, which are the same unless it is PKCS #8.
fn labels(bytes: &[u8]) -> Result<(&'static str, &'static str), Fault> {
    let key = take(&mut &*bytes, SEQUENCE).ok_or(Fault::Broken)?;
    let mut rest = key;
    take(&mut rest, INTEGER).ok_or(Fault::Broken)?;
    match rest.first() {
        Some(&SEQUENCE) => Ok((pem::PKCS8, pkcs8(rest)?)),
        Some(&OCTETS) => ec(key, None).map(|()| (pem::EC, pem::EC)),
        _ if integers(key) == 6 => Ok((pem::DSA, pem::DSA)),
        _ => rsa(key).map(|()| (pem::RSA, pem::RSA)),
    }
}

/// The label of the key inside PKCS #8.
fn pkcs8(mut rest: &[u8]) -> Result<&'static str, Fault> {
    let mut algorithm = take(&mut rest, SEQUENCE).ok_or(Fault::Broken)?;
    let name = take(&mut algorithm, IDENTIFIER).ok_or(Fault::Broken)?;
    let mut inner = take(&mut rest, OCTETS).ok_or(Fault::Broken)?;
    match name {
        RSA => rsa(take(&mut inner, SEQUENCE).ok_or(Fault::Broken)?).map(|()| pem::RSA),
        EC => ec(take(&mut inner, SEQUENCE).ok_or(Fault::Broken)?, Some(algorithm)).map(|()| pem::EC),
        DSA => take(&mut inner, INTEGER).map(|_| pem::DSA).ok_or(Fault::Broken),
        ED25519 => Err(Fault::Pkcs8Ed25519),
        _ => Err(Fault::Kind),
    }
}

fn rsa(key: &[u8]) -> Result<(), Fault> {
    // Version, modulus, exponents, primes and so on.
    if integers(key) < 9 {
        return Err(Fault::Broken);
    }
    let mut rest = key;
    let modulus = take(&mut rest, INTEGER).and_then(|_| take(&mut rest, INTEGER)).ok_or(Fault::Broken)?;
    let zeros = modulus.iter().position(|byte| *byte != 0).unwrap_or(modulus.len());
    let bits = (modulus.len() - zeros) * 8 - modulus.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
    if bits < RSA_BITS { Err(Fault::RsaTooShort { bits, least: RSA_BITS }) } else { Ok(()) }
}

/// The curve is in the key or, in PKCS #8, beside it.
fn ec(mut key: &[u8], beside: Option<&[u8]>) -> Result<(), Fault> {
    take(&mut key, INTEGER).and_then(|_| take(&mut key, OCTETS)).ok_or(Fault::Broken)?;
    let mut curve = beside.or_else(|| take(&mut key, PARAMETERS)).ok_or(Fault::Broken)?;
    // A sequence describes the curve without its name. ssh recognizes it by its numbers.
    if curve.first() == Some(&SEQUENCE) {
        return Ok(());
    }
    let name = take(&mut curve, IDENTIFIER).ok_or(Fault::Broken)?;
    if CURVES.contains(&name) { Ok(()) } else { Err(Fault::Kind) }
}

/// The number of integers at the start.
fn integers(mut rest: &[u8]) -> usize {
    std::iter::from_fn(|| take(&mut rest, INTEGER)).count()
}

/// Takes the next element if it has this tag and all of its content is there.
fn take<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, first], mut after) = rest.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let mut length = usize::from(first);
    // From 0x80 on, the first byte says how many bytes the length has.
    if let Some(count @ 1..=4) = first.checked_sub(0x80) {
        let bytes = after.split_at_checked(usize::from(count))?;
        length = bytes.0.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        after = bytes.1;
    } else if first >= 0x80 {
        return None;
    }
    let (content, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(content)
}
