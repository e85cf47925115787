//! Published vocabularies and texts, which are next to the project on some machines.
//!
//! Elsewhere a test that needs them is ignored: `build.rs` sets `shared_data`.

use std::path::{Path, PathBuf};

/// The path of a published file.
pub fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    folder.join(name)
}

/// Documents of the published texts, of 4,000 characters each.
pub fn documents() -> impl Iterator<Item = String> {
    ["english", "multilingual"].into_iter().flat_map(|kind| {
        let sample = std::fs::read_to_string(path(&format!("text/{kind}.txt"))).unwrap();
        let sample: Vec<char> = sample.chars().take(200_000).collect();
        let documents = sample.chunks(4000);
        let documents: Vec<String> = documents.map(|it| it.iter().collect()).collect();
        documents
    })
}
