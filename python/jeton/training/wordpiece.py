"""Trains WordPiece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from jeton.arguments import (
    check_field_word,
    check_text,
    checked_characters,
    checked_int,
    names_checked,
)
from jeton.components import AddedToken, decoders, normalizers, post_processors, pre_tokenizers
from jeton.corpora.counting import MAX_WORD_LENGTH, Needs
from jeton.training.known_tokens import SpecialTokens, checked_tokens
from jeton.training.trainer import WordTrainer


class WordPieceTrainer(WordTrainer):
    """Trains WordPiece, by the rule of its release or by that of its publication.

    Args:
        vocab_size: The size of the vocabulary, including special tokens and alphabet; if these are
            more, they are kept, with a warning, and nothing is merged.
        rule: Which pair of neighbours is merged: the most frequent one (`"released"`), or the one
            with the greatest freq(ab) / (freq(a)·freq(b)) (`"published"`).
        tie_break: Which of equally good pairs is merged, as for `BPETrainer`; textbooks take the
            `"first"`.
        normalizer: Changes the text first; `None` for BERT's.
        pre_tokenizer: Splits the text; `None` for BERT's.
        post_processor: The post-processor of the trained tokenizer; `None` for BERT's, if `[CLS]`
            and `[SEP]` are in `special_tokens`.
        decoder: The decoder of the trained tokenizer; by default the one that fits.
        special_tokens: As for `BPETrainer`; they have the first ids.
        user_defined_symbols: As for `BPETrainer`.
        unk_token: The token for a word that cannot be split into tokens; a special token, with id 0
            unless it is in `special_tokens`.
        continuing_subword_prefix: A prefix of each token of a word except the first.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: The maximum length of a merged token in characters.
        initial_alphabet: Characters of the alphabet, even if the corpus lacks them.
        limit_alphabet: The maximum number of characters in the alphabet; the rarest are dropped.
        character_coverage: The share of the corpus's characters that the alphabet covers.
        max_word_length, min_word_count: As for `BPETrainer`.

    Raises:
        ArgumentError: A parameter has an invalid value; the message names it.

    Example:
        >>> import jeton
        >>> tok = jeton.WordPieceTrainer(30).train(["unwanted, undone and undoing"] * 2)
        >>> [tok.vocab.spelling(id) for id in tok.encode("undone")]
        [b'undo', b'##n', b'##e']
    """

    _algorithm = "wordpiece"

    @names_checked
    def __init__(
        self,
        vocab_size: int = 30_000,
        *,
        rule: Literal["released", "published"] = "released",
        tie_break: Literal["huggingface", "lexicographic", "alphabetic", "first"] = "huggingface",
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: SpecialTokens = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        user_defined_symbols: SpecialTokens = (),
        unk_token: str = "[UNK]",
        continuing_subword_prefix: str = "##",
        min_frequency: int = 0,
        max_token_length: int | None = None,
        initial_alphabet: Iterable[str] = (),
        limit_alphabet: int | None = None,
        character_coverage: float | None = None,
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
    ) -> None:
        check_field_word(self, "rule", rule, ("released", "published"))
        self.rule = rule
        check_text("unk_token", unk_token)
        check_text("continuing_subword_prefix", continuing_subword_prefix)
        known = checked_tokens(special_tokens, user_defined_symbols)
        texts = [token.content for token in known]
        if unk_token and unk_token not in texts:
            known = (AddedToken(unk_token, special=True), *known)
            texts.insert(0, unk_token)
        if post_processor is None and {"[CLS]", "[SEP]"} <= set(texts):
            sep, cls = texts.index("[SEP]"), texts.index("[CLS]")
            post_processor = post_processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
        super().__init__(
            {
                "vocab_size": checked_int("vocab_size", vocab_size, 0),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": "characters",
                "byte_order": "printable",
                "sentencepiece": False,
                "byte_fallback": False,
                "initial_alphabet": checked_characters("initial_alphabet", initial_alphabet),
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token,
                "continuing_subword_prefix": continuing_subword_prefix,
                "end_of_word_suffix": None,
                "separate_suffix": False,
                "tie_break": tie_break,
                "rule": rule,
            },
            normalizer=normalizers.BertNormalizer() if normalizer is None else normalizer,
            pre_tokenizer=(
                pre_tokenizers.BertPreTokenizer() if pre_tokenizer is None else pre_tokenizer
            ),
            post_processor=post_processor,
            special_tokens=known,
            user_defined_symbols=(),
        )

    def _needs(self) -> Needs:
        fixed, per_word, per_byte = super()._needs()
        # With the published rule, each pair stores its words separately.
        return fixed, per_word, per_byte if self.rule == "released" else 2 * per_byte

    def _decoder(self) -> decoders.Decoder:
        return decoders.WordPiece(self.parameters["continuing_subword_prefix"])
