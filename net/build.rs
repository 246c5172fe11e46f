//! Lets programs find libtorch at run time without `LD_LIBRARY_PATH`: its folder becomes their run path.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let Some(libtorch) = std::env::var_os("LIBTORCH") else { return };
    let folder = PathBuf::from(libtorch).join("lib");
    let folder = folder.canonicalize().unwrap_or(folder);
    // For this crate's own tests and benchmarks.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    // For learner and engine, as DEP_ALVEARE_NET_LIBTORCH_LIB.
    println!("cargo:libtorch_lib={}", folder.display());
}
