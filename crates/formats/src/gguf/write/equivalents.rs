//! What llama.cpp has that does the same as these stages, if anything does.

use crate::gguf::pre::{self, Pre};
use crate::gguf::read::bert_normalizer;
use jeton_models::model::bpe::BpeOptions;
use jeton_models::model::{Bpe, Model, Sampler, Sampling};
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::{PostProcessor, Sequence, TemplatePiece};
use jeton_stages::vocab::show;

/// The token in front of a text, and the one after it.
pub type Ends = (Option<u32>, Option<u32>);

pub fn frame_of_any(post_processor: &Option<PostProcessor>) -> Option<Ends> {
    match post_processor {
        None => Some((None, None)),
        Some(post_processor) => frame_of(post_processor),
    }
}

/// The tokens that a post-processor puts around a text, if there is at most one at each end.
pub fn frame_of(post_processor: &PostProcessor) -> Option<Ends> {
    match post_processor {
        PostProcessor::ByteLevel { .. } => Some((None, None)),
        PostProcessor::Bert { sep, cls } | PostProcessor::Roberta { sep, cls, .. } => {
            Some((Some(cls.1), Some(sep.1)))
        }
        PostProcessor::Sequence(steps) => {
            let mut adding = steps.iter().filter(|step| step.added(false) > 0);
            match (adding.next(), adding.next()) {
                (None, _) => Some((None, None)),
                (Some(one), None) => frame_of(one),
                _ => None,
            }
        }
        PostProcessor::Template {
            single,
            special_tokens,
            ..
        } => {
            let id = |name: &str| {
                let token = special_tokens.iter().find(|token| token.id == name)?;
                match token.ids[..] {
                    [id] => Some(id),
                    _ => None,
                }
            };
            let text = |piece: &TemplatePiece| {
                matches!(
                    piece,
                    TemplatePiece::Sequence {
                        id: Sequence::A,
                        ..
                    }
                )
            };
            let special = |piece: &TemplatePiece| match piece {
                TemplatePiece::SpecialToken { id: name, .. } => id(name),
                TemplatePiece::Sequence { .. } => None,
            };
            match single.as_slice() {
                [one] if text(one) => Some((None, None)),
                [first, one] if text(one) => Some((Some(special(first)?), None)),
                [one, last] if text(one) => Some((None, Some(special(last)?))),
                [first, one, last] if text(one) => {
                    Some((Some(special(first)?), Some(special(last)?)))
                }
                _ => None,
            }
        }
    }
}

/// llama.cpp's way to split text as these stages do, and how rare texts differ.
pub fn pre_of(stages: &Stages) -> Option<(&'static Pre, Option<&'static str>)> {
    let expressions = pre::expressions_of(stages.pre_tokenizer.as_ref()?)?;
    let takes_whole = matches!(&stages.model, Model::Bpe(bpe) if bpe.takes_whole_pieces());
    // Of ways that split alike, one that takes words whole just as the model does comes first.
    let by_fit = |fits: fn(&Pre, &pre::Expressions) -> bool| {
        let all = pre::PRES.iter();
        let all: Vec<&Pre> = all
            .filter(|pre| !pre.is_text && fits(pre, &expressions))
            .collect();
        let like = |pre: &&&Pre| pre.ignore_merges == takes_whole;
        all.iter().find(like).or(all.first()).copied()
    };
    by_fit(Pre::is).map(|pre| (pre, None)).or_else(|| {
        let pre = by_fit(Pre::means)?;
        Some((pre, pre.meant.map(|(_, differs)| differs)))
    })
}

/// A token that llama.cpp takes whole and the model does not, or the other way round.
pub fn wrongly_whole(bpe: &Bpe, takes_whole: bool, merges: &[(u32, u32)]) -> Option<String> {
    if bpe.takes_whole_pieces() == takes_whole {
        return None;
    }
    // By merges alone, as one of the two splits words.
    let plain = BpeOptions {
        ignore_merges: false,
        ..bpe.options().clone()
    };
    let vocab = bpe.vocab();
    let token = |id: u32| vocab.token(id).unwrap_or_default().to_vec();
    let merges = merges
        .iter()
        .map(|(left, right)| (token(*left), token(*right)));
    let alone = Model::Bpe(Bpe::by_merges(vocab.clone(), merges, plain).ok()?);
    let mut sampler = Sampler::new(Sampling::default());
    let mut tokens = Vec::new();
    let mut texts = vocab.texts();
    let mut is_merged = |text: &str, id: u32| {
        tokens.clear();
        let done = alone.tokenize(text, &mut sampler, &mut tokens);
        done.is_ok() && matches!(tokens.as_slice(), [only] if only.id == id)
    };
    let found = texts.find(|(token, id)| match std::str::from_utf8(token) {
        Ok(text) => !is_merged(text, *id),
        Err(_) => false,
    });
    found.map(|(token, _)| show(token))
}

/// Whether a normalizer lower-cases text and strips accents, if it is BERT's or llama.cpp's form of that; and
/// how BERT's differs.
pub fn bert_options(normalizer: Option<&Normalizer>) -> Option<(bool, bool, Option<&'static str>)> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let mut flags = flags.into_iter();
    if let Some((lowercase, strip_accents)) = flags
        .find(|(lowercase, accents)| Some(&bert_normalizer(*lowercase, *accents)) == normalizer)
    {
        return Some((lowercase, strip_accents, None));
    }
    match normalizer {
        Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents,
            lowercase,
        }) => Some((
            *lowercase,
            strip_accents.unwrap_or(*lowercase),
            Some(
                "that vowel signs and Hangul syllables stay whole: llama.cpp strips parts of them",
            ),
        )),
        _ => None,
    }
}
