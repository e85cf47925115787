//! Byte pair encoding of one piece: its first symbols, and their merging.

use super::merge::{Merge, Symbol, merge, merge_by_queue};
use super::{Alphabet, Bpe, MergeRule, check_dropout};
use crate::model::Sampler;
use crate::model::steps::{MergeStep, Observer, Priority, UnitKind};
use crate::model::token::{Token, byte_token, only_withheld};
use jeton_stages::vocab::show;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;
use jeton_text::printable;

impl Bpe {
    /// The tokens of `piece`, appended to `tokens`.
    ///
    /// # Errors
    /// An unknown character where the vocabulary lacks the unknown token; a dropout outside 0 to 1.
    pub fn tokenize(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        self.tokenize_observed(piece, sampler, tokens, &mut ())
    }

    /// As [`Bpe::tokenize`], and says its steps.
    pub(crate) fn tokenize_observed(
        &self,
        piece: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let bytes = piece.as_bytes();
        match self.options.alphabet {
            Alphabet::Bytes => self.tokenize_units(bytes, |_| 1, sampler, tokens, observer),
            Alphabet::Characters => {
                let length = |at: usize| piece[at..].chars().next().map_or(1, char::len_utf8);
                self.tokenize_units(bytes, length, sampler, tokens, observer)
            }
        }
    }

    /// The tokens of bytes that need not be text, appended to `tokens`.
    ///
    /// # Errors
    /// As [`Bpe::tokenize`]; and an alphabet of characters.
    pub fn tokenize_bytes(
        &self,
        piece: &[u8],
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        match self.options.alphabet {
            Alphabet::Bytes => self.tokenize_units(piece, |_| 1, sampler, tokens, &mut ()),
            Alphabet::Characters => Err(Error::new(
                ErrorKind::Unsupported,
                "bytes cannot be encoded: this BPE's alphabet is characters",
            )
            .hint("decode them to text first")),
        }
    }

