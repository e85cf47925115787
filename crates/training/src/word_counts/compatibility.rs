//! Whether word counts fit the settings of a trainer, or other word counts.
//!
//! Look here when a trainer refuses counts, or counts cannot be merged.

use super::counts::WordCounts;
use super::provenance::{Cutting, Difference, Provenance};
use jeton_text::error::{Error, ErrorKind, Result};

impl WordCounts {
    /// Checks that a trainer with these settings would have counted the same words.
    ///
    /// Counts without a provenance are taken as they are. A special token that they were not counted
    /// with does no harm where no text of these words spells it.
    ///
    /// # Errors
    /// It would not, with the first setting that differs.
    pub fn check_counted_by(
        &self,
        cutting: &Cutting,
        max_word_length: Option<usize>,
    ) -> Result<()> {
        let Some(provenance) = &self.provenance else {
            return Ok(());
        };
        if let (Cutting::Between(counted), Cutting::Between(wanted)) = (&provenance.cutting, cutting)
            // Who may split at more places may do so later.
            && counted.iter().all(|separator| wanted.contains(separator))
        {
            return Ok(());
        }
        let cut_otherwise = provenance.cutting.difference(cutting).filter(|_| {
            let more = provenance.cutting.more_tokens(cutting);
            more.is_none_or(|tokens| tokens.iter().any(|token| self.may_spell(token)))
        });
        let difference = cut_otherwise.or_else(|| {
            let wanted = max_word_length.map_or(u64::MAX, |most| most as u64);
            self.cut_otherwise(provenance.cut_at, wanted)
        });
        match difference {
            None => Ok(()),
            Some(Difference { setting, values }) => {
                let [counted, wanted] = values.map(shortened);
                Err(Error::new(
                    ErrorKind::Argument,
                    format!(
                        "{setting}: the words were counted with {counted}, and the trainer has \
                         {wanted}"
                    ),
                )
                .hint("count the corpus again with the settings of the trainer"))
            }
        }
    }

    /// The counts of both corpora, those of `other` as if they came later. Counts without a provenance go with
    /// any.
    ///
    /// # Errors
    /// Counts that were made differently, or that add up to more than a number of 64 bits.
    pub fn merged(&self, other: &Self) -> Result<Self> {
        let provenance = self.common_provenance(other)?;
        Ok(Self {
            provenance,
            ..Self::try_from_words(self.iter().chain(other.iter()))?
        })
    }

    /// Whether words side by side may spell a token, as far as can be told from the words alone.
    fn may_spell(&self, token: &str) -> bool {
        let length = token.len();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return true;
        }
        // The token up to a place may be the end of a word, and from there on the front of one; what
        // lies between two places may be a whole word.
        let mut reached = vec![false; length];
        let mut closes = vec![false; length];
        let mut whole = vec![Vec::new(); length];
        for (word, _) in self.iter() {
            if word.contains(token) {
                return true;
            }
            for at in 1..length {
                let (front, back) = token.split_at(at);
                reached[at] |= word.ends_with(front);
                closes[at] |= word.starts_with(back);
                if !word.is_empty() && word.len() < back.len() && back.starts_with(word) {
                    whole[at].push(at + word.len());
                }
            }
        }
        for at in 1..length {
            if reached[at] && closes[at] {
                return true;
            }
            if reached[at] {
                whole[at].iter().for_each(|&next| reached[next] = true);
            }
        }
        false
    }

    /// Whether words of more characters than `wanted` would be split otherwise than these were.
    fn cut_otherwise(&self, cut_at: Option<u64>, wanted: u64) -> Option<Difference> {
        let length = |most: u64| match most {
            u64::MAX => "none".to_owned(),
            most => most.to_string(),
        };
        let counted = match cut_at {
            Some(most) => (most != wanted).then(|| most.to_string()),
            None => (self.iter().any(|(word, _)| is_longer(word, wanted)))
                .then(|| "one that split no word".to_owned()),
        };
        counted.map(|counted| Difference {
            setting: "max_word_length",
            values: [counted, length(wanted)],
        })
    }

    /// The provenance of these counts and others together.
    ///
    /// # Errors
    /// The counts were made differently, with the first setting that differs.
    fn common_provenance(&self, other: &Self) -> Result<Option<Provenance>> {
        let (Some(mine), Some(others)) = (&self.provenance, &other.provenance) else {
            return Ok(self.provenance.clone().or_else(|| other.provenance.clone()));
        };
        let difference = mine.cutting.difference(&others.cutting).or_else(|| {
            match (mine.cut_at, others.cut_at) {
                (Some(_), Some(most)) => self.cut_otherwise(mine.cut_at, most),
                (Some(most), None) => other.cut_otherwise(None, most),
                (None, Some(most)) => self.cut_otherwise(None, most),
                (None, None) => None,
            }
        });
        match difference {
            None => Ok(Some(Provenance {
                cut_at: mine.cut_at.or(others.cut_at),
                ..mine.clone()
            })),
            Some(Difference { setting, values }) => {
                let [one, two] = values.map(shortened);
                Err(Error::new(
                    ErrorKind::Argument,
                    format!("{setting}: one was counted with {one}, the other with {two}"),
                )
                .at("these counts cannot be merged")
                .hint("count both with the same settings"))
            }
        }
    }
}

fn is_longer(word: &str, characters: u64) -> bool {
    word.len() as u64 > characters && word.chars().count() as u64 > characters
}

/// A setting as an error shows it.
fn shortened(value: String) -> String {
    /// Characters that are shown.
    const MAX_SHOWN: usize = 200;
    match value.char_indices().nth(MAX_SHOWN) {
        None => value,
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}
