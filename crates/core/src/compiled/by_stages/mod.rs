//! New words by the stages themselves: what the families share that give them to whatever model
//! there is.
//!
//! Look here for the words that need not go through the stages in front of the model, because it is
//! known what those make of them.

mod byte_pieces;
mod characters;
pub mod local;
mod longest;
pub mod metaspace;
pub mod piecewise;

use crate::compiled::byte_level::Work;
use crate::error::Result;
use crate::model::{Model, Sampler, Sampling, Token};
use crate::pre_tokenizer::PreTokenizer;
use crate::text::{AlignedText, Pieces};
use byte_pieces::BytePieces;
use characters::Cut;
use longest::Longest;

/// What stands for a space.
const SPACE: char = '▁';

/// What the stages in front of the model make of words of ASCII, and of a space before them: one
/// piece of the same characters.
#[derive(Clone, Debug)]
pub struct Plain {
    /// What stands for a space. With one, words are those that a single space begins; without,
    /// those with no space.
    pub mark: Option<char>,
    /// Whether it is so for all that is printed, or for letters and digits only.
    pub punctuation: bool,
    /// Whether letters are lowered.
    pub lowers: bool,
    /// Where one of these stands it is not so.
    pub replaced: Vec<String>,
}

impl Plain {
    /// Writes the piece that a word becomes to `piece`, if it is such a word.
    fn piece(&self, word: &str, piece: &mut String) -> bool {
        let (mark, word) = match self.mark {
            None => (None, word),
            Some(mark) => match word.strip_prefix(' ') {
                Some(word) => (Some(mark), word),
                None => return false,
            },
        };
        let is_kept = |byte: u8| {
            byte.is_ascii_alphanumeric() || self.punctuation && byte.is_ascii_punctuation()
        };
        if word.is_empty()
            || !word.bytes().all(is_kept)
            || self.replaced.iter().any(|text| word.contains(text))
        {
            return false;
        }
        piece.clear();
        piece.extend(mark);
        piece.push_str(word);
        if self.lowers {
            piece.make_ascii_lowercase();
        }
        true
    }
}

/// The model, and room for the tokens of a word.
pub struct Staged<'c> {
    model: &'c Model,
    /// The model's tokens, if they are looked for in this way.
    longest: Option<&'c Longest>,
    /// The model's merges, if it is a BPE of bytes, with room for a piece.
    bytes: Option<(&'c BytePieces, &'c mut Work)>,
    ids: Vec<u32>,
    tokens: Vec<Token>,
    piece: String,
}

impl<'c> Staged<'c> {
    /// No word yet.
    pub fn new(model: &'c Model) -> Self {
        Self {
            model,
            longest: None,
            bytes: None,
            ids: Vec::new(),
            tokens: Vec::new(),
            piece: String::new(),
        }
    }

    /// From now on the model's tokens are looked for in this way.
    pub fn look_for(&mut self, longest: &'c Longest) {
        self.longest = Some(longest);
    }

    /// From now on pieces are merged in this way and room.
    pub fn merge_with(&mut self, merges: &'c BytePieces, work: &'c mut Work) {
        self.bytes = Some((merges, work));
    }

    /// The tokens of the last word.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Makes the tokens of a word, if it is one of those that are known to be one piece.
    ///
    /// # Errors
    /// As the model.
    pub fn plain(&mut self, plain: &Plain, word: &str) -> Result<bool> {
        if !plain.piece(word, &mut self.piece) {
            return Ok(false);
        }
        self.ids.clear();
        let piece = std::mem::take(&mut self.piece);
        let done = self.add(&piece);
        self.piece = piece;
        done.map(|()| true)
    }

    /// Makes the tokens of `word`, which is as it is, behind so many spaces, which become `▁`.
    ///
    /// # Errors
    /// As the model.
    pub fn marked(&mut self, spaces: usize, word: &str) -> Result<()> {
        let mut piece = std::mem::take(&mut self.piece);
        piece.clear();
        piece.extend(std::iter::repeat_n(SPACE, spaces));
        piece.push_str(word);
        self.ids.clear();
        let done = self.add(&piece);
        self.piece = piece;
        done
    }

    /// Makes the tokens of normalized text.
    ///
    /// # Errors
    /// As the stages.
    pub fn normalized(
        &mut self,
        text: AlignedText,
        pre_tokenizer: Option<&PreTokenizer>,
    ) -> Result<()> {
        let mut pieces = Pieces::new(text);
        if let Some(pre_tokenizer) = pre_tokenizer {
            pre_tokenizer.cut(&mut pieces)?;
        }
        self.ids.clear();
        pieces.iter().try_for_each(|piece| self.add(piece.as_str()))
    }

    /// Makes the tokens of a piece, which is as it is.
    ///
    /// # Errors
    /// As the model.
    pub fn piece(&mut self, piece: &str) -> Result<()> {
        self.ids.clear();
        self.add(piece)
    }

    /// Makes the tokens of a word's pieces.
    ///
    /// # Errors
    /// As the model.
    pub fn cut(&mut self, cut: &Cut) -> Result<()> {
        self.ids.clear();
        cut.pieces()
            .try_for_each(|piece| match self.add_longest(piece) {
                true => Ok(()),
                false => self.add(&String::from_utf8_lossy(piece)),
            })
    }

    #[inline(always)]
    fn add_longest(&mut self, piece: &[u8]) -> bool {
        (self.longest).is_some_and(|longest| longest.tokenize(piece, &mut self.ids))
    }

    fn add(&mut self, piece: &str) -> Result<()> {
        if self.add_longest(piece.as_bytes()) {
            return Ok(());
        }
        // The model says what is too long for it; the tables count in 32 bits.
        if let (Some((merges, work)), Model::Bpe(bpe)) = (&mut self.bytes, self.model)
            && piece.len() < u32::MAX as usize
        {
            merges.merge(bpe, piece.as_bytes(), work, &mut self.ids);
            return Ok(());
        }
        self.tokens.clear();
        let mut sampler = Sampler::new(Sampling::default());
        (self.model).tokenize(piece, &mut sampler, &mut self.tokens)?;
        self.ids.extend(self.tokens.iter().map(|token| token.id));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let marked = Plain {
            mark: Some('▁'),
            punctuation: true,
            lowers: true,
            replaced: vec!["--".to_owned()],
        };
        let mut piece = String::new();
        assert!(marked.piece(" Don't", &mut piece));
        assert_eq!(piece, "▁don't");
        for other in ["Don't", " ", "  a", " a b", " a--b", " é", " \u{7f}"] {
            assert!(!marked.piece(other, &mut piece), "{other:?}");
        }
        let bare = Plain {
            mark: None,
            punctuation: false,
            lowers: false,
            replaced: Vec::new(),
        };
        assert!(bare.piece("Don", &mut piece));
        assert_eq!(piece, "Don");
        assert!(!bare.piece("Don't", &mut piece) && !bare.piece(" Don", &mut piece));
    }
}
