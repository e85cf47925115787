//! Files of word counts: written whole or not at all, and refused if damaged.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::counts::WordCounts;
use super::provenance::Provenance;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::files;

/// The first bytes of every file of word counts, whatever its version.
pub const MARK: &[u8] = b"jeton word counts ";

/// What comes next in a file of this version.
const VERSION: &[u8] = b"2\n";

/// Bytes of the head: the mark, the version, the length of the body and its hash.
const HEAD: usize = MARK.len() + VERSION.len() + 8 + 32;

/// What follows the head.
#[derive(Serialize, Deserialize)]
struct Body<'b> {
    provenance: Option<Provenance>,
    text: &'b str,
    ends: Vec<usize>,
    counts: Vec<u64>,
}

impl WordCounts {
    /// The counts as a file holds them.
    ///
    /// # Errors
    /// None that can happen today.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let body = (&self.provenance, &self.text, &self.ends, &self.counts);
        let mut image = postcard::to_extend(&body, vec![0; HEAD])
            .map_err(|error| Error::new(ErrorKind::File, format!("cannot be stored: {error}")))?;
        let (head, body) = image.split_at_mut(HEAD);
        let length = (body.len() as u64).to_le_bytes();
        let parts = [MARK, VERSION, &length, &Sha256::digest(&*body)].concat();
        head.copy_from_slice(&parts);
        Ok(image)
    }

    /// The counts of which [`WordCounts::to_bytes`] made these bytes.
    ///
    /// # Errors
    /// Something else, or counts that were cut short or changed, or of another version.
    pub fn from_bytes(image: &[u8]) -> Result<Self> {
        let broken = |message: &str| Error::new(ErrorKind::Format, message);
        let Some(versioned) = image.strip_prefix(MARK) else {
            return Err(broken("not a file of word counts")
                .hint("word counts are written by WordCounts.save"));
        };
        let Some(rest) = versioned.strip_prefix(VERSION) else {
            return Err(
                broken("these word counts were written by another version of jeton")
                    .hint("count the corpus again"),
            );
        };
        let cut_short =
            || broken("the word counts are cut short").hint("copy the file again, or count again");
        let (length, rest) = rest.split_first_chunk().ok_or_else(cut_short)?;
        let (hash, body) = rest.split_first_chunk::<32>().ok_or_else(cut_short)?;
        if (body.len() as u64) < u64::from_le_bytes(*length) {
            return Err(cut_short());
        }
        let changed = || {
            broken("the word counts were changed since they were written")
                .hint("copy the file again, or count again")
        };
        if body.len() as u64 != u64::from_le_bytes(*length) || *Sha256::digest(body) != hash[..] {
            return Err(changed());
        }
        let body: Body<'_> = postcard::from_bytes(body).map_err(|_| changed())?;
        let mut start = 0;
        let sound = body.ends.iter().all(|&end| {
            let word = body.text.get(std::mem::replace(&mut start, end)..end);
            word.is_some_and(|word| !word.is_empty())
        });
        let mut counts = body.counts.iter();
        let sound = sound
            && counts
                .try_fold(0u64, |sum, &count| sum.checked_add(count))
                .is_some();
        if !sound || start != body.text.len() || body.ends.len() != body.counts.len() {
            return Err(changed());
        }
        Ok(Self {
            text: body.text.to_owned(),
            ends: body.ends,
            counts: body.counts,
            provenance: body.provenance,
        })
    }

    /// Writes the counts to a file, whole or not at all.
    ///
    /// # Errors
    /// A folder that is not there, or that cannot be written to.
    pub fn save(&self, path: &Path) -> Result<()> {
        files::write(path, &self.to_bytes()?)
    }

    /// Reads counts that [`WordCounts::save`] wrote.
    ///
    /// # Errors
    /// A file that is not there, that cannot be read, that holds something else, or that is not as
    /// it was written.
    pub fn load(path: &Path) -> Result<Self> {
        let counts = Self::from_bytes(&files::read(path, u64::MAX)?);
        counts.map_err(|error| error.at(path.display().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cutting;
    use super::*;

    fn counts() -> WordCounts {
        let mut counts = WordCounts::from_words([("héllo", 3), ("world", u64::MAX - 3)]);
        counts.provenance = Some(Provenance {
            cutting: Cutting::Between(b" ".into()),
            cut_at: Some(7),
        });
        counts
    }

    #[test]
    fn saved_counts_are_loaded() {
        let folder = std::env::temp_dir().join(format!("jeton-counts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.counts");
        counts().save(&path).unwrap();
        let loaded = WordCounts::load(&path).unwrap();
        assert_eq!(loaded, counts());
        assert_eq!(loaded.provenance, counts().provenance);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn damaged_counts_are_refused() {
        let image = counts().to_bytes().unwrap();
        let told = |image: &[u8]| WordCounts::from_bytes(image).unwrap_err().to_string();
        for end in MARK.len() + VERSION.len()..image.len() {
            assert!(told(&image[..end]).contains("cut short"), "{end}");
        }
        for at in HEAD - 40..image.len() {
            let mut changed = image.clone();
            changed[at] ^= 1;
            assert!(WordCounts::from_bytes(&changed).is_err(), "{at}");
        }
        assert!(told(&[&image[..], b"x"].concat()).contains("were changed"));
        assert!(told(b"jeton word counts 1\n").contains("another version"));
        assert!(told(b"{}").contains("not a file of word counts"));
    }
}
