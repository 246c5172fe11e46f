//! From the bytes of a game file to its text.

/// The byte-order mark that some programs begin a file with.
const MARK: char = '\u{feff}';

/// Returns the text of a file: UTF-8, with or without a byte-order mark, else Latin-1, as old programs write it.
///
/// ```
/// assert_eq!(notation::decode(b"\xef\xbb\xbfBase;".to_vec()), "Base;");
/// assert_eq!(notation::decode(b"Forl\xec".to_vec()), "Forlì");
/// ```
#[must_use]
pub fn decode(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| char::from(*byte)).collect());
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}
