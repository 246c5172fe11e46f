//! The download against a local server: cut off, killed, of another version, and not there.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::download::{Downloader, Fetched, VAIN_ATTEMPTS_MAX};
use super::{fetch_archive, name_in};

/// How a server answers one request.
enum Answer {
    /// It has a file of this version, and hangs up after `cut` bytes of what was asked for.
    File {
        body: Vec<u8>,
        tag: &'static str,
        cut: Option<usize>,
    },
    Status(u16),
}

/// A server that answers requests one after the other, and keeps their headers.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, requests) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(&stream).lines().map(Result::unwrap).take_while(|line| !line.is_empty());
                let request: Vec<String> = lines.collect();
                let reply = reply(&answer, &request);
                kept.lock().unwrap().push(request.join("\n").to_ascii_lowercase());
                stream.write_all(&reply).unwrap();
            }
        });
        Self { address, requests }
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn reply(answer: &Answer, request: &[String]) -> Vec<u8> {
    let header = |name: &str| {
        let mut lines = request.iter().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let (body, tag, cut) = match answer {
        Answer::Status(status) => {
            return format!("HTTP/1.1 {status} so\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes();
        }
        Answer::File { body, tag, cut } => (body, tag, cut),
    };
    let asked = header("range").filter(|_| header("if-range").as_deref() == Some(*tag));
    let start = asked.map(|range| range.trim_start_matches("bytes=").trim_end_matches('-').parse::<usize>().unwrap());
    let status = match start {
        Some(start) => format!("206 Partial\r\nContent-Range: bytes {start}-{}/{}", body.len() - 1, body.len()),
        None => "200 OK".to_owned(),
    };
    let rest = &body[start.unwrap_or(0)..];
    let head =
        format!("HTTP/1.1 {status}\r\nETag: {tag}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", rest.len());
    [head.as_bytes(), &rest[..cut.unwrap_or(rest.len()).min(rest.len())]].concat()
}

/// A downloader that does not wait.
fn downloader() -> Downloader {
    Downloader::with_pause(|_| Duration::ZERO)
}

fn body() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn file(tag: &'static str, cut: Option<usize>) -> Answer {
    Answer::File { body: body(), tag, cut }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_download_that_is_cut_off_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games.parquet");
    let answers = vec![file("\"a\"", Some(500_000)), Answer::Status(503), file("\"a\"", Some(1)), file("\"a\"", None)];
    let server = Server::start(answers);
    let fetched = downloader().fetch(&server.url("games.parquet"), &path, None).unwrap().unwrap();
    assert!(fs::read(&path).unwrap() == body(), "byte for byte");
    assert_eq!((fetched.byte_count, fetched.was_there), (1_200_000, false));
    assert_eq!(names(dir.path()), ["games.parquet"]);
    let requests = server.requests();
    assert!(!requests[0].contains("range:"), "{requests:?}");
    for request in &requests[1..] {
        assert!(request.contains("range: bytes=50000") && request.contains("if-range: \"a\""), "{request}");
    }
    // It is there now: the server, which has no answer left, is not asked.
    let again = downloader().fetch(&server.url("games.parquet"), &path, Some(&fetched.sha256)).unwrap().unwrap();
    assert_eq!(again, Fetched { was_there: true, ..fetched });
    let error = downloader().fetch(&server.url("x"), &path, Some(&"0".repeat(64))).unwrap_err().to_string();
    assert!(error.contains("delete it and try again"), "{error}");
}

#[test]
fn a_program_that_was_killed_goes_on_and_another_version_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games.csv");
    // A server that never answers again: the part stays.
    let vain = (0..VAIN_ATTEMPTS_MAX).map(|_| Answer::Status(500));
    let server = Server::start([file("\"a\"", Some(9_000))].into_iter().chain(vain).collect());
    let error = downloader().fetch(&server.url("games.csv"), &path, None).unwrap_err();
    assert!(format!("{error:#}").contains("it goes on from 9000 bytes: the server answers 500"), "{error:#}");
    assert_eq!(names(dir.path()), ["games.csv.part", "games.csv.part.version"]);
    let server = Server::start(vec![file("\"a\"", Some(1_000)), file("\"b\"", None)]);
    downloader().fetch(&server.url("games.csv"), &path, None).unwrap().unwrap();
    assert!(fs::read(&path).unwrap() == body());
    let requests = server.requests();
    assert!(requests[0].contains("range: bytes=9000-") && requests[1].contains("range: bytes=10000-"), "{requests:?}");
    assert_eq!(names(dir.path()), ["games.csv"]);
}

#[test]
fn what_is_not_the_file_that_was_asked_for_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games.zip");
    let server = Server::start(vec![file("W/\"weak\"", Some(10)), file("W/\"weak\"", None)]);
    let error = downloader().fetch(&server.url("games.zip"), &path, Some(&"1".repeat(64))).unwrap_err().to_string();
    assert!(error.contains("its SHA-256 is ") && error.ends_with("it was deleted"), "{error}");
    assert!(server.requests().iter().all(|request| !request.contains("range:")), "a weak tag is no version");
    let server = Server::start(vec![Answer::Status(404)]);
    assert_eq!(downloader().fetch(&server.url("games.zip"), &path, None).unwrap(), None);
    let server = Server::start(vec![Answer::Status(403)]);
    let error = downloader().fetch(&server.url("games.zip"), &path, None).unwrap_err().to_string();
    assert!(error.ends_with("games.zip: the server answers 403"), "{error}");
    assert_eq!(names(dir.path()), ["games.zip.part"], "an empty part is no harm");
}

#[test]
fn the_name_of_a_file_is_the_end_of_its_address() {
    for (url, name) in [
        ("https://host/a/games.parquet?download=true#top", Some("games.parquet")),
        ("http://127.0.0.1:8000/g.csv", Some("g.csv")),
        ("https://host", None),
        ("https://host/", None),
        ("https://host/..", None),
        ("https://host/a%2Fb.csv", None),
        ("games.csv", None),
    ] {
        assert_eq!(name_in(url).ok(), name, "{url}");
    }
}

#[test]
fn an_archive_is_fetched_up_to_its_last_file() {
    let dir = tempfile::tempdir().unwrap();
    let text_file = |text: &str| Answer::File { body: text.as_bytes().to_vec(), tag: "\"a\"", cut: None };
    let server = Server::start(vec![text_file("one"), text_file("two"), Answer::Status(404)]);
    fetch_archive(&downloader(), &server.url("archive"), dir.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!([read("hive-player-games-0000.parquet"), read("hive-player-games-0001.parquet")], ["one", "two"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    let server = Server::start(vec![Answer::Status(404)]);
    let other = tempfile::tempdir().unwrap();
    let error = fetch_archive(&downloader(), &server.url("archive"), other.path()).unwrap_err().to_string();
    assert!(error.ends_with("0000.parquet: there is no such file: name another address with --from URL"), "{error}");
}
