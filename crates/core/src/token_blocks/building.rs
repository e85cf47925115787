//! Builds a block: the tokens of some documents, each followed by an end of text, in as few bytes as the
//! vocabulary needs.

use sha2::{Digest, Sha256};

use crate::tokenizer::{EncodeOptions, Tokenizer};
use jeton_fast::Place;
use jeton_text::error::Result;
use jeton_training::corpus::{CorpusPosition, DocumentPart, Dropped, Part};

/// How documents are encoded.
#[derive(Clone, Debug, Default)]
pub struct TokenOptions {
    /// Ids in front of each document.
    pub start: Vec<u32>,
    /// Ids behind each document.
    pub end: Vec<u32>,
    /// Whether a token takes four bytes, and not two.
    pub wide: bool,
    /// Whether each document has a key.
    pub keys: bool,
}

impl TokenOptions {
    /// The options that suit a tokenizer, with an end of text.
    pub fn of(tokenizer: &Tokenizer, end: Option<u32>) -> Self {
        Self {
            end: end.into_iter().collect(),
            wide: tokenizer.max_id() > Some(u32::from(u16::MAX)),
            ..Self::default()
        }
    }
}

/// Tokens of two or of four bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Two bytes each.
    Narrow(Vec<u16>),
    /// Four bytes each.
    Wide(Vec<u32>),
}

/// The tokens of documents, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBlock {
    /// The tokens of all documents.
    pub tokens: Tokens,
    /// How many each document has. The first may continue that of the block before.
    pub lengths: Vec<i64>,
    /// Whether the last document continues in the next block.
    pub is_unfinished: bool,
    /// For each document that begins here, if keys were requested, the first eight bytes of the
    /// SHA-256 of its first 64 KiB, or fewer so as not to split a character, as a big-endian number.
    pub keys: Vec<u64>,
    /// How many bytes of UTF-8 the documents have here.
    pub bytes: u64,
    /// How many documents were left out because they hold nothing.
    pub empty: u64,
    /// The records and lines that were left out because they cannot be read or encoded.
    pub dropped: Vec<Dropped>,
    /// Where reading continues after the block.
    pub after: CorpusPosition,
    /// How many bytes of that file had been read from the disk when the block was.
    pub read: u64,
    /// Of each file that ends here: its number, its bytes on the disk and their SHA-256.
    pub digests: Vec<(usize, u64, [u8; 32])>,
}

/// Bytes of a document that its key depends on: it must be known when the document begins.
const KEYED: usize = 64 << 10;

impl TokenBlock {
    /// The block of parts; `ids` is room to work in.
    pub(crate) fn new(
        tokenizer: &Tokenizer,
        options: &TokenOptions,
        parts: &[DocumentPart],
        ids: &mut Vec<u32>,
    ) -> Result<Self> {
        ids.clear();
        let mut builder = Builder::new(tokenizer, options, ids);
        for part in parts {
            let dropped = part.for_each(|part, _| match part {
                Part::Whole(text) => builder.whole(text),
                Part::Of(text, is_first, is_last) => builder.part(text, is_first, is_last),
            })?;
            builder.block.dropped.extend(dropped);
        }
        let mut block = builder.build();
        if let Some(last) = parts.last() {
            block.after = last.after;
            block.read = if last.digest.is_some() { 0 } else { last.read };
        }
        let digests = parts.iter().filter_map(|part| {
            let (bytes, sha256) = part.digest?;
            Some((part.after.file.checked_sub(1)?, bytes, sha256))
        });
        block.digests = digests.collect();
        Ok(block)
    }

    /// The block of texts that each are a document.
    ///
    /// # Errors
    /// That of the first text that fails, with its number.
    pub fn of_texts(
        tokenizer: &Tokenizer,
        options: &TokenOptions,
        texts: &[&str],
    ) -> std::result::Result<Self, crate::batch::Failure> {
        let mut ids = Vec::new();
        let mut builder = Builder::new(tokenizer, options, &mut ids);
        for (row, text) in texts.iter().enumerate() {
            builder.whole(text).map_err(|error| (row, error))?;
        }
        Ok(builder.build())
    }
}

struct Builder<'b> {
    tokenizer: &'b Tokenizer,
    options: &'b TokenOptions,
    encoding: EncodeOptions,
    /// Room for the tokens, kept from block to block.
    ids: &'b mut Vec<u32>,
    block: TokenBlock,
}

