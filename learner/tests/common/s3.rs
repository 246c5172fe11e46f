//! A real S3 server: moto's, from PyPI.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the server may take to start.
const DEADLINE: Duration = Duration::from_secs(60);
/// A secret that must be in no log.
pub const SECRET: &str = "a-secret-that-nobody-may-see";

/// A server with one empty bucket, called `bucket`. It ends with the test.
pub struct S3Server {
    child: Child,
    address: SocketAddr,
}

impl S3Server {
    /// Starts a server. Where Python has no moto it is installed below `target/tmp`, once; `None`, and the reason on
    /// stderr, if that fails: no registry can be reached.
    pub fn start() -> Option<Self> {
        let packages = moto()?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let mut command = python(&packages);
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &free.port().to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("python starts");
        let server = Self { child, address: free };
        let started_at = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(started_at.elapsed() < DEADLINE, "moto does not listen after {DEADLINE:?}");
            std::thread::yield_now();
        }
        server.make_bucket();
        Some(server)
    }

    /// Returns the variables of the environment that lead to it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        variables_for(self.address)
    }

    fn make_bucket(&self) {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let request =
            format!("PUT /bucket HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the variables of the environment that lead to an S3 server at this address.
pub fn variables_for(address: SocketAddr) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ]
}

/// Returns a folder of packages with moto, which may be empty if Python has it.
fn moto() -> Option<PathBuf> {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moto");
    let has_moto = || {
        let mut command = python(&packages);
        let tried = command.args(["-c", "import moto.server, flask"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    if has_moto() {
        return Some(packages);
    }
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&packages).arg("moto[server]>=5,<6");
    let is_installed = install.status().is_ok_and(|status| status.success());
    if is_installed && has_moto() {
        return Some(packages);
    }
    eprintln!("skipped: there is no S3 server: python3 has no moto, and pip cannot install it");
    None
}

fn python(packages: &Path) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", packages);
    command
}
