//! The program starts anew in its own place, once, with its arguments.

use std::process::{Command, Stdio};

use net::DeviceChoice;

/// Not a test of its own: [`restarts_once`] runs this binary again with this test alone.
#[test]
fn child() {
    if std::env::var_os("NET_RESTART_CHILD").is_none() {
        return;
    }
    net::cuda::preload(DeviceChoice::Auto).expect("this program can start itself");
    let variable = |name| std::env::var(name).unwrap_or_default();
    let (waiting, trim) = (variable("OMP_WAIT_POLICY"), variable("MALLOC_TRIM_THRESHOLD_"));
    println!("\nrestarted: pid {}, waiting {waiting}, trim {trim}", std::process::id());
}

#[test]
fn restarts_once() {
    let program = std::env::current_exe().expect("a test knows its program");
    let child = Command::new(program)
        .args(["--exact", "child", "--nocapture"])
        .env("NET_RESTART_CHILD", "1")
        .env("MALLOC_TRIM_THRESHOLD_", "123456789")
        .env_remove("OMP_WAIT_POLICY")
        .env_remove("ALVEARE_RESTARTED")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test starts itself");
    let id = child.id();
    let output = child.wait_with_output().expect("the child ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&format!("restarted: pid {id}, waiting passive, trim 123456789")), "{text}");
}
