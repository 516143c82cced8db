//! Why a private key can't be used.

/// Why a private key can't be used. Its text is a sentence for users, and never contains text of the key: a `label` is one of the known
/// ones, such as `OPENSSH PRIVATE KEY`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No text, or only white space.
    #[error("There is no key: the text is empty.")]
    Empty,
    /// Larger than any key.
    #[error("This has {bytes} bytes; no private key has more than {limit}.")]
    TooLong {
        /// Its size.
        bytes: usize,
        /// The maximum.
        limit: usize,
    },
    /// Not UTF-8, or with control characters: for example, a file in DER.
    #[error("This is not UTF-8 text. Private keys start with “-----BEGIN … PRIVATE KEY-----”.")]
    NotText,
    /// The other half of the key pair.
    #[error("This is a public key. The private key is in the file of the same name without “.pub”.")]
    Public,
    /// The format of PuTTY.
    #[error("This is a PuTTY key. Export it in OpenSSH format (PuTTYgen: Conversions, Export OpenSSH key).")]
    Putty,
    /// No known first line.
    #[error("This is not a private key: it must start with “-----BEGIN … PRIVATE KEY-----”.")]
    NotAKey,
    /// Stored with text before the first line, which ssh ignores only in some formats.
    #[error(
        "There is text before the key, and ssh can't read it. Remove everything before “-----BEGIN {label}-----”, or paste the key in the console (Configuration, SSH access), which corrects it."
    )]
    TextBefore {
        /// The label of the key.
        label: &'static str,
    },
    /// Stored with text beside the last line. Text below it is allowed.
    #[error(
        "There is text in the last line of the key, and ssh can't read it. Remove everything after “-----END {label}-----”, or paste the key in the console (Configuration, SSH access), which corrects it."
    )]
    TextAfter {
        /// The label of the key.
        label: &'static str,
    },
    /// No last line, or one that is incomplete.
    #[error("The end of this key is missing: its last line must be “-----END {label}-----”. Copy the whole file.")]
    EndMissing {
        /// The label of the first line.
        label: &'static str,
    },
    /// First and last line are from different keys.
    #[error(
        "This key starts with “-----BEGIN {begin}-----” and ends with “-----END {end}-----”. Copy the whole file of one key."
    )]
    EndDiffers {
        /// The label of the first line.
        begin: &'static str,
        /// The label of the last line.
        end: &'static str,
    },
    /// A character that base64 doesn't have.
    #[error(
        "There are characters between the first and last line of this key that no key has. Copy the whole file again."
    )]
    NotBase64,
    /// Base64 that is no key.
    #[error("This key can't be read: a part of it is missing or was changed. Copy the whole file.")]
    Broken,
    /// The first and last line name another format than the content has.
    #[error(
        "The first and last line of this key say “{found}”, but its content is that of “{right}”. Use the original file."
    )]
    Label {
        /// The label of the first line.
        found: &'static str,
        /// The one that fits.
        right: &'static str,
    },
    /// An ed25519 key as `openssl genpkey` writes it: <https://www.openssh.com/txt/release-9.6>
    #[error(
        "This is an ed25519 key in PKCS #8 format, which ssh can't read before OpenSSH 9.6. Convert a copy with ssh-keygen -p of OpenSSH 9.6 or newer, or generate a key in the console."
    )]
    Pkcs8Ed25519,
    /// An algorithm or curve that ssh doesn't have.
    #[error(
        "ssh doesn't support this kind of key. Use an RSA key or an ECDSA key on the curve P-256, P-384 or P-521, or generate a key in the console."
    )]
    Kind,
    /// An RSA key that ssh refuses.
    #[error("This RSA key has {bits} bits, and ssh needs at least {least}. Generate a key in the console.")]
    RsaTooShort {
        /// Its size.
        bits: usize,
        /// The minimum.
        least: usize,
    },
    /// Encrypted.
    #[error(
        "This key has a passphrase. That isn't supported, because operations run unattended. Remove the passphrase from a copy (ssh-keygen -p), or generate a key in the console."
    )]
    Passphrase,
    /// Half of the key is in a FIDO token.
    #[error(
        "This key needs its hardware token, which isn't plugged in here. Use another key, or generate one in the console."
    )]
    HardwareToken,
    /// Stored with the line ends of Windows, or of an old Mac.
    #[error(
        "Its lines have Windows line ends (CR LF), and ssh can't read such a key. Paste it in the console (Configuration, SSH access), which corrects it, or convert the file with dos2unix and store it again."
    )]
    WindowsLineEnds,
    /// Stored without the last line end.
    #[error(
        "The line end after its last line is missing, and ssh can't read such a key. Paste it in the console (Configuration, SSH access), which corrects it, or store the file itself (kubectl create secret generic --from-file=ssh-privatekey=…)."
    )]
    LastLineEnd,
    /// Stored with other changes that [`pasted`](crate::pasted) corrects.
    #[error(
        "Its lines were joined, indented or quoted, and ssh can't read such a key. Paste it in the console (Configuration, SSH access), which corrects it, or store the original file."
    )]
    Lines,
}
