//! Names what the sources ask of the target and of the machine: `neon`, where the code that is
//! written for NEON is compiled (not with `JETON_WITHOUT_NEON`, so that the code for other processors
//! can be tested on this one), and `shared_data`, where the published vocabularies lie beside the
//! project that some tests need. These tests are ignored elsewhere. `touch crates/core/build.rs` makes
//! cargo look for the vocabularies again.

use std::env;
use std::path::Path;

/// Where the vocabularies are, from the folder of this crate.
const SHARED_DATA: &str = "../../../shared/data";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(neon)");
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    // A path that is not there would have cargo run this each time.
    if Path::new(SHARED_DATA).is_dir() {
        println!("cargo::rustc-cfg=shared_data");
    }
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    println!("cargo::rerun-if-env-changed=JETON_WITHOUT_NEON");
    if env::var_os("JETON_WITHOUT_NEON").is_none()
        && target("ARCH") == "aarch64"
        && target("ENDIAN") == "little"
        && target("FEATURE")
            .split(',')
            .any(|feature| feature == "neon")
    {
        println!("cargo::rustc-cfg=neon");
    }
}
