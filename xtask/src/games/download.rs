//! Downloads a file: under a temporary name, from where it was cut off, renamed once it is whole.
//!
//! Beside the part (`NAME.part`) lies the version of the file as the server names it (`NAME.part.version`): a part is gone
//! on with only if the server still has that version, else the file is fetched from its beginning.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use ureq::http::{HeaderMap, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Attempts in a row that bring not one byte.
pub(super) const VAIN_ATTEMPTS_MAX: u32 = 5;
/// Longest silence of a server.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Bytes that are written at once.
const CHUNK_BYTES: usize = 1 << 16;

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// In hexadecimal digits.
    pub sha256: String,
    pub byte_count: u64,
    /// Whether nothing had to be downloaded.
    pub was_there: bool,
}

/// Downloads files.
pub struct Downloader {
    agent: Agent,
    /// How long to wait before the next attempt, after so many in vain.
    pause: fn(u32) -> Duration,
}

/// What came of an attempt that may be worth another one.
enum Attempt {
    Whole,
    NotFound,
    Again(anyhow::Error),
}

impl Downloader {
    pub fn new() -> Self {
        Self::with_pause(|vain| Duration::from_secs(1 << vain.min(5)))
    }

    pub(super) fn with_pause(pause: fn(u32) -> Duration) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_connect(Some(SILENCE_MAX))
            .timeout_recv_response(Some(SILENCE_MAX))
            .timeout_per_read(Some(SILENCE_MAX))
            .build();
        Self { agent: config.into(), pause }
    }

    /// Gets the file at `url`, unless it is at `path` already; `None` if the server has no such file.
    ///
    /// # Errors
    /// If the server does not give it, another one is there or comes than `sha256` says, or the disk refuses it.
    pub fn fetch(&self, url: &str, path: &Path, sha256: Option<&str>) -> Result<Option<Fetched>> {
        if path.exists() {
            let fetched = Fetched { was_there: true, ..look_at(path)? };
            if let Some(wanted) = sha256.filter(|wanted| *wanted != fetched.sha256) {
                bail!("{}: its SHA-256 is {}, not {wanted}: delete it and try again", path.display(), fetched.sha256);
            }
            return Ok(Some(fetched));
        }
        let mut part = Part::open(path)?;
        let mut vain_count = 0;
        loop {
            let before = part.length;
            match self.attempt(url, &mut part)? {
                Attempt::Whole => break,
                Attempt::NotFound => return part.remove().map(|()| None),
                Attempt::Again(error) => {
                    vain_count = if part.length > before { 0 } else { vain_count + 1 };
                    if vain_count == VAIN_ATTEMPTS_MAX {
                        return Err(error.context(format!("{url}: started again, it goes on from {before} bytes")));
                    }
                    eprintln!("xtask: {url}: {error:#}; again, from {} bytes", part.length);
                    thread::sleep((self.pause)(vain_count));
                }
            }
        }
        let fetched = look_at(&part.path)?;
        if let Some(wanted) = sha256.filter(|wanted| *wanted != fetched.sha256) {
            part.remove()?;
            bail!("{url}: its SHA-256 is {}, not {wanted}: it was deleted", fetched.sha256);
        }
        part.rename(path)?;
        Ok(Some(fetched))
    }

    /// Asks for what is missing of the file.
    fn attempt(&self, url: &str, part: &mut Part) -> Result<Attempt> {
        let mut request = self.agent.get(url);
        match part.version()? {
            Some(version) if part.length > 0 => {
                request = request.header("Range", format!("bytes={}-", part.length)).header("If-Range", version);
            }
            _ => part.begin(None)?,
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) => return Ok(Attempt::Again(error.into())),
        };
        match response.status().as_u16() {
            200 => part.begin(version_of(response.headers()))?,
            206 if range_start(response.headers()) == Some(part.length) => {}
            // What is there is not the beginning of the file.
            206 | 416 => {
                part.begin(None)?;
                return Ok(Attempt::Again(anyhow::anyhow!("the server has another file than before")));
            }
            404 => return Ok(Attempt::NotFound),
            status @ (408 | 429 | 500..) => return Ok(Attempt::Again(anyhow::anyhow!("the server answers {status}"))),
            status => bail!("{url}: the server answers {status}"),
        }
        receive(response, part)
    }
}

