//! The documents name the versions and the messages they describe.
//!
//! Whoever changes a `.proto` file reads `docs/wire.md` again, raises `PROTOCOL_VERSION` if old peers would
//! misunderstand, and then runs `UPDATE_GOLDEN=1 cargo test -p shared --test wire_doc`.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

const PROTO_FILES: [&str; 4] = ["game.proto", "inference.proto", "status.proto", "worker.proto"];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
}

/// Hash of the definitions; comments and spaces do not count.
fn fingerprint() -> String {
    let mut definitions = String::new();
    for file in PROTO_FILES {
        for line in read(&format!("proto/alveare/v1/{file}")).lines() {
            let code = line.split("//").next().unwrap_or_default();
            definitions.extend(code.split_whitespace());
        }
    }
    format!("{:016x}", xxh3_64(definitions.as_bytes()))
}

#[test]
fn wire_md_describes_these_messages() {
    let text = read("docs/wire.md");
    let marker = "Fingerprint of the definitions: `";
    let start = text.find(marker).expect("docs/wire.md holds the fingerprint") + marker.len();
    let written = &text[start..start + 16];
    let fingerprint = fingerprint();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/wire.md");
        std::fs::write(path, text.replace(written, &fingerprint)).expect("write docs/wire.md");
        return;
    }
    assert_eq!(written, fingerprint, "the messages changed: read docs/wire.md again (see the head of this file)");
}

#[test]
fn the_documents_name_the_versions() {
    let holds = |path: &str, words: String| assert!(read(path).contains(&words), "{path} does not say {words:?}");
    holds("docs/wire.md", format!("Protocol version {} ", proto::PROTOCOL_VERSION));
    holds("docs/record-format.md", format!("Version {} ", shared::DOMAIN_VERSION));
}