impl<'b> Builder<'b> {
    fn new(tokenizer: &'b Tokenizer, options: &'b TokenOptions, ids: &'b mut Vec<u32>) -> Self {
        Self {
            tokenizer,
            options,
            encoding: EncodeOptions::PLAIN,
            ids,
            block: TokenBlock {
                tokens: Tokens::Wide(Vec::new()),
                lengths: Vec::new(),
                is_unfinished: false,
                keys: Vec::new(),
                bytes: 0,
                empty: 0,
                dropped: Vec::new(),
                after: CorpusPosition::default(),
                read: 0,
                digests: Vec::new(),
            },
        }
    }

    /// A document; one that cannot be encoded leaves nothing behind.
    fn whole(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            self.block.empty += 1;
            return Ok(());
        }
        let before = self.ids.len();
        self.begin(text);
        let encoded = self.tokenizer.encode_into(text, &self.encoding, self.ids);
        if let Err(error) = encoded {
            self.ids.truncate(before);
            self.block.keys.truncate(self.block.lengths.len());
            return Err(error);
        }
        self.ids.extend_from_slice(&self.options.end);
        self.block.lengths.push((self.ids.len() - before) as i64);
        self.block.bytes += text.len() as u64;
        Ok(())
    }

    /// A part of a document.
    fn part(&mut self, text: &str, is_first: bool, is_last: bool) -> Result<()> {
        if is_first && is_last {
            return self.whole(text);
        }
        let before = self.ids.len();
        let place = if is_first {
            self.begin(text);
            Place::First
        } else {
            Place::Inner
        };
        self.tokenizer
            .encode_part(text, place, is_last, &self.encoding, self.ids)?;
        if is_last {
            self.ids.extend_from_slice(&self.options.end);
        }
        let length = (self.ids.len() - before) as i64;
        match self.block.lengths.last_mut() {
            Some(last) if self.block.is_unfinished => *last += length,
            _ => self.block.lengths.push(length),
        }
        self.block.bytes += text.len() as u64;
        self.block.is_unfinished = !is_last;
        Ok(())
    }

    fn begin(&mut self, text: &str) {
        self.ids.extend_from_slice(&self.options.start);
        if self.options.keys {
            self.block.keys.push(key(text));
        }
    }

    fn build(self) -> TokenBlock {
        let tokens = if self.options.wide {
            Tokens::Wide(self.ids.clone())
        } else {
            Tokens::Narrow(self.ids.iter().map(|&id| id as u16).collect())
        };
        TokenBlock {
            tokens,
            ..self.block
        }
    }
}

/// What distinguishes a document from others, whatever tokenizer reads it.
fn key(text: &str) -> u64 {
    let length = text.len().min(KEYED);
    let end = (0..=length).rev().find(|&at| text.is_char_boundary(at));
    let sha256: [u8; 32] = Sha256::digest(&text[..end.unwrap_or(0)]).into();
    u64::from_be_bytes(std::array::from_fn(|at| sha256[at]))
}

/// The tokens of documents in another order. Document `i` has those from `ends[i - 1]` up to
/// `ends[i]`; nothing if an end or a number of `order` lies outside.
///
/// ```
/// use jeton_core::token_blocks::reordered;
///
/// let tokens = reordered(&[7, 8, 9], &[2, 3], &[1, 0]);
/// assert_eq!(tokens.unwrap(), [9, 7, 8]);
/// ```
pub fn reordered<T: Copy>(tokens: &[T], ends: &[i64], order: &[i64]) -> Option<Vec<T>> {
    let range = |&number: &i64| {
        let number = usize::try_from(number).ok()?;
        let start = match number.checked_sub(1) {
            Some(before) => usize::try_from(*ends.get(before)?).ok()?,
            None => 0,
        };
        tokens.get(start..usize::try_from(*ends.get(number)?).ok()?)
    };
    let size = order
        .iter()
        .map(|number| Some(range(number)?.len()))
        .sum::<Option<usize>>()?;
    let mut result = Vec::with_capacity(size);
    order
        .iter()
        .for_each(|number| result.extend_from_slice(range(number).unwrap_or_default()));
    Some(result)
}
