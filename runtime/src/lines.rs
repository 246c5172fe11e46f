//! Reading lines from anybody: bounded, and never an end of the program because of what they hold.

use std::io::{self, BufRead, Read};

/// Longest line that is read: a game of 10,000 plies takes a tenth of it.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Why a line cannot be a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Nobody sends so much.
    #[error("line longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// Not text.
    #[error("line is not UTF-8")]
    NotText,
}

/// Reads the next line, without its end and a byte-order mark before it; `None` at the end of the input. A line that is
/// too long is skipped whole.
///
/// # Errors
/// An input that fails: the error of the operating system.
pub fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, LineError>>> {
    let mut bytes = Vec::new();
    let count = input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
    if count == 0 {
        return Ok(None);
    }
    if count > LINE_BYTES_MAX && bytes.last() != Some(&b'\n') {
        skip_line(input)?;
        return Ok(Some(Err(LineError::TooLong)));
    }
    let text = String::from_utf8(bytes).map_err(|_| LineError::NotText);
    Ok(Some(text.map(|text| text.trim_start_matches('\u{feff}').trim().to_owned())))
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(buffer.len(), |end| end + 1);
        input.consume(count);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<Result<String, LineError>> {
        std::iter::from_fn(|| next_line(&mut input).unwrap()).collect()
    }

    #[test]
    fn lines_end_as_every_system_ends_them() {
        let text = |text: &str| Ok(text.to_owned());
        assert_eq!(lines(b"info\r\n\n  play wS1 \nlast"), [text("info"), text(""), text("play wS1"), text("last")]);
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\xef\xbb\xbfinfo\r\n"), [text("info")]);
    }

    #[test]
    fn what_is_no_line_is_told_and_passed_over() {
        let mut input = vec![b'x'; 3 * LINE_BYTES_MAX];
        input.extend_from_slice(b"\n\xff\xfe\ninfo\n");
        let expected = [Err(LineError::TooLong), Err(LineError::NotText), Ok("info".to_owned())];
        assert_eq!(lines(&input), expected);
        assert_eq!(lines(&vec![b'x'; LINE_BYTES_MAX + 1]), [Err(LineError::TooLong)]);
        assert_eq!(lines(&vec![b'x'; LINE_BYTES_MAX]).len(), 1);
    }
}
