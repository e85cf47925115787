//! Says whether the code for NEON is compiled (`neon`), and whether the compiler optimises
//! (`optimised`). `JETON_WITHOUT_NEON` leaves NEON out, so that the code for other processors can be
//! tested on one that has it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(neon)");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
    println!("cargo::rerun-if-env-changed=JETON_WITHOUT_NEON");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
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
