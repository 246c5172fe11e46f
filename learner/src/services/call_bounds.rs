//! Calls are bounded before anything is built of them: how many bytes they have, how long they take to arrive, and how many
//! plies a report holds. A ply of two bytes takes a hundred once it is read.

use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full, Limited};
use runtime::call_guard::CallCheck;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::Request;

/// Largest report of plies, in bytes: more than a thousand plies with targets of 250 moves.
pub(super) const REPORT_BYTES_MAX: usize = 1 << 20;
/// Largest call that names games, in bytes: as many as one may name, by the longest numbers.
const RENEWAL_BYTES_MAX: usize = 64 << 10;
/// Largest call of any other kind, in bytes: names and a few numbers.
pub(super) const SMALL_CALL_BYTES_MAX: usize = 4 << 10;
/// How long a call may take to arrive.
const ARRIVAL_TIME_MAX: Duration = Duration::from_secs(30);
/// The call whose repeated field is counted.
const REPORT_PATH: &str = "/alveare.v1.Workers/ReportPlies";
/// The call that names games.
const RENEWAL_PATH: &str = "/alveare.v1.Workers/RenewLeases";
/// A stream, whose messages come one by one.
const OFFER_PATH: &str = "/alveare.v1.RemoteInference/OfferInference";
/// Number of that field in `ReportPliesRequest`.
const PLIES_FIELD: u64 = 2;
/// A message comes after a byte that says whether it is compressed, and four for its length.
const FRAME_BYTES: usize = 5;

/// What a call of one message must keep to: those that are too large, or too slow to arrive, do not
/// reach it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallBounds {
    /// Plies of a report, if the service has such calls.
    pub ply_count_max: usize,
}

impl CallCheck for CallBounds {
    async fn check(self, request: Request<Body>) -> Result<Request<Body>, Status> {
        let (parts, body) = request.into_parts();
        if parts.uri.path() == OFFER_PATH {
            return Ok(Request::from_parts(parts, body));
        }
        let bytes = match parts.uri.path() {
            REPORT_PATH => read_report(body, self.ply_count_max).await,
            RENEWAL_PATH => read_call(body, RENEWAL_BYTES_MAX).await,
            _ => read_call(body, SMALL_CALL_BYTES_MAX).await,
        }?;
        Ok(Request::from_parts(parts, Body::new(Full::new(bytes))))
    }
}

/// Reads a whole call.
async fn read_call(body: Body, bytes_max: usize) -> Result<Bytes, Status> {
    read_within(ARRIVAL_TIME_MAX, body, bytes_max).await
}

async fn read_within(time_max: Duration, body: Body, bytes_max: usize) -> Result<Bytes, Status> {
    let reading = tokio::time::timeout(time_max, Limited::new(body, bytes_max).collect());
    let read = reading.await.map_err(|_| Status::deadline_exceeded("the call did not arrive in time"))?;
    let too_large = |_| Status::invalid_argument(format!("call cut off, or of more than {bytes_max} bytes"));
    Ok(read.map_err(too_large)?.to_bytes())
}

/// Reads a report, and counts its plies.
async fn read_report(body: Body, ply_count_max: usize) -> Result<Bytes, Status> {
    let bytes = read_call(body, REPORT_BYTES_MAX).await?;
    let unreadable = || Status::invalid_argument("report that is not one whole message");
    let ply_count =
        only_message(&bytes).and_then(|message| count_field(message, PLIES_FIELD)).ok_or_else(unreadable)?;
    if ply_count > ply_count_max {
        return Err(Status::invalid_argument(format!("report of {ply_count} plies: more than {ply_count_max}")));
    }
    Ok(bytes)
}

/// Returns the message of a request that is one uncompressed message and nothing after it: the decoder would read the
/// others too.
fn only_message(request: &[u8]) -> Option<&[u8]> {
    let (head, message) = request.split_first_chunk::<FRAME_BYTES>()?;
    let [0, length @ ..] = head else { return None };
    (u32::from_be_bytes(*length) as usize == message.len()).then_some(message)
}

/// Counts how often a field of length-delimited type comes in a message. `None` if the message cannot be followed to its
/// end; groups, which no worker sends, are not followed: what they hold, and what comes after them, would not be counted.
fn count_field(mut message: &[u8], number: u64) -> Option<usize> {
    let mut count = 0;
    while !message.is_empty() {
        let key = read_varint(&mut message)?;
        let length = match key & 7 {
            0 => read_varint(&mut message).map(|_| 0)?,
            1 => 8,
            2 => {
                count += usize::from(key >> 3 == number);
                usize::try_from(read_varint(&mut message)?).ok()?
            }
            5 => 4,
            _ => return None,
        };
        message = message.get(length..)?;
    }
    Some(count)
}

