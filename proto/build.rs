//! Generates the messages and services of package `alveare.v1`, without protoc.

use std::path::PathBuf;

use prost::Message;

/// What `learner status --json` prints: the fields of these messages, by their names.
const STATUS_MESSAGES: [&str; 6] =
    ["GetStatusReply", "GateStatus", "LossStatus", "WorkerStatus", "AlarmStatus", "RunCostStatus"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files =
        ["alveare/v1/game.proto", "alveare/v1/worker.proto", "alveare/v1/inference.proto", "alveare/v1/status.proto"];
    let descriptors = protox::compile(files, ["."])?;
    let path = PathBuf::from(std::env::var("OUT_DIR")?).join("descriptors.bin");
    std::fs::write(path, descriptors.encode_to_vec())?;
    let mut code = tonic_prost_build::configure();
    for message in STATUS_MESSAGES {
        let path = format!(".alveare.v1.{message}");
        code = code.type_attribute(path, "#[cfg_attr(feature = \"serde\", derive(serde::Serialize))]");
    }
    code.bytes(".alveare.v1.LeafBatch")
        .bytes(".alveare.v1.EvaluationBatch")
        .bytes(".alveare.v1.NetworkPiece")
        .client_mod_attribute(".", "#[cfg(feature = \"services\")]")
        .server_mod_attribute(".", "#[cfg(feature = \"services\")]")
        .compile_fds(descriptors)?;
    println!("cargo:rerun-if-changed=alveare");
    Ok(())
}
