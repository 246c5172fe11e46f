//! Lines of the program at the other end, read on a thread of their own: some come in while a search runs.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Instant;

use runtime::lines::{LineError, next_line};

/// Lines that wait to be read; the program at the other end waits when there are more.
const LINES_WAITING_MAX: usize = 64;

/// A line, and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text, or why it has none.
    pub text: Result<String, LineError>,
    /// When it was read.
    pub read_at: Instant,
}

/// The lines, in their order.
pub struct Inbox {
    receiver: Receiver<io::Result<Line>>,
    /// Lines that came in while nobody wanted one.
    waiting: VecDeque<Line>,
    has_ended: bool,
    failure: Option<io::Error>,
}

impl Inbox {
    /// Starts the thread that reads. It ends with the input, or with the program.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn open(mut input: impl BufRead + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(LINES_WAITING_MAX);
        let read = move || {
            while let Some(line) = next_line(&mut input).transpose() {
                let line = line.map(|text| Line { text, read_at: Instant::now() });
                let is_last = line.is_err();
                if sender.send(line).is_err() || is_last {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("lines".to_owned()).spawn(read)?;
        Ok(Self { receiver, waiting: VecDeque::new(), has_ended: false, failure: None })
    }

    /// Waits for the next line; `None` is the end of the input.
    pub fn wait(&mut self) -> Option<Line> {
        let waiting = self.waiting.pop_front();
        waiting.or_else(|| self.receiver.recv().ok().and_then(|line| self.keep(line)))
    }

    /// Returns the next line if there is one already; the inner `None` is the end of the input.
    pub fn poll(&mut self) -> Option<Option<Line>> {
        if let Some(line) = self.waiting.pop_front() {
            return Some(Some(line));
        }
        match self.receiver.try_recv() {
            Ok(line) => Some(self.keep(line)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }

    /// Returns whether no line has come in, and the input has not ended.
    pub fn is_quiet(&mut self) -> bool {
        if self.waiting.is_empty() && !self.has_ended {
            match self.receiver.try_recv() {
                Ok(line) => match self.keep(line) {
                    Some(line) => self.waiting.push_back(line),
                    None => self.has_ended = true,
                },
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.has_ended = true,
            }
        }
        self.waiting.is_empty() && !self.has_ended
    }

    /// Returns whether a line like `is_wanted` has come in. It stays where it is.
    pub fn holds(&mut self, is_wanted: impl Fn(&str) -> bool) -> bool {
        while self.waiting.len() < LINES_WAITING_MAX
            && let Ok(line) = self.receiver.try_recv()
        {
            let line = self.keep(line);
            self.waiting.extend(line);
        }
        self.waiting.iter().any(|line| line.text.as_deref().is_ok_and(&is_wanted))
    }

    /// Returns the failure that ended the lines, if one did.
    ///
    /// # Errors
    /// The error with which the operating system ended the input.
    pub fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn keep(&mut self, line: io::Result<Line>) -> Option<Line> {
        line.map_err(|error| self.failure = Some(error)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_order_whoever_looks() {
        let mut inbox = Inbox::open(&b"one\n\xff\ntwo\nthree"[..]).unwrap();
        while !inbox.holds(|line| line == "three") {
            std::thread::yield_now();
        }
        assert!(inbox.holds(|line| line == "one") && !inbox.holds(|line| line == "four"));
        let text = |line: Option<Line>| line.map(|line| line.text);
        assert_eq!(text(inbox.wait()), Some(Ok("one".to_owned())));
        assert_eq!(text(inbox.poll().unwrap()), Some(Err(LineError::NotText)));
        assert_eq!(text(inbox.wait()), Some(Ok("two".to_owned())));
        assert_eq!(text(inbox.wait()), Some(Ok("three".to_owned())));
        assert_eq!((inbox.wait(), inbox.poll()), (None, Some(None)));
        assert!(!inbox.is_quiet(), "the input has ended");
        inbox.finish().unwrap();
    }

    #[test]
    fn an_open_input_without_a_line_is_quiet() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut inbox = Inbox::open(io::BufReader::new(reader)).unwrap();
        assert!(inbox.is_quiet());
        io::Write::write_all(&mut writer, b"one\n").unwrap();
        while inbox.is_quiet() {
            std::thread::yield_now();
        }
        assert_eq!(inbox.wait().map(|line| line.text), Some(Ok("one".to_owned())));
        assert!(inbox.is_quiet());
        drop(writer);
        while inbox.is_quiet() {
            std::thread::yield_now();
        }
        assert_eq!(inbox.wait(), None);
    }
}
