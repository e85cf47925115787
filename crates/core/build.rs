//! Names what the sources ask of the target in more than one place: `neon`, where the code that is
//! written for NEON is compiled.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(neon)");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("ARCH") == "aarch64"
        && target("ENDIAN") == "little"
        && target("FEATURE")
            .split(',')
            .any(|feature| feature == "neon")
    {
        println!("cargo::rustc-cfg=neon");
    }
}
