//! Says whether the published vocabularies lie beside the project (`shared_data`), which some tests
//! need; without them these tests are ignored. `touch crates/core/build.rs` makes cargo look again.

use std::path::Path;

/// Where the vocabularies are, from the folder of this crate.
const SHARED_DATA: &str = "../../../shared/data";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    // A path that does not exist would make cargo run this each time.
    if Path::new(SHARED_DATA).is_dir() {
        println!("cargo::rustc-cfg=shared_data");
    }
}
