//! Compression at build time, at the highest levels: it is done once and sent often.

use std::io::Write;

pub(super) fn brotli(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    brotli::CompressorWriter::new(&mut out, 1 << 16, 11, 24).write_all(bytes)?;
    Ok(out)
}

pub(super) fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
