//! A report whose bytes are made by hand: no client would build sixty megabytes of plies first.

use bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::service::interceptor::InterceptedService;

use super::Peer;

/// Sends and takes messages as they are.
#[derive(Debug, Clone, Copy, Default)]
struct RawCodec;

impl Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Reports what is in `message`, as it is.
pub async fn report_raw(peer: &Peer, message: Bytes) -> Result<Bytes, Status> {
    let mut client = Grpc::new(InterceptedService::new(peer.channel.clone(), peer.auth.clone()));
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static("/alveare.v1.Workers/ReportPlies");
    let reply = client.unary(tonic::Request::new(message), path, RawCodec).await?;
    Ok(reply.into_inner())
}
