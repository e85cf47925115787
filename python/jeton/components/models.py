"""Models: turn a piece of text into tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_field_word, check_id, check_kind
from jeton.components.component import check_fields, check_stage, read_stored, stored_component
from jeton.components.pre_tokenizers import PreTokenizer
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "BPE",
    "Characters",
    "LongestMatch",
    "Model",
    "PickyBPE",
    "SentencePiece",
    "Superwords",
    "Unigram",
    "WordLevel",
    "WordPiece",
]

Vocabulary: TypeAlias = Mapping[bytes, int] | Mapping[str, int] | Mapping[bytes | str, int]
"""Tokens with their ids. Type checkers take the key type of a mapping as invariant, hence three."""


class Model:
    """Base class of models."""

    def __post_init__(self) -> None:
        check_fields(self)
        if getattr(self, "unk_id", None) is not None:
            check_id(f"{type(self).__name__}.unk_id", self.unk_id)  # type: ignore[attr-defined]

    def to_core(self) -> _core.Model:
        """Builds this model in the core.

        Raises:
            FormatError: Its parts contradict each other.
        """
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class BPE(Model):
    """Byte pair encoding: pairs of neighbouring tokens are merged, the best pair first.

    Args:
        vocab: Tokens with their ids. A `str` is encoded as UTF-8.
        merges: Pairs of tokens in the order of merging. `None`: every pair whose concatenation is
            in the vocabulary may be merged, the lowest id first (tiktoken's rule); then none of the
            options below may be set.
        alphabet: What a piece is split into before the first merge: `"bytes"` or `"characters"`.
        unk_token: The token for a character that is not in the vocabulary; without one the
            character is dropped.
        fuse_unk: Whether neighbouring unknown characters become one token.
        byte_fallback: Whether a character that is not in the vocabulary becomes `<0xNN>` tokens.
        ignore_merges: Whether a piece that is in the vocabulary becomes that token without merging.
        continuing_subword_prefix: A prefix of each character of a piece except the first.
        end_of_word_suffix: A suffix of the last character of a piece.
        separate_suffix: Whether the suffix is a separate symbol, not part of the last character.
        dropout: The probability, 0 to 1, of leaving out a merge, from the file. It has no effect
            unless a call asks for dropout, as `tok.encode(text, dropout=0.1)`.

    Example:
        >>> from jeton.components import models
        >>> models.BPE({b"a": 0, b"b": 1, b"ab": 2}, merges=[(b"a", b"b")])
        BPE(3 tokens, 1 merges)
    """

    vocab: Vocabulary
    merges: Sequence[tuple[bytes | str, bytes | str]] | None
    alphabet: Literal["bytes", "characters"] = "bytes"
    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    separate_suffix: bool = False
    dropout: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "alphabet", self.alphabet, ("bytes", "characters"))
        if self.merges is not None:
            _check_list("BPE.merges", self.merges, "pairs of tokens")
        if self.merges is None and self._options() != BPE({}, ())._options():
            raise ArgumentError(
                "BPE by ranks (merges=None) has no options; give merges, or leave them out"
            )

    def _options(self) -> dict[str, object]:
        return {
            "alphabet": self.alphabet.capitalize(),
            "unk_token": self.unk_token,
            "fuse_unk": self.fuse_unk,
            "byte_fallback": self.byte_fallback,
            "ignore_merges": self.ignore_merges,
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "end_of_word_suffix": self.end_of_word_suffix,
            "separate_suffix": self.separate_suffix,
            "dropout": self.dropout,
        }

    def to_core(self) -> _core.Model:
        return _core.Model.bpe(_dict(self.vocab), self.merges, json.dumps(self._options()))

    def __repr__(self) -> str:
        merges = "by ranks" if self.merges is None else f"{len(self.merges)} merges"
        return f"BPE({len(self.vocab)} tokens, {merges})"


@dataclass(frozen=True, repr=False)
class WordLevel(Model):
    """Whole words: a piece is one token, or unknown.

    Args:
        vocab: Words with their ids.
        unk_token: The token for any other word.
    """

    vocab: Vocabulary
    unk_token: str = "[UNK]"

    def to_core(self) -> _core.Model:
        return _core.Model.word_level(_dict(self.vocab), self.unk_token)

    def __repr__(self) -> str:
        return f"WordLevel({len(self.vocab)} tokens, unk_token={self.unk_token!r})"


@dataclass(frozen=True, repr=False)
class WordPiece(Model):
    """Splits a piece from left to right, each time at the longest token that matches.

    Args:
        vocab: Tokens with their ids.
        unk_token: The token for a word that cannot be split into tokens.
        continuing_subword_prefix: The mark of a token that continues a word.
        max_input_chars_per_word: Longer words are unknown.
    """

    vocab: Vocabulary
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_input_chars_per_word < 0:
            raise ArgumentError("WordPiece.max_input_chars_per_word must not be negative")

    def to_core(self) -> _core.Model:
        return _core.Model.word_piece(
            _dict(self.vocab),
            self.unk_token,
            self.continuing_subword_prefix,
            self.max_input_chars_per_word,
        )

    def __repr__(self) -> str:
        return f"WordPiece({len(self.vocab)} tokens, unk_token={self.unk_token!r})"


@dataclass(frozen=True, repr=False)
class Unigram(Model):
    """The segmentation with the greatest sum of scores.

    Args:
        pieces: Tokens with their scores (logarithms of probabilities), in the order of ids.
        unk_id: The id for characters that are in no token.
        byte_fallback: Whether such characters become `<0xNN>` tokens instead.
    """

    pieces: Sequence[tuple[bytes | str, float]]
    unk_id: int | None = None
    byte_fallback: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_list("Unigram.pieces", self.pieces, "pairs of a token and its score")

    def to_core(self) -> _core.Model:
        return _core.Model.unigram(self.pieces, self.unk_id, self.byte_fallback)

    def __repr__(self) -> str:
        return f"Unigram({len(self.pieces)} tokens, unk_id={self.unk_id})"


@dataclass(frozen=True, repr=False)
class Characters(Model):
    """One token per character.

    Args:
        vocab: Characters with their ids.
        unk_id: The id for any other character; without one, any other is an error.
    """

    vocab: Vocabulary
    unk_id: int | None = None

    def to_core(self) -> _core.Model:
        return _core.Model.characters(_dict(self.vocab), self.unk_id)

    def __repr__(self) -> str:
        return f"Characters({len(self.vocab)} tokens, unk_id={self.unk_id})"


@dataclass(frozen=True, repr=False)
class SentencePiece(Model):
    """A model of the SentencePiece library, of any kind.

    A tokenizer with this model and no normalizer or decoder uses those of the file; the control
    pieces of the file are always added.

    Args:
        proto: The content of a `.model` file.
    """

    proto: bytes

    def to_core(self) -> _core.Model:
        return _core.Model.sentence_piece(self.proto)

    def __repr__(self) -> str:
        return f"SentencePiece({len(self.proto)} bytes)"


@dataclass(frozen=True, repr=False)
class LongestMatch(Model):
    """Takes the longest token at each position of a text, as RWKV's world vocabulary does.

    Args:
        vocab: Tokens with their ids, including all bytes.

    >>> import jeton
    >>> vocab = {bytes([byte]): byte + 1 for byte in range(256)} | {b"ab": 257, b"abc": 258}
    >>> jeton.Tokenizer(LongestMatch(vocab)).encode("abcab")
    [258, 257]
    """

    vocab: Vocabulary

    def to_core(self) -> _core.Model:
        return _core.Model.longest_match(_dict(self.vocab))

    def __repr__(self) -> str:
        return f"LongestMatch({len(self.vocab)} tokens)"


@dataclass(frozen=True, repr=False)
class Superwords(Model):
    """Byte pair encoding of words, whose later merges join whole words.

    It splits text into words itself, so the tokenizer has no pre-tokenizer. A word that is one
    token may join its neighbours if `joining` allows it; the merges run over each stretch of such
    words. `BPETrainer(superwords=...)` trains it.

    Args:
        words: The encoding of single words, a `BPE` or a `PickyBPE`; its vocabulary holds the
            superwords too.
        pre_tokenizer: Splits text into words, and changes nothing.
        merges: Pairs of tokens in the order of merging.
        joining: Which words may join: those with a letter (`"letters"`) or `"all"`. A word with a
            line feed never does.

    Example:
        >>> import jeton
        >>> from jeton.components import models, pre_tokenizers
        >>> vocab = {bytes([byte]): byte for byte in range(256)} | {b" a": 256, b" a a": 257}
        >>> words = models.BPE(vocab, merges=[(b" ", b"a")])
        >>> split = pre_tokenizers.ByteLevel(add_prefix_space=False)
        >>> model = models.Superwords(words, split, [(b" a", b" a")])
        >>> jeton.Tokenizer(model).encode(" a a a!")
        [257, 256, 33]
    """

    words: BPE | PickyBPE
    pre_tokenizer: PreTokenizer
    merges: Sequence[tuple[bytes | str, bytes | str]]
    joining: Literal["letters", "all"] = "letters"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "joining", self.joining, ("letters", "all"))
        _check_list("Superwords.merges", self.merges, "pairs of tokens")
        check_kind("Superwords.words", self.words, (BPE, PickyBPE), "a BPE or a PickyBPE")
        check_stage(PreTokenizer, self.pre_tokenizer)

    def to_core(self) -> _core.Model:
        pattern = json.dumps(stored_component(PreTokenizer, self.pre_tokenizer))
        return _core.Model.superwords(self.words.to_core(), pattern, self.joining, self.merges)

    def __repr__(self) -> str:
        return f"Superwords({self.words!r}, {self.pre_tokenizer!r}, {len(self.merges)} merges)"


@dataclass(frozen=True, repr=False)
class PickyBPE(Model):
    """Byte pair encoding with deletions, as `BPETrainer(drop_residues=...)` learns it.

    A piece is split into bytes, and all events happen to it in their order. In the end, a token
    that is not in the vocabulary becomes the two that it was last merged from.

    Args:
        vocab: Tokens with their ids, including all bytes.
        events: Merges, which are pairs of tokens, and deletions, which are tuples of one token that
            a merge before made.
        residues_become: What a deleted token becomes: the `"pair"` that it was last merged from, or
            its `"bytes"`.

    >>> import jeton
    >>> from jeton.components import models
    >>> vocab = {bytes([byte]): byte for byte in range(256)} | {b"the": 256}
    >>> events = [(b"t", b"h"), (b"th", b"e"), (b"th",)]
    >>> jeton.Tokenizer(models.PickyBPE(vocab, events)).encode("theth")
    [256, 116, 104]
    """

    vocab: Vocabulary
    events: Sequence[tuple[bytes | str, bytes | str] | tuple[bytes | str]]
    residues_become: Literal["pair", "bytes"] = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field_word(self, "residues_become", self.residues_become, ("pair", "bytes"))
        _check_list("PickyBPE.events", self.events, "tuples of one or two tokens")

    def to_core(self) -> _core.Model:
        return _core.Model.picky_bpe(_dict(self.vocab), self.events, self.residues_become)

    def __repr__(self) -> str:
        return f"PickyBPE({len(self.vocab)} tokens, {len(self.events)} events)"


def _check_list(name: str, value: object, entries: str) -> None:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise ArgumentTypeError(f"{name} must be a list of {entries}, not {type(value).__name__}")


def _dict(vocab: object) -> object:
    return dict(vocab) if isinstance(vocab, Mapping) and not isinstance(vocab, dict) else vocab


def from_core(model: _core.Model, token_of: Callable[[int], bytes | None] | None = None) -> Model:
    """The model as a value, from a model of the core. `token_of`: returns the token of an id, for a
    Unigram that lists a token twice: its vocabulary has only the last id of the token."""
    options = json.loads(model.options())
    vocab = model.vocab()
    match model.kind:
        case "BPE":
            options["alphabet"] = options["alphabet"].lower()
            return BPE(vocab, model.merges(), **options)
        case "WordLevel":
            return WordLevel(vocab, **options)
        case "WordPiece":
            return WordPiece(vocab, **options)
        case "Unigram":
            scores = model.scores() or []
            if token_of is None or len(vocab) == len(scores):
                return Unigram(list(zip(vocab, scores, strict=True)), **options)
            tokens = [token_of(id) or b"" for id in range(len(scores))]
            return Unigram(list(zip(tokens, scores, strict=True)), **options)
        case "SentencePiece":
            return SentencePiece(model.proto() or b"")
        case "LongestMatch":
            return LongestMatch(vocab)
        case "Superwords":
            of_words = model.words()
            assert of_words is not None
            words = from_core(of_words)
            assert isinstance(words, (BPE, PickyBPE))
            pattern = read_stored("pre_tokenizer", json.loads(options["pattern"]))
            assert isinstance(pattern, PreTokenizer)
            return Superwords(words, pattern, model.merges() or [], options["joining"])
        case "PickyBPE":
            return PickyBPE(vocab, model.events() or [], **options)
        case _:
            return Characters(vocab, **options)