/// Reads a number of seven bits a byte, the lowest first.
fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.try_get_u8().ok()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    fn frame(message: &[u8]) -> Bytes {
        let mut frame = vec![0];
        frame.extend((message.len() as u32).to_be_bytes());
        frame.extend(message);
        frame.into()
    }

    fn report(ply_count: usize) -> Bytes {
        let ply = proto::Ply { game_id: 300, ply: 7, move_text: "b2".into(), root_value: 0.5, ..Default::default() };
        let request = proto::ReportPliesRequest { worker_id: "w".into(), plies: vec![ply; ply_count] };
        frame(&request.encode_to_vec())
    }

    async fn read(bytes: Bytes) -> Result<Bytes, Status> {
        read_report(Body::new(Full::new(bytes)), 256).await
    }

    #[tokio::test]
    async fn a_report_is_passed_on_as_it_came_or_refused_in_words() {
        assert_eq!(read(report(256)).await.unwrap(), report(256));
        assert!(read(report(257)).await.unwrap_err().message().contains("257 plies: more than 256"));
        let empty_plies = [b"\x0a\x01x".as_slice(), &b"\x12\x00".repeat(400_000)].concat();
        assert!(read(frame(&empty_plies)).await.unwrap_err().message().contains("400000 plies"));
        let large = frame(&vec![0; REPORT_BYTES_MAX]);
        assert!(read(large).await.unwrap_err().message().contains("more than 1048576 bytes"));
    }

    #[tokio::test]
    async fn a_call_that_is_large_or_never_arrives_is_refused() {
        let whole = Bytes::from(vec![0; SMALL_CALL_BYTES_MAX]);
        let call = |bytes: Bytes| read_call(Body::new(Full::new(bytes)), SMALL_CALL_BYTES_MAX);
        assert_eq!(call(whole.clone()).await.unwrap(), whole);
        let refused = call(vec![0; SMALL_CALL_BYTES_MAX + 1].into()).await.unwrap_err();
        assert!(refused.message().contains("more than 4096 bytes"), "{refused}");
        let silent = futures_util::stream::pending::<Result<hyper::body::Frame<Bytes>, Infallible>>();
        let silent = Body::new(http_body_util::StreamBody::new(silent));
        let late = read_within(Duration::from_millis(1), silent, SMALL_CALL_BYTES_MAX).await;
        assert_eq!(late.unwrap_err().code(), tonic::Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn what_cannot_be_counted_to_its_end_is_refused() {
        let group_first = [b"\x0a\x01x\x7b\x7c".as_slice(), &b"\x12\x00".repeat(400_000)].concat();
        let cut_off = [&b"\x12"[..], b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0f", b"\x12\x05a"];
        for message in cut_off.into_iter().chain([&group_first[..]]) {
            let refused = read(frame(message)).await.unwrap_err();
            assert!(refused.message().contains("not one whole message"), "{refused}");
        }
        let another_after_it = [frame(b""), report(1)].concat();
        for request in [&[0, 0][..], &[1, 0, 0, 0, 0], &another_after_it] {
            assert!(read(Bytes::copy_from_slice(request)).await.is_err(), "{request:?}");
        }
        assert_eq!(read(frame(b"")).await.unwrap(), frame(b""));
    }

    /// Bytes that the decoder takes for fields, groups and their ends more often than any bytes would be.
    fn fields() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => Just(b"\x12\x00".to_vec()),
            2 => proptest::collection::vec(any::<u8>(), 0..4),
            1 => Just(b"\x7b".to_vec()),
            1 => Just(b"\x7c".to_vec()),
            1 => Just(b"\x0a\x01x".to_vec()),
            1 => Just(b"\x12\x02\x08\x07".to_vec()),
            1 => Just(b"\x1a\x03abc\x28\xff\x01".to_vec()),
        ];
        proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_ply_is_missed_that_the_decoder_builds(message in prop_oneof![fields(), proptest::collection::vec(any::<u8>(), 0..64)]) {
            if let (Some(count), Ok(report)) =
                (count_field(&message, PLIES_FIELD), proto::ReportPliesRequest::decode(&message[..]))
            {
                prop_assert!(count >= report.plies.len(), "{count} of {}", report.plies.len());
            }
        }
    }
}
