//! One direction of a link: when what is read now arrives at the other end.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a TCP segment on an Ethernet link.
const SEGMENT_BYTES: usize = 1448;
/// Least wait until a lost segment is sent again (Linux; RFC 6298 asks for a second).
const RETRANSMISSION_MIN: Duration = Duration::from_millis(200);
/// Segments under way on a connection at most: more than 100 ms of 20 Mbit/s, as a router's buffer holds.
const SEGMENTS_MAX: usize = 256;

/// What all connections share in one direction.
#[derive(Debug)]
pub struct Direction {
    delay: Duration,
    bytes_per_second: f64,
    loss_share: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the line has sent all that it was given.
    free_at: Option<Instant>,
    /// Of a xorshift generator (Marsaglia 2003): a try is to be repeatable.
    random: u64,
}

impl Direction {
    /// Makes a direction: how long a byte is under way, bytes a second, share of the segments that are lost.
    pub fn new(delay: Duration, bytes_per_second: f64, loss_share: f64, seed: u64) -> Self {
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { delay, bytes_per_second, loss_share, state: Mutex::new(State { free_at: None, random }) }
    }

    /// Returns when a segment arrives that is given to the line now.
    fn arrival(&self, bytes: usize, now: Instant) -> Instant {
        // Both values are whole after each statement.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let sending = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        let sent_at = state.free_at.map_or(now, |free_at| free_at.max(now)) + sending;
        state.free_at = Some(sent_at);
        let is_lost = state.is_drawn(self.loss_share);
        sent_at + self.delay + if is_lost { RETRANSMISSION_MIN + 2 * self.delay } else { Duration::ZERO }
    }
}

impl State {
    fn is_drawn(&mut self, share: f64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 11) as f64) < share * (1_u64 << 53) as f64
    }
}

/// Carries what comes from one end to the other, in order, until either end is gone.
pub fn carry(mut from: TcpStream, to: TcpStream, direction: &Direction) {
    let (segments, arriving) = sync_channel(SEGMENTS_MAX);
    let writing = thread::spawn(move || write(to, &arriving));
    let mut buffer = [0; SEGMENT_BYTES];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let arrival = direction.arrival(count, Instant::now());
        if segments.send((arrival, buffer[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(segments);
    // It ends once all has arrived. The near end must not go on sending to nobody.
    let _ = writing.join();
    let _ = from.shutdown(Shutdown::Read);
}

fn write(mut to: TcpStream, arriving: &Receiver<(Instant, Vec<u8>)>) {
    for (arrival, segment) in arriving {
        thread::sleep(arrival.saturating_duration_since(Instant::now()));
        if to.write_all(&segment).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn segments_take_their_turn_on_the_line() {
        let (direction, now) = (Direction::new(25 * MS, 1_000_000.0, 0.0, 1), Instant::now());
        assert_eq!(direction.arrival(1000, now), now + 26 * MS);
        assert_eq!(direction.arrival(1000, now), now + 27 * MS, "after the first");
        assert_eq!(direction.arrival(1000, now + 500 * MS), now + 526 * MS, "the line was free");
    }

    #[test]
    fn a_share_of_the_segments_comes_a_retransmission_later() {
        let (direction, now) = (Direction::new(25 * MS, 1e12, 0.1, 1), Instant::now());
        let late = (0..10_000).filter(|_| direction.arrival(1, now) > now + 200 * MS).count();
        assert!((900..1100).contains(&late), "{late} of 10,000");
    }
}