/// Appends the body of a response.
fn receive(response: Response<Body>, part: &mut Part) -> Result<Attempt> {
    let total = response.body().content_length().map(|rest| part.length + rest);
    let bar = progress(part, total);
    let mut body = response.into_body().into_reader();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match body.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => part.append(&chunk[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Attempt::Again(error.into())),
        }
        bar.set_position(part.length);
    }
    bar.finish_and_clear();
    match total {
        Some(total) if total != part.length => {
            Ok(Attempt::Again(anyhow::anyhow!("{} of {total} bytes came", part.length)))
        }
        _ => Ok(Attempt::Whole),
    }
}

fn progress(part: &Part, total: Option<u64>) -> ProgressBar {
    let template = "{prefix} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} to go";
    let style = ProgressStyle::with_template(template).expect("the template is a constant").progress_chars("=> ");
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style);
    bar.set_prefix(part.path.display().to_string());
    bar
}

/// Returns by what the server knows this version of the file; `None` if it names none that can be relied on.
fn version_of(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let version = text("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| text("last-modified"));
    version.map(str::to_owned)
}

/// Returns with which byte a part of a file begins.
fn range_start(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get("content-range")?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

/// The beginning of a file that is being downloaded.
struct Part {
    path: PathBuf,
    version_path: PathBuf,
    file: File,
    length: u64,
}

impl Part {
    /// Opens the part of what will be `path`, or begins it.
    fn open(path: &Path) -> Result<Self> {
        let with = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (path, version_path) = (with(".part"), with(".part.version"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.with_context(|| format!("write {}", path.display()))?;
        file.try_lock().with_context(|| format!("{}: another download is writing it", path.display()))?;
        let length = file.seek(SeekFrom::End(0)).with_context(|| format!("read {}", path.display()))?;
        Ok(Self { path, version_path, file, length })
    }

    fn version(&self) -> Result<Option<String>> {
        match fs::read_to_string(&self.version_path) {
            Ok(version) => Ok(Some(version)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("read {}", self.version_path.display())),
        }
    }

    /// Begins anew, with a file of this version.
    fn begin(&mut self, version: Option<String>) -> Result<()> {
        self.file.set_len(0).and_then(|()| self.file.rewind()).with_context(|| self.writes())?;
        self.length = 0;
        match version {
            Some(version) => fs::write(&self.version_path, version),
            None => remove_if_there(&self.version_path),
        }
        .with_context(|| format!("write {}", self.version_path.display()))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).with_context(|| self.writes())?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn rename(self, path: &Path) -> Result<()> {
        self.file.sync_all().and_then(|()| fs::rename(&self.path, path)).with_context(|| self.writes())?;
        remove_if_there(&self.version_path).with_context(|| format!("remove {}", self.version_path.display()))
    }

    fn remove(self) -> Result<()> {
        let removed = remove_if_there(&self.version_path).and_then(|()| fs::remove_file(&self.path));
        removed.with_context(|| format!("remove {}", self.path.display()))
    }

    fn writes(&self) -> String {
        format!("write {}", self.path.display())
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Sums up a file.
fn look_at(path: &Path) -> Result<Fetched> {
    let failed = || format!("read {}", path.display());
    let mut file = File::open(path).with_context(failed)?;
    let (mut sum, mut chunk, mut byte_count) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
    loop {
        let count = file.read(&mut chunk).with_context(failed)?;
        if count == 0 {
            break;
        }
        sum.update(&chunk[..count]);
        byte_count += count as u64;
    }
    let sha256 = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Fetched { sha256, byte_count, was_there: false })
}
