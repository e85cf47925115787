//! Names what the sources ask of Python: `uncounted_ints`, where lists are made of ints that need no
//! counting. That is CPython 3.11 of 64 bits, but for builds that count all references together.

use std::env;

use pyo3_build_config::{BuildFlag, PythonImplementation, PythonVersion};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(uncounted_ints)");
    let python = pyo3_build_config::get();
    let version = PythonVersion {
        major: 3,
        minor: 11,
    };
    let counts_all = [BuildFlag::Py_DEBUG, BuildFlag::Py_REF_DEBUG]
        .iter()
        .any(|flag| python.build_flags().0.contains(flag));
    if python.implementation() == PythonImplementation::CPython
        && python.version() == version
        && !counts_all
        && env::var("CARGO_CFG_TARGET_POINTER_WIDTH").is_ok_and(|width| width == "64")
    {
        println!("cargo::rustc-cfg=uncounted_ints");
    }
}
