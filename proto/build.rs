//! Generates the messages and services of package `alveare.v1`, without protoc.

use std::path::PathBuf;

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files =
        ["alveare/v1/game.proto", "alveare/v1/worker.proto", "alveare/v1/inference.proto", "alveare/v1/status.proto"];
    let descriptors = protox::compile(files, ["."])?;
    let path = PathBuf::from(std::env::var("OUT_DIR")?).join("descriptors.bin");
    std::fs::write(path, descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".alveare.v1.LeafBatch")
        .bytes(".alveare.v1.EvaluationBatch")
        .client_mod_attribute(".", "#[cfg(feature = \"services\")]")
        .server_mod_attribute(".", "#[cfg(feature = \"services\")]")
        .compile_fds(descriptors)?;
    println!("cargo:rerun-if-changed=alveare");
    Ok(())
}
