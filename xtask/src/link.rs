//! `cargo xtask link`: a TCP proxy that is as slow as a home link, to try workers through it.
//!
//! Each direction of each connection waits half the round trip and gets the rate given; all connections share it, as they
//! share a home link. A loss is what TCP makes of one: the segment comes a retransmission later, at least 200 ms (RFC 6298)
//! on top of a round trip, and what is behind it waits for it.

mod direction;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::direction::{Direction, carry};

/// The link, and what is behind it.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Address that stands for the link: workers connect to this one.
    #[arg(long, default_value = "127.0.0.1:50052")]
    listen: SocketAddr,
    /// Address behind the link: the learner's.
    #[arg(long, default_value = "127.0.0.1:50051")]
    to: SocketAddr,
    /// Time there and back, in milliseconds, 0 to 10000.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    round_trip_ms: u32,
    /// Rate of each direction in Mbit/s, 1 to 100000.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    mbit: u32,
    /// Share of the segments of 1,448 bytes that are lost, in percent, 0 to 50.
    #[arg(long, default_value_t = 0.0, value_parser = percent)]
    loss: f64,
}

/// Carries connections until the process is ended.
pub fn link(arguments: &LinkArguments) -> Result<ExitCode> {
    let listener = TcpListener::bind(arguments.listen).with_context(|| format!("listen on {}", arguments.listen))?;
    println!("xtask: the link to {} is {}", arguments.to, listener.local_addr().context("read the address")?);
    serve(&listener, arguments)?;
    Ok(ExitCode::SUCCESS)
}

fn serve(listener: &TcpListener, arguments: &LinkArguments) -> Result<()> {
    let delay = Duration::from_millis(u64::from(arguments.round_trip_ms)) / 2;
    let bytes_per_second = f64::from(arguments.mbit) * 1e6 / 8.0;
    let [there, back] =
        [1, 2].map(|seed| Arc::new(Direction::new(delay, bytes_per_second, arguments.loss / 100.0, seed)));
    for near in listener.incoming() {
        let near = near.context("take a connection")?;
        match TcpStream::connect(arguments.to) {
            Ok(far) => connect(&near, &far, &there, &back).context("carry a connection")?,
            // The near side sees its connection end, as it would without the link.
            Err(error) => eprintln!("xtask: link: {}: {error}", arguments.to),
        }
    }
    Ok(())
}

/// Starts the threads of one connection: they end with it.
fn connect(near: &TcpStream, far: &TcpStream, there: &Arc<Direction>, back: &Arc<Direction>) -> Result<()> {
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    for (from, to, direction) in [(near, far, there), (far, near, back)] {
        let (from, to, direction) = (from.try_clone()?, to.try_clone()?, Arc::clone(direction));
        thread::spawn(move || carry(from, to, &direction));
    }
    Ok(())
}

fn percent(text: &str) -> Result<f64> {
    let percent: f64 = text.parse().context("a number")?;
    anyhow::ensure!((0.0..=50.0).contains(&percent), "{percent} is not between 0 and 50");
    Ok(percent)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Instant;

    use super::*;

    /// Sends `bytes` through a link to an echo and returns how long all of them took to come back.
    fn time_of_echo(round_trip_ms: u32, mbit: u32, bytes: &[u8]) -> Duration {
        let echo = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (to, listen) = (echo.local_addr().unwrap(), listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = echo.accept().unwrap();
            let mut copy = stream.try_clone().unwrap();
            std::io::copy(&mut stream, &mut copy).unwrap();
        });
        let arguments = LinkArguments { listen, to, round_trip_ms, mbit, loss: 0.0 };
        thread::spawn(move || serve(&listener, &arguments));
        let (mut stream, start) = (TcpStream::connect(listen).unwrap(), Instant::now());
        let (mut sender, sent) = (stream.try_clone().unwrap(), bytes.to_vec());
        thread::spawn(move || sender.write_all(&sent).unwrap());
        let mut echoed = vec![0; bytes.len()];
        stream.read_exact(&mut echoed).unwrap();
        assert_eq!(echoed, bytes);
        start.elapsed()
    }

    #[test]
    fn a_byte_takes_the_round_trip_and_many_the_rate() {
        let one = time_of_echo(80, 1000, &[7]);
        assert!(one >= Duration::from_millis(80), "{one:?}");
        // 500,000 bytes at 20 Mbit/s take 200 ms, there and back at the same time.
        let many = time_of_echo(0, 20, &vec![9; 500_000]);
        assert!(many >= Duration::from_millis(190), "{many:?}");
    }

    #[test]
    fn a_loss_is_a_share_in_percent() {
        assert!(percent("1.5").is_ok());
        assert_eq!(percent("51").unwrap_err().to_string(), "51 is not between 0 and 50");
        assert!(percent("few").is_err());
    }
}