    /// The tokens of a piece whose units (bytes or characters) are as long as `length_at` says.
    fn tokenize_units<O: Observer>(
        &self,
        piece: &[u8],
        length_at: impl Fn(usize) -> usize,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut O,
    ) -> Result<()> {
        let dropout = sampler.dropout().unwrap_or(0.0);
        check_dropout(dropout)?;
        let whole = self.rule == MergeRule::Ranks || self.options.ignore_merges;
        if piece.is_empty() {
            return Ok(());
        }
        // With dropout a whole piece must fall apart like any other.
        if let (true, 0.0, Some(id)) = (whole, dropout, self.vocab.text_id(piece)) {
            let range = 0..piece.len();
            tokens.push(Token { id, range });
            observer.whole();
            return Ok(());
        }
        let mut symbols = match self.rule {
            MergeRule::Ranks => self.bytes_as_symbols(piece, observer)?,
            MergeRule::Merges(_) => {
                self.units_as_symbols(piece, &length_at, raw_length, observer)?
            }
        };
        let drops = || symbols.iter().map(|it| it.length as usize).sum::<usize>() < piece.len();
        let is_spelled = self.options.alphabet == Alphabet::Bytes && drops();
        if is_spelled {
            symbols = self.units_as_symbols(piece, &length_at, spelled_length, &mut ())?;
        }
        if symbols.len() >= u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "a piece of 4 Gi characters or more cannot be merged",
            ));
        }
        if dropout == 0.0 && !O::HEARS {
            merge(&mut symbols, self.pairs(), u32::MAX);
        } else {
            let spelled = |id| self.vocab.token(id).unwrap_or_default();
            for symbol in &symbols {
                observer.symbol(spelled(symbol.id));
            }
            merge_by_queue(
                &mut symbols,
                self.pairs(),
                u32::MAX,
                || dropout > 0.0 && sampler.draw() < dropout,
                |at, pair, Merge { rank, id }| {
                    let parts = pair.map(spelled);
                    let priority = Priority::Rank(rank);
                    observer.merge(MergeStep {
                        at,
                        parts,
                        id,
                        priority,
                    });
                },
            );
        }
        let mut start = 0;
        let first = tokens.len();
        tokens.extend(paced(symbols.iter()).map(|symbol| {
            let end = start + symbol.length as usize;
            let range = std::mem::replace(&mut start, end)..end;
            let id = symbol.id;
            Token { id, range }
        }));
        if is_spelled {
            bytes_of_spelled(piece, &mut tokens[first..]);
        }
        Ok(())
    }

    /// One symbol a byte; every byte is known, but may be withheld.
    pub(super) fn bytes_as_symbols(
        &self,
        piece: &[u8],
        observer: &mut impl Observer,
    ) -> Result<Vec<Symbol>> {
        let symbol = |byte: &u8| {
            let unit = std::slice::from_ref(byte);
            let id = self
                .vocab
                .text_id(unit)
                .ok_or_else(|| only_withheld(unit))?;
            observer.unit(unit, &[id], UnitKind::Known);
            Ok(Symbol { id, length: 1 })
        };
        piece.iter().map(symbol).collect()
    }

    /// One symbol a unit, with its prefix and suffix, where the vocabulary has it; bytes or the
    /// unknown token where not.
    ///
    /// Ranges are running sums of lengths, which `length_of` tells of a unit, so they shift where a unit
    /// is dropped, and an unknown token waits for the next known unit but not for bytes: both as in
    /// `tokenizers`.
    fn units_as_symbols(
        &self,
        piece: &[u8],
        length_at: impl Fn(usize) -> usize,
        length_of: impl Fn(&[u8]) -> usize,
        observer: &mut impl Observer,
    ) -> Result<Vec<Symbol>> {
        let options = &self.options;
        let prefix = options.continuing_subword_prefix.as_deref().unwrap_or("");
        let suffix = options.end_of_word_suffix.as_deref().unwrap_or("");
        let mut symbols = Vec::with_capacity(piece.len());
        let mut unknown: Option<Symbol> = None;
        let mut marked = Vec::new();
        let mut start = 0;
        while start < piece.len() {
            let end = start + length_at(start);
            marked.clear();
            if start > 0 {
                marked.extend_from_slice(prefix.as_bytes());
            }
            marked.extend_from_slice(&piece[start..end]);
            if end == piece.len() && !options.separate_suffix {
                marked.extend_from_slice(suffix.as_bytes());
            }
            let unit = start..end;
            let length = length_of(&piece[unit.clone()]) as u32;
            start = end;
            if let Some(id) = self.vocab.text_id(&marked) {
                symbols.extend(unknown.take());
                symbols.push(Symbol { id, length });
                observer.unit(&marked, &[id], UnitKind::Known);
                continue;
            }
            if options.byte_fallback {
                let ids = marked.iter().map(|&byte| self.vocab.id(&byte_token(byte)));
                if let Some(ids) = ids.collect::<Option<Vec<u32>>>() {
                    symbols.extend(ids.iter().map(|&id| Symbol { id, length: 1 }));
                    observer.unit(&marked, &ids, UnitKind::Bytes);
                    continue;
                }
            }
            let Some(unk_token) = &options.unk_token else {
                match self.vocab.id(&marked) {
                    None => {
                        observer.unit(&marked, &[], UnitKind::Dropped);
                        continue;
                    }
                    Some(_) => return Err(only_withheld(&marked)),
                }
            };
            let Some(id) = self.unk_id else {
                return Err(Error::new(
                    ErrorKind::Encode,
                    format!(
                        "{} is unknown, and so is the unknown token {unk_token:?}",
                        show(&piece[unit])
                    ),
                )
                .hint("add the unknown token to the vocabulary"));
            };
            match &mut unknown {
                Some(run) if options.fuse_unk => {
                    run.length += length;
                    observer.unit(&marked, &[], UnitKind::Fused);
                }
                _ => {
                    symbols.extend(unknown.replace(Symbol { id, length }));
                    observer.unit(&marked, &[id], UnitKind::Unknown);
                }
            }
        }
        symbols.extend(unknown);
        if options.separate_suffix
            && let Some(id) = self.vocab.text_id(suffix.as_bytes())
        {
            symbols.push(Symbol { id, length: 0 });
            observer.unit(suffix.as_bytes(), &[id], UnitKind::Known);
        }
        Ok(symbols)
    }
}

fn raw_length(unit: &[u8]) -> usize {
    unit.len()
}

/// How many bytes GPT-2's characters for these bytes have.
fn spelled_length(unit: &[u8]) -> usize {
    let lengths = unit.iter().map(|&byte| printable::to_char(byte).len_utf8());
    lengths.sum()
}

/// Turns ranges in a piece that is spelled in GPT-2's characters into those in its bytes: of each
/// character that they touch.
///
/// `tokenizers` sees such a piece, so where a byte is dropped, this is by how much its ranges shift.
fn bytes_of_spelled(piece: &[u8], tokens: &mut [Token]) {
    let mut end = 0;
    let ends = piece.iter().map(|byte| {
        end += spelled_length(std::slice::from_ref(byte));
        end
    });
    let ends: Vec<usize> = ends.collect();
    let byte_at = |at: usize| ends.partition_point(|&end| end <= at);
    for Token { range, .. } in paced(tokens.iter_mut()).filter(|it| !it.range.is_empty()) {
        *range = byte_at(range.start)..piece.len().min(byte_at(range.end - 1) + 1);
    }
}
