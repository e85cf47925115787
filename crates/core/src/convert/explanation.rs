//! Why an approximation may give other ids for a text.
//!
//! Look here for how a difference is matched with the list in `approximate`.

use unicode_normalization::UnicodeNormalization;

use jeton_formats::cannot_hold::{MODEL_FILE, cannot_hold};
use jeton_models::model::sentencepiece::spec::{Algorithm, PieceKind};
use jeton_models::model::{Model, SentencePiece};
use jeton_models::stages::Stages;
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::{Normalizer, SentencePieceNormalizer, WhiteSpace};
use jeton_text::error::Result;
use jeton_text::text::AlignedText;

/// Why the ids of a text may differ between a `.model` file and its counterpart.
pub(super) struct Explanation<'a> {
    model: &'a SentencePiece,
    normalizer: &'a SentencePieceNormalizer,
    /// The character map alone, as it is applied on both sides.
    maps: Option<(SentencePieceNormalizer, Normalizer)>,
    /// The pieces that text never becomes.
    never: Vec<&'a str>,
    /// Characters that the other side takes for white space.
    pub differs_at: &'static [char],
}

impl<'a> Explanation<'a> {
    /// The explanation for the stages of a `.model` file.
    pub(super) fn of(stages: &'a Stages) -> Result<Self> {
        let (
            Model::SentencePiece(model),
            Some(Normalizer::SentencePiece(normalizer)),
            Some(Decoder::SentencePiece(_)),
        ) = (&stages.model, &stages.normalizer, &stages.decoder)
        else {
            return Err(cannot_hold(MODEL_FILE, "stages that are not its own"));
        };
        let maps = normalizer.charsmap().map(|map| {
            let untouched = WhiteSpace {
                add_dummy_prefix: false,
                remove_extra: false,
                escape: false,
                suffix: false,
                legacy: false,
            };
            let user_defined = normalizer.user_defined().to_vec();
            (
                SentencePieceNormalizer::new(Some(map.clone()), untouched, user_defined),
                Normalizer::Precompiled(map.clone()),
            )
        });
        let never = model.proto().pieces.iter();
        let never = never
            .filter(|piece| !matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined))
            .map(|piece| piece.text)
            .collect();
        Ok(Self {
            model,
            normalizer,
            maps,
            never,
            differs_at: &[],
        })
    }

    /// What about the character map would show in ordinary text: keys of several characters that
    /// are more than a way to write what they become, and user-defined pieces that it rewrites.
    pub(super) fn check_map(&self) -> std::result::Result<(), String> {
        let (Some(map), Some((_, by_cluster))) = (self.normalizer.charsmap(), &self.maps) else {
            return Ok(());
        };
        let keys = map
            .long_keys()
            .ok_or("a character map with too many keys to look through")?;
        for key in keys {
            let value = map.longest_prefix(&key).map_or("", |(_, value)| value);
            let Ok(key) = std::str::from_utf8(&key) else {
                return Err("a character map with parts of characters".to_owned());
            };
            if applied(by_cluster, key) != value && !same_but_for_form(key, value) {
                return Err(format!(
                    "a character map that makes {value:?} of {key:?}: there, it applies to \
                     single characters"
                ));
            }
        }
        for piece in self.normalizer.user_defined() {
            if applied(by_cluster, piece) != *piece {
                return Err(format!(
                    "the user-defined piece {piece:?}, which the character map rewrites there"
                ));
            }
        }
        Ok(())
    }

    /// Whether one of these is why a text has other ids.
    pub(super) fn covers(&self, text: &str, ids: &[u32], others: &[u32]) -> bool {
        let normalized = self.normalizer.normalize_str(text);
        let spelled = |piece: &&str| normalized.contains(piece) || text.contains(piece);
        if self.never.iter().any(spelled) || text.contains(self.differs_at) {
            return true;
        }
        if let Some((by_match, by_cluster)) = &self.maps
            && applied(by_cluster, text) != by_match.normalize_str(text)
        {
            return true;
        }
        if self.model.proto().trainer().algorithm != Algorithm::Unigram {
            let mut pieces = self.normalizer.user_defined().iter();
            return pieces.any(|piece| text.trim_start_matches(' ').starts_with(piece));
        }
        let [(a, a_sums), (b, b_sums)] = [ids, others].map(|ids| self.sum(ids, &normalized));
        let rounding = (a_sums + b_sums) as f64 * a.abs().max(b.abs()) * f64::from(f32::EPSILON);
        (a - b).abs() <= rounding
    }

    /// The sum of the scores of ids of a text, and of how many scores it is.
    fn sum(&self, ids: &[u32], normalized: &str) -> (f64, usize) {
        let mut unknown = normalized.chars().count();
        let mut sum = 0.0;
        let mut known = 0;
        let pieces = &self.model.proto().pieces;
        for piece in ids.iter().filter_map(|id| pieces.get(*id)) {
            sum += match piece.kind {
                PieceKind::Normal => f64::from(piece.score),
                PieceKind::UserDefined => f64::from(SentencePiece::bonus(piece.text.len())),
                _ => continue,
            };
            known += 1;
            unknown = unknown.saturating_sub(piece.text.chars().count());
        }
        sum += unknown as f64 * f64::from(self.model.unk_score());
        (sum, known + unknown)
    }
}

/// What a normalizer that cannot fail makes of a text.
fn applied(normalizer: &Normalizer, text: &str) -> String {
    let mut text = AlignedText::original(text);
    match normalizer.normalize(&mut text) {
        Ok(()) => text.as_str().to_owned(),
        Err(_) => String::new(),
    }
}

/// Whether two texts are the same but for composition, compatibility forms and case.
fn same_but_for_form(a: &str, b: &str) -> bool {
    let form = |text: &str| text.nfkd().collect::<String>().to_lowercase();
    form(a) == form(b) || a.to_lowercase().nfkc().eq(b.to_lowercase().nfkc())
}
