"""The tokenizer: text to ids and back. It never changes once it is built.

Look here for what can be done with a tokenizer; `jeton.load` and the trainers make them, and
`jeton.components` are what they are made of.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO, TypeAlias, TypeVar, overload

from jeton import _core, components
from jeton.assembly import stages_around, stored_tokens
from jeton.components import _base
from jeton.components._base import AddedToken, Component, check_error_handler
from jeton.encoding import Encoding, TokenBatch
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatWarning,
    UnknownTokenError,
    warn_caller,
)
from jeton.other_names import IN_JETON, HidesOtherNames, knows_other_names
from jeton.padding import Origin
from jeton.settings import (
    CONFIG,
    NO_SETTINGS,
    STANDARD_ROLES,
    ChatTemplate,
    Settings,
    checked_chat_template,
    checked_max_length,
    checked_roles,
    checked_section,
    json_object,
)
from jeton.vocabulary import Vocabulary, bytes_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from transformers import PreTrainedTokenizerFast

    from jeton._core import DecodeStream, Pipeline
    from jeton._core import Model as CoreModel
    from jeton.analysis import Usage
    from jeton.arrow import ArrowColumn
    from jeton.calls import BatchEncoding, Caller
    from jeton.chat import Chat
    from jeton.chunks import Chunk, Truncated, Unit
    from jeton.components import (
        decoders,
        models,
        normalizers,
        post_processors,
        pre_tokenizers,
    )
    from jeton.corpus import Progress
    from jeton.encoding_plan import EncodingPlan
    from jeton.explaining import Explanation
    from jeton.gotchas import Gotchas
    from jeton.message_counts import MessageCount
    from jeton.sentencepiece import SentencePieceProcessor
    from jeton.tiktoken import Encoding as TiktokenEncoding

__all__ = ["SpecialPolicy", "Tokenizer"]

SpecialPolicy: TypeAlias = Literal["ignore", "allow", "raise"] | AbstractSet[str] | Sequence[str]
"""What the spelling of a special token in text means.

- `"ignore"`: it is text like any other.
- `"allow"`: it is that token.
- `"raise"`: it is an error.
- a set of names: these are tokens, the others are text like any other.

Text that is not such a token never becomes its id: the model segments it as if the token were not
in the vocabulary. A character that no other token spells is unknown to it, or an `EncodeError`
where nothing stands for unknown text.
"""

Texts: TypeAlias = "str | Iterable[str | Sequence[Any] | None] | ArrowColumn"
"""A text, words of one, or a batch: texts, pairs of texts, lists of words, pairs of these."""

Entry: TypeAlias = str | float | tuple[Any, Any] | Iterable[str | float | None] | None
"""What a batch holds: a text, a pair, the words of a text, or nothing (`None`, NaN)."""

_T = TypeVar("_T")

_KEEP: Final[Any] = object()
"""Stands for "as it is" where `None` means "without"."""


class Tokenizer(_core.Tokenizer, metaclass=HidesOtherNames):
    """A tokenizer: text to ids and back.

    It never changes once it is built, so threads and forked processes share it freely; what
    varies by call is an argument of the call, and editing gives a new tokenizer. Tokenizers with
    the same stages are equal: they give the same ids. What programs go by beside them (`roles`,
    `chat_template`, `model_max_length`, `config`) does not count. All of it is pickled and copied.

    A `str` that holds surrogates is no valid Unicode: a surrogate pair is taken for the character
    that it spells, a lone surrogate for U+FFFD. Spans still count the characters of the `str`
    that was given.

    Args:
        model: From pieces of text to tokens; see `jeton.components.models`.
        normalizer: What happens to text first; see `jeton.components.normalizers`.
        pre_tokenizer: Where text is cut; see `jeton.components.pre_tokenizers`.
        post_processor: The special tokens around a text; see `jeton.components.post_processors`.
        decoder: From tokens back to text; see `jeton.components.decoders`. Without one, tokens
            are joined by spaces.
        added_tokens: Tokens that are found by their spelling before any other stage.

    Raises:
        ArgumentTypeError: A component at the wrong stage.
        FormatError: Components that do not fit together; an added token with the id of another
            token.

    Example:
        >>> import jeton
        >>> from jeton.components import decoders, models
        >>> tok = jeton.Tokenizer(
        ...     models.BPE(
        ...         {b"l": 0, b"o": 1, b"w": 2, b"lo": 3, b"low": 4},
        ...         merges=[(b"l", b"o"), (b"lo", b"w")],
        ...     ),
        ...     decoder=decoders.ByteLevel(),
        ...     added_tokens=[jeton.AddedToken("<|end|>", special=True)],
        ... )
        >>> tok.encode("lowlow")
        [4, 4]
        >>> tok.encode("low<|end|>", special="allow")
        [4, 5]
        >>> tok.decode([4, 5, 4], skip_special_tokens=True)
        'lowlow'
    """

    __slots__ = ("__weakref__", "_caller", "_core", "_hash", "_settings", "_vocab")

    _caller: Caller | None
    _core: Pipeline
    _hash: int | None
    _settings: Settings
    _vocab: Vocabulary | None

    def __init__(
        self,
        model: models.Model,
        *,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        added_tokens: Iterable[AddedToken] = (),
    ) -> None:
        if not isinstance(model, components.models.Model):
            raise ArgumentTypeError(
                f"model must be one of jeton.components.models, not {type(model).__name__}"
            )
        built = model.to_core()
        stages = stages_around(
            built, normalizer, pre_tokenizer, post_processor, decoder, added_tokens
        )
        self._set_core(_core.Pipeline.build(built, stages))

    @classmethod
    def _of_trained(
        cls,
        model: CoreModel,
        *,
        normalizer: normalizers.Normalizer | None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None,
        added_tokens: Iterable[AddedToken],
    ) -> Tokenizer:
        """A tokenizer of a model of the core, so spelled that one saved and loaded equals it."""
        stages = stages_around(
            model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens
        )
        return cls._of_core(_core.Pipeline.build_as_stored(model, stages))

    @classmethod
    def _of_core(cls, core: Pipeline, settings: Settings = NO_SETTINGS) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._set_core(core, settings)
        return tokenizer

    def _set_core(self, core: Pipeline, settings: Settings = NO_SETTINGS) -> None:
        self._bind(core)
        self._core = core
        self._settings = settings
        self._caller = None
        self._hash = None
        self._vocab = None

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """The tokenizer of a Hugging Face `tokenizer.json`, given as text.

        Raises:
            FormatError: It is not what the format says; the message names the place.
            UnsupportedError: It holds something that cannot be honoured exactly.
        """
        return cls._of_core(_core.Pipeline.from_json(_base.check_text("text", text)))

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        r"""The tokenizer that tiktoken makes of ranks.

        Args:
            ranks: Tokens with their ids, which say how early each is merged. All 256 bytes must
                be among them.
            pattern: How text is cut: the name of a known pattern, or an expression in tiktoken's
                dialect whose matches are the pieces.
            special_tokens: Special tokens with their ids.

        Raises:
            FormatError: Ranks that contradict each other or lack a byte; a pattern that is none.
            ArgumentError: A special token with the id of a rank or of another one.

        Example:
            >>> import jeton
            >>> ranks = {bytes([byte]): byte for byte in range(256)}
            >>> tok = jeton.Tokenizer.from_ranks(ranks | {b"ab": 256}, pattern=r"\w+|\W+")
            >>> tok.encode("abba")
            [256, 98, 97]
        """
        specials = _base.special_ids({} if special_tokens is None else special_tokens)
        _base.check_text("pattern", pattern)
        if not isinstance(ranks, Mapping):
            raise ArgumentTypeError(
                f"ranks must map tokens to ids, not be a {type(ranks).__name__}"
            )
        return cls._of_core(_core.Pipeline.from_ranks(dict(ranks), pattern, specials))

    # Text to ids

    # `encode`, `encode_array`, `encode_array_with_spans` and `count` are inherited.

    def encode_batch(
        self,
        texts: Iterable[Entry] | ArrowColumn,
        *,
        is_split_into_words: bool = False,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
        dropout: float | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
        seed: int | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        nulls: Literal["raise", "empty"] = "raise",
    ) -> TokenBatch:
        """The ids of many texts, encoded on all cores.

        Each text's ids are those that `encode` gives, those of a pair or of words the ids that
        `encode_with_spans` gives. Other arguments and errors are those of `encode`; an error names
        the text it is about.

        Args:
            texts: The texts, or pairs of texts as tuples of two, or both. Or a column of strings of
                any library that exports Arrow: an array of pyarrow, a series of polars or pandas, a
                relation of DuckDB. A column is read in place, without one `str`; a table counts as
                its only column.
            is_split_into_words: Whether each text is a list of words instead, that the caller has
                split it into (`["to", "be"]`, a pair `(["to", "be"], ["or", "not"])`). Each word is
                encoded as a text by itself, and the post-processor sees them as one text.
            errors: Bytes of a column that are not UTF-8: an error, or U+FFFD in their place
                (`"replace"`), or nothing (`"ignore"`).
            nulls: Nulls of a column, and `None`, NaN or pandas' `NA` in place of a text or a word:
                an error, or texts without tokens (`"empty"`).

        Raises:
            ArgumentError: A column that holds no strings; a null in it.
            ArgumentTypeError: An entry that is nothing of this.
            FormatError: Bytes that are not UTF-8.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.encode_batch(["hole", "eel"]).tolist()
            [[1, 3, 2, 0], [0, 0, 2]]
            >>> tok.encode_batch([("he", "ll"), "o"]).tolist()
            [[1, 0, 2, 2], [3]]
            >>> tok.encode_batch([["he", "ll"], ["o"]], is_split_into_words=True).tolist()
            [[1, 0, 2, 2], [3]]
        """
        ids, offsets, has_pairs = self._core.encode_batch(
            texts,
            is_split_into_words,
            special,
            add_special_tokens,
            None
            if dropout is alpha is nbest_size is seed is None
            else (dropout, alpha, nbest_size, seed),
            errors,
            nulls,
        )
        origin = functools.partial(Origin.of, self, add_special_tokens, has_pairs)
        return TokenBatch._of_core(ids, offsets, self._core.max_id, origin)

    def encode_batch_with_spans(
        self,
        texts: Iterable[Entry] | ArrowColumn,
        *,
        unit: Literal["characters", "bytes", "utf-16"] = "characters",
        is_split_into_words: bool = False,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
        dropout: float | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
        seed: int | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        nulls: Literal["raise", "empty"] = "raise",
    ) -> tuple[TokenBatch, npt.NDArray[np.int64]]:
        """The ids of many texts and where each token came from, encoded on all cores.

        Each text's ids and spans are those that `encode_array_with_spans` gives, those of a pair or
        of words those that `encode_with_spans` gives: each span lies in the text, or in the word,
        that its token came from. Which word and which text of a pair that is, `word_ids` and
        `sequence_ids` of `tok(texts)` say.

        Args:
            texts: The texts, pairs of texts, or a column of strings, as `encode_batch` takes them.
            unit: What spans count: `"characters"` of each `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units.
            special, add_special_tokens, dropout, alpha, nbest_size, seed: As in `encode`.
            is_split_into_words, errors, nulls: As in `encode_batch`. With `errors="replace"` or
                `"ignore"`, spans are those of the text that this makes of the bytes.

        Returns:
            The ids as a batch, and the spans of all its tokens, int64 of shape `(tokens, 2)`: those
            of text `i` are the rows from `batch.offsets[i]` up to `batch.offsets[i + 1]`.

        Raises:
            ArgumentError: `unit` is none of the three.
            ArgumentTypeError, EncodeError, SpecialTokenError, FormatError: As `encode_batch`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello 🙂")
            >>> batch, spans = tok.encode_batch_with_spans(["hole", "🙂o"], unit="utf-16")
            >>> spans[batch.offsets[1] : batch.offsets[2]].tolist()
            [[0, 2], [2, 3]]
        """
        ids, spans, offsets, has_pairs = self._core.encode_batch_with_spans(
            texts,
            unit,
            is_split_into_words,
            special,
            add_special_tokens,
            None
            if dropout is alpha is nbest_size is seed is None
            else (dropout, alpha, nbest_size, seed),
            errors,
            nulls,
        )
        origin = functools.partial(Origin.of, self, add_special_tokens, has_pairs)
        return TokenBatch._of_core(ids, offsets, self._core.max_id, origin), spans

    def encode_with_spans(
        self,
        text: str | Iterable[str],
        text_pair: str | Iterable[str] | None = None,
        *,
        is_split_into_words: bool = False,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
        unit: Literal["characters", "bytes", "utf-16"] = "characters",
        dropout: float | None = None,
        alpha: float | None = None,
        nbest_size: int | None = None,
        seed: int | None = None,
    ) -> Encoding:
        """The tokens of a text, or of a pair of texts, with where each came from.

        Args:
            text: The text.
            text_pair: A second text, for models that take two.
            is_split_into_words: Whether each text is a list of words instead, that the caller has
                split it into. Each word is encoded as a text by itself; `word_ids` count the words,
                and spans lie in the word of their token.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.
            unit: What spans count: `"characters"` of the `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units. `encode_array_with_spans` finds ids and spans much sooner.
            dropout, alpha, nbest_size, seed: As in `encode`.

        Raises:
            ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.encode_with_spans("hole").tokens
            [b'h', b'o', b'l', b'e']
            >>> tok.encode_with_spans(["he", "ll"], is_split_into_words=True).word_ids
            [0, 0, 1, 1]
        """
        columns = self._core.encode_with_spans(
            text,
            text_pair,
            is_split_into_words,
            special,
            add_special_tokens,
            unit,
            None
            if dropout is alpha is nbest_size is seed is None
            else (dropout, alpha, nbest_size, seed),
        )
        return Encoding(*columns)

    @overload
    def nbest(self, text: str, n: int, *, scores: Literal[False] = ...) -> list[list[int]]: ...
    @overload
    def nbest(
        self, text: str, n: int, *, scores: Literal[True]
    ) -> list[tuple[list[int], float]]: ...
    def nbest(self, text: str, n: int, *, scores: bool = False) -> Any:
        """The ids of the `n` best segmentations of a text, best first; fewer if there are fewer.

        Only a Unigram model knows of more than one. Of a `.model` file, as in SentencePiece, it is
        only the very best of a text so long, and with so many as good as each other, that the
        search for more does not end in time.

        Args:
            text: The text; special tokens in it are text.
            n: How many, 1 to 512.
            scores: Whether each comes with its score, the sum of its tokens' (an unknown character
                counts 10 less than the worst token): a pair of ids and score.

        Raises:
            ArgumentTypeError: `text` is no `str`, or `n` no int.
            ArgumentError: `n` is too small or too large.
            UnsupportedError: It is another model.

        Example:
            >>> import jeton
            >>> from jeton.components import models
            >>> pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0)]
            >>> tok = jeton.Tokenizer(models.Unigram(pieces, unk_id=0))
            >>> tok.nbest("ab", 2, scores=True)
            [([3], -2.0), ([1, 2], -2.5)]
        """
        best = self._core.nbest(text, n)
        return best if _base.checked_flag("scores", scores) else [ids for ids, _ in best]

    def explain(
        self,
        text: str,
        *,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> Explanation:
        """How a text becomes ids: what each stage did to it, and every step of the model, as data.

        Printed, it tells all of that: the added tokens that were found, each normalizer, the
        pieces, every merge with its rank, the longest matches, the lattice with its scores. The
        ids at its end are those of `encode`; a model's `dropout` is left out of account.

        Args:
            text: The text. Explaining takes memory and time in its length, many times those of
                encoding.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Raises:
            ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> from jeton import textbook
            >>> tok = textbook.hug_pug_pun_bun_hugs()
            >>> told = tok.explain("hugs")
            >>> told.ids == tok.encode("hugs")
            True
            >>> print(told.model.pieces[0].merges[0].left, told.model.pieces[0].merges[0].right)
            b'u' b'g'
            >>> print(told)
            1/5  The text
            ...
            Merges
            start  h│u│g│s
            rank 0 h│ug*│s                     u + g
            rank 2 hug*│s                      h + ug
            <BLANKLINE>
            Tokens and ids
            hug│s
            10  6
            ...
        """
        from jeton.explaining import explain

        return explain(self, text, special=special, add_special_tokens=add_special_tokens)

    def gotchas(self, text: str, *, limit: int = 20) -> Gotchas:
        """What in a text gives other tokens than it seems to, or more of them than it should.

        Spaces at its ends, capitals, numbers, special tokens that it spells, what is normalized or
        lost, letters that look like others, characters that nobody sees. Each finding has the
        place, the ids of both spellings, and what to do. `jeton.gotchas.NAMES` lists them.

        Args:
            text: The text; special tokens in it are text.
            limit: How many different findings of each name are told.

        Raises:
            ArgumentTypeError: `text` is no `str`, or `limit` no int.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)
            >>> [(it.name, it.span) for it in tok.gotchas("the w\\u0435ather\\u200b")]
            [('leading-space', (0, 3)), ('look-alike', (4, 11)), ('invisible', (11, 12))]
        """
        from jeton.gotchas import found

        return found(self, text, limit)

    def encoding_plan(self) -> EncodingPlan:
        """How this tokenizer encodes text, and why not faster.

        The stages say which tokens a text has. For most tokenizers a strategy of the fast path
        finds the same tokens in less time; this tells which one, and for each that would be asked
        before it the stage that was in the way. With `JETON_LOG=plan` in the environment, it is
        written to standard error for each tokenizer that is built.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)
            >>> tok.encoding_plan().strategy
            'byte_level'
            >>> lower = tok.replace(normalizer=jeton.components.normalizers.Lowercase())
            >>> print(lower.encoding_plan().passed_over["byte_level"])
            normalizer Lowercase: does not bring text into a Unicode form
        """
        from jeton.encoding_plan import plan_of

        return plan_of(self._core)

    def exceeds(
        self,
        text: str,
        n: int,
        *,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> bool:
        """Whether a text has more than `n` tokens: `tok.count(text) > n`, known sooner.

        The text is read only as far as that takes, so an error in what follows goes unsaid.

        Raises:
            ArgumentTypeError: `text` is no `str`, or `n` no int.
            ArgumentError: `n` is negative.
            EncodeError, SpecialTokenError: As `encode`, of what is read.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.exceeds("hole", 3), tok.exceeds("hole", 4)
            (True, False)
        """
        return self._core.exceeds(text, n, special, add_special_tokens)

    def count_batch(
        self,
        texts: Iterable[Entry] | ArrowColumn,
        *,
        is_split_into_words: bool = False,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        nulls: Literal["raise", "empty"] = "raise",
    ) -> list[int]:
        """The number of tokens of each text, counted on all cores.

        Arguments and errors are those of `encode_batch`.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").count_batch(["hole", "eel"])
            [4, 3]
        """
        return self._core.count_batch(
            texts, is_split_into_words, special, add_special_tokens, errors, nulls
        )

    def usage(
        self,
        data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> Usage:
        """How often each token occurs in a corpus, counted on all cores as the corpus is read.

        Special tokens that are spelled in it are text. A file is one document, a line of JSON
        lines another.

        Args:
            data: Texts or files, as `BPETrainer.train` takes them.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            watch: Called with a `jeton.Progress` now and then.

        Raises:
            ArgumentTypeError, ArgumentError: Data that is no corpus; a `field` for texts.
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            EncodeError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> usage = tok.usage(["hole", "lo"])
            >>> usage.total, usage.counts.tolist(), usage.never_used.tolist()
            (6, [1, 1, 2, 2], [])
        """
        from jeton.analysis.usage import usage_of

        return usage_of(self, data, field=field, errors=errors, watch=watch)

    # Rows for a model

    def __call__(
        self,
        text: Texts | None = None,
        text_pair: Texts | None = None,
        text_target: Texts | None = None,
        text_pair_target: Texts | None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str | None = None,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int | None = None,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: Literal["right", "left"] | None = None,
        truncation_side: Literal["right", "left"] | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        unit: Literal["characters", "bytes", "utf-16"] = "characters",
        special: SpecialPolicy = "ignore",
        nulls: Literal["raise", "empty"] = "raise",
        verbose: bool = True,
    ) -> BatchEncoding:
        """Texts as the rows that a model takes: the call that fast tokenizers of transformers have.

        The result is theirs for the same tokenizer, but that special tokens in text are text unless
        `special` says otherwise, and that what a `tokenizer.json` says of padding and truncation
        counts where the call says nothing. Many texts are encoded on all cores.

        Args:
            text: A text, or a batch: texts, pairs of texts, or a column of Arrow. With
                `is_split_into_words`, a list of words takes the place of a text.
            text_pair: A second text, for models that take two; for a batch, one to each text.
            text_target, text_pair_target: Texts whose ids become `labels`; without `text`, they
                are encoded as that would be.
            add_special_tokens: Whether the post-processor adds its special tokens.
            padding: `True` or `"longest"` makes rows as long as the longest; `"max_length"` as
                long as `max_length`, or as the model takes; `False` leaves them. By default as the
                `tokenizer.json` says, if it does.
            truncation: `True` or `"longest_first"` cuts the longer of two texts first,
                `"only_first"` and `"only_second"` one of them, `False` none. By default as the
                `tokenizer.json` says; if it does not, `max_length` cuts where rows are not padded.
            max_length: The most tokens of a row, special ones among them; by default what the model
                takes.
            stride: How many tokens a window has in common with the one before.
            is_split_into_words: Whether a text is a list of words, each encoded by itself.
            pad_to_multiple_of: Round the length of padded rows up to a multiple of this.
            padding_side, truncation_side: Where padding goes, and where tokens are taken away; by
                default as the tokenizer's configuration says, or else on the right.
            return_tensors: `"np"` for arrays of int64, `"pt"` for tensors; otherwise lists.
            return_token_type_ids, return_attention_mask: Whether there are such columns; by default
                if the model takes them.
            return_overflowing_tokens: Whether a text that is cut has a row for each of its windows,
                which together hold all of its tokens. Of two texts that are cut, each window of
                the one meets each of the other.
            return_special_tokens_mask, return_offsets_mapping, return_length: Whether there are
                such columns.
            unit: What offsets count: `"characters"`, `"bytes"` of UTF-8, or `"utf-16"` code units.
            special: What special tokens in a text mean; see `SpecialPolicy`.
            nulls: Entries of a batch that are None or NaN: an error that names the first of them,
                or texts without tokens (`"empty"`).
            verbose: Whether there is a warning of arguments that have no effect.

        Raises:
            ArgumentError: Arguments that make no sense, or not together; no room for special
                tokens or windows; padding without a pad token; tensors of rows of several lengths.
            ArgumentTypeError: What is no text, by its place.
            UnsupportedError: Windows where a template repeats a text.
            EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<pad>"]).train("abcde")
            >>> batch = tok(["abc", "e"], padding=True, return_tensors="np")
            >>> batch["input_ids"]
            array([[0, 1, 2],
                   [4, 5, 5]])
            >>> tok("abcde", max_length=3, stride=1, return_overflowing_tokens=True)["input_ids"]
            [[0, 1, 2], [2, 3, 4]]
        """
        from jeton.calls import Asked, Call, Caller

        if self._caller is None:
            self._caller = Caller(self)
        return self._caller(
            Call(
                text=text,
                text_pair=text_pair,
                text_target=text_target,
                text_pair_target=text_pair_target,
                asked=Asked(
                    padding=padding,
                    truncation=truncation,
                    max_length=max_length,
                    stride=stride,
                    pad_to_multiple_of=pad_to_multiple_of,
                    padding_side=padding_side,
                    truncation_side=truncation_side,
                    verbose=verbose,
                ),
                add_special_tokens=add_special_tokens,
                is_split_into_words=is_split_into_words,
                return_tensors=return_tensors,
                return_token_type_ids=return_token_type_ids,
                return_attention_mask=return_attention_mask,
                return_overflowing_tokens=return_overflowing_tokens,
                return_special_tokens_mask=return_special_tokens_mask,
                return_offsets_mapping=return_offsets_mapping,
                return_length=return_length,
                unit=unit,
                special=special,
                nulls=nulls,
            )
        )

    # Parts of a text

    def chunk(
        self,
        text: str,
        max_tokens: int = 512,
        *,
        overlap: int | None = None,
        at: Unit = "sentence",
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> list[Chunk]:
        """A text in parts that a model can take: each has at most `max_tokens` by itself.

        Each chunk is a span of the text as it is; together, in order, they cover all of it. What
        counts is how many tokens `encode` gives for the chunk alone: tokens of a part differ from
        those that stand for it in the whole text. Time is linear in the length of the text.

        Sentences end as UAX #29 says, but for single line breaks, abbreviations and addresses; see
        `jeton.chunks.boundaries`. White space belongs to what stands before it.

        Args:
            text: The text.
            max_tokens: The most tokens that a chunk may have.
            overlap: The most tokens that a chunk may share with the one before it, where they end
                and begin at what `at` says; by default a quarter of what there is for text, 128
                of 512. There is less where otherwise the next sentence would not fit whole.
            at: Behind what a chunk ends: as many whole `"sentence"`s, `"line"`s, `"word"`s or
                `"token"`s as fit. One that does not fit by itself is cut at the next finer: a
                sentence at lines, words and tokens, a line at sentences, words and tokens. What
                is one character to a reader, such as an emoji with joiners, is cut only if it does
                not fit alone, and a code point never.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the special tokens count that `encode` adds with
                `add_special_tokens=True`.

        Raises:
            ArgumentTypeError: `text` is no `str`, or a number no int.
            ArgumentError: `max_tokens` leaves no room for text, or not enough for one character;
                `overlap` leaves none for what is new; `at` is none of the four.
            EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("One. Two. Three.")
            >>> for chunk in tok.chunk("One. Two. Three.", 12, overlap=5):
            ...     print(chunk)
            Chunk(0:10, 10 tokens, 'One. Two. ')
            Chunk(5:16, 11 tokens, 'Two. Three.')
        """
        from jeton.chunks.cutting import chunks_of

        return chunks_of(self, text, max_tokens, overlap, at, special, add_special_tokens)

    def truncate(
        self,
        text: str,
        n: int,
        *,
        side: Literal["right", "left"] = "right",
        at: Unit = "token",
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> Truncated:
        """A text cut to at most `n` tokens, with what was dropped.

        Args:
            text: The text.
            n: The most tokens that what is left has by itself.
            side: Which side is cut.
            at: Where, as in `chunk`.
            special, add_special_tokens: As in `chunk`.

        Raises:
            ArgumentTypeError: `text` is no `str`, or `n` no int.
            ArgumentError: `n` is less than the special tokens that are added; `side` or `at` is
                none of its words.
            EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("to be or not to be")
            >>> kept = tok.truncate("to be or not to be", 8, at="word")
            >>> kept
            Truncated(0:6, 6 tokens, 'to be ', 12 tokens dropped)
            >>> kept.dropped_text
            'or not to be'
        """
        from jeton.chunks.cutting import truncated

        return truncated(self, text, n, side, at, special, add_special_tokens)

    def split_at(
        self,
        text: str,
        n: int,
        *,
        at: Unit = "token",
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> tuple[str, str]:
        """A text in two parts, of which the first has at most `n` tokens by itself.

        Together they are the text again. Arguments and errors are those of `truncate`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("to be or not to be")
            >>> tok.split_at("to be or not to be", 5)
            ('to be', ' or not to be')
        """
        from jeton.chunks.cutting import split_at

        return split_at(self, text, n, at, special, add_special_tokens)

    # Chats

    def chat(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        documents: Iterable[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        trusted: Iterable[str | int] = (),
        control: Iterable[str] = (),
        **variables: Any,
    ) -> Chat:
        """A conversation through a chat template: text and ids, with who wrote each token.

        What comes from messages, tools, documents and variables is data: a control token that is
        spelled in it is ordinary text, wherever the template puts it. All other ids are those of
        `apply_chat_template` in transformers.

        Args:
            messages: Dicts, each with a `role` and a `content`, and whatever else the template
                reads; dataclasses and pydantic models too.
            template: The name of one of the tokenizer's templates or of `jeton.chat.TEMPLATES`, or
                the text of a Jinja template; by default the tokenizer's own.
            tools: JSON schemas of functions; or functions, whose type hints and docstrings, in
                Google's style, say the same.
            documents: What the model is to go by.
            add_generation_prompt: Whether the beginning of the model's answer follows.
            continue_final_message: Whether the last message is left open, for the model to go on
                with it; a `str` names the field that is left open.
            trusted: The fields in which control tokens count: roles (`"system"`), fields
                (`"content"`), both (`"system.content"`), messages by index, places
                (`"messages[0].content"`), `"tools"`, `"documents"`, names of variables.
            control: Added tokens that are not special and are control tokens too, as
                `("<tool_call>", "</tool_call>")`; without this they are found in any text, as
                everywhere.
            variables: What else the template reads, as `enable_thinking=False`.

        Raises:
            ArgumentTypeError: Messages, tools or documents that are no dicts.
            ArgumentError: No messages; no template; the template refuses these messages; a name
                in `control` that is no added token; one in `trusted` that these messages and
                chats as a rule do not have; a function that does not say what it takes.
            UnknownNameError: No template has this name.
            FormatError: The template is no Jinja.
            UnsupportedError: The template leaves its sandbox, or takes too long.
            EncodeError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> tok.chat([{"role": "user", "content": "hi"}], template="chatml").text
            '<|im_start|>user\\nhi<|im_end|>\\n'
        """
        from jeton.chat import Request

        return Request(
            self,
            messages,
            template,
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            trusted,
            control,
            tuple(variables.items()),
        ).made()

    def count_messages(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        model: str | None = None,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        add_generation_prompt: bool = True,
        tokens_per_part: int | None = None,
        **variables: Any,
    ) -> MessageCount:
        """How many tokens a conversation has as the model is sent it, and whether that is exact.

        With a chat template, it is the number of ids of `chat`. The formats of OpenAI's chat models
        are not public: `model=` counts by the arithmetic that OpenAI publishes, exact for plain
        texts to the models that it names (GPT-3.5, GPT-4, GPT-4o), and an estimate for tools, other
        fields and other models. Models whose tokenizer is not public (Claude, Gemini) are always
        estimated, with this tokenizer in the place of theirs.

        Args:
            messages: As in `chat`.
            model: The name of a model that counts by arithmetic, as `"gpt-4o"`.
            template: As in `chat`; by default the tokenizer's own.
            tools: As in `chat`.
            add_generation_prompt: Whether what begins the model's answer counts.
            tokens_per_part: How many tokens each part counts that is no text: an image, audio, a
                file. Without this such a part is an error.
            variables: What else the template reads.

        Raises:
            ArgumentError: A part that is no text; neither a model nor a template; a model that
                takes no messages.
            UnknownNameError: A model whose format is not known.
            As `chat`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> count = tok.count_messages([{"role": "user", "content": "hey"}], template="chatml")
            >>> count.tokens, count.exact, count.basis
            (22, True, "exact: by the chat template 'chatml'")
        """
        from jeton.message_counts import counted

        return counted(
            self,
            messages,
            model=model,
            template=template,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            tokens_per_part=tokens_per_part,
            variables=variables,
        )

    # Ids to text

    def decode(
        self,
        ids: Iterable[int],
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
    ) -> str:
        """The text of ids.

        Args:
            ids: Any iterable of ints, or a numpy array of integers.
            skip_special_tokens: Leave special tokens out.
            errors: What becomes of bytes that are not UTF-8, as in `bytes.decode`: `"replace"`,
                `"strict"`, `"ignore"`, `"backslashreplace"`, …

        Raises:
            ArgumentTypeError: `ids` are no integers.
            UnknownTokenError: An id stands for no token; the message names it.
            DecodeError: With `errors="strict"`, bytes that are not UTF-8.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").decode([1, 3, 2, 0])
            'hole'
        """
        check_error_handler(errors)
        return self._core.decode(ids, skip_special_tokens, errors)

    def decode_bytes(self, ids: Iterable[int], *, skip_special_tokens: bool = False) -> bytes:
        r"""The bytes of ids, whether they are UTF-8 or not.

        Arguments and errors are those of `decode`.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("é").decode_bytes([0])
            b'\xc3\xa9'
        """
        return self._core.decode_bytes(ids, skip_special_tokens)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        *,
        skip_special_tokens: bool = False,
        errors: str = "replace",
    ) -> list[str]:
        """The texts of many sequences of ids, such as a `TokenBatch`, decoded on all cores.

        Other arguments and errors are those of `decode`; an error names the row it is about.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.decode_batch([[1, 3], [2, 0]])
            ['ho', 'le']
        """
        check_error_handler(errors)
        return self._core.decode_batch(batch, skip_special_tokens, errors)

    def decode_stream(
        self,
        *,
        skip_special_tokens: bool = False,
        errors: Literal["replace", "strict", "ignore"] = "replace",
        stop: str | Iterable[str] = (),
    ) -> DecodeStream:
        """A stream that gives the text of ids as they come, each part as soon as it is sure.

        Put together, its parts are what `decode` gives for all ids. Part of a character is kept
        until the rest is there; so is a run of byte tokens (`<0xF0>`) where its end decides what it
        is, and what may begin a stop. A decoder that needs all tokens gives everything at the end.

        Args:
            skip_special_tokens: Leave special tokens out.
            errors: What becomes of bytes that are not UTF-8: as in `decode`, these three.
            stop: Texts before which the text ends: before the first of them to be complete, however
                tokens cut it. What follows is dropped.

        Raises:
            ArgumentTypeError: `stop` holds something else than `str`.
            ArgumentError: An unknown `errors`; an empty stop.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(257).train(["aa"])
            >>> stream = tok.decode_stream()
            >>> [stream.push(id) for id in tok.encode("né")] + [stream.finish()]
            ['n', '', 'é', '']
        """
        from jeton import streams

        stops = streams.checked_stops(stop, errors)
        return self._core.decode_stream(skip_special_tokens, errors, stops)

    def encode_stream(
        self, texts: Iterable[str] | TextIO, *, add_special_tokens: bool = False
    ) -> Iterator[npt.NDArray[np.uint32]]:
        """The ids of a text that comes part by part, in memory that does not grow with it.

        Put together, they are what `encode` gives for the whole text, wherever the parts were cut;
        special tokens in it are text.

        Args:
            texts: An open text file, or any iterable of the parts of one text.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Yields:
            Arrays of ids, shape (tokens,), as soon as they are sure.

        Raises:
            ArgumentTypeError: A part that is no `str`.
            UnsupportedError: The end of a text can change the tokens at its front, as in
                SentencePiece models; or half a gigabyte has no place that surely parts tokens.
            EncodeError: As `encode`.

        Example:
            >>> import io, jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["low lower lowest"])
            >>> parts = tok.encode_stream(io.StringIO("low lowest"))
            >>> [id for part in parts for id in part.tolist()] == tok.encode("low lowest")
            True
        """
        from jeton import streams

        stream = self._core.encode_stream(add_special_tokens)
        return streams.encoded(stream, streams.parts_of(texts))

    # What is in it

    @property
    def vocab(self) -> Vocabulary:
        """All tokens with their ids, in the order of ids; added tokens are among them.

        A mapping that cannot be written to, made when it is first asked for.
        """
        if self._vocab is None:
            self._vocab = Vocabulary(self._core.vocab())
        return self._vocab

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges of a BPE, first to last; those of a rank file are derived from the ranks.

        Other models have none. A new list each time.
        """
        return self._core.merges()

    @property
    def scores(self) -> list[float]:
        """The score of each token, by id, of a Unigram or SentencePiece model.

        Other models have none. A new list each time.
        """
        return self._core.scores() or []

    def id_to_bytes(self, id: int) -> bytes:
        """A token as the vocabulary spells it, where marks such as `##`, `▁` and `<0xF0>` stand.

        Raises:
            UnknownTokenError: The id stands for no token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").id_to_bytes(1)
            b'h'
        """
        return self._known(id, self._core.id_to_bytes(id))

    def token_bytes(self, id: int) -> bytes:
        """The bytes that a token adds to decoded text in its middle.

        They are what the decoder makes of the token between two others: a `▁` is a space, `<0xF0>`
        the byte, a `##` is gone and a word has its space in front; a control piece of a
        SentencePiece model is nothing. Byte-level tokens are as they are.

        Raises:
            UnknownTokenError: The id stands for no token.

        Example:
            >>> import jeton
            >>> tok = jeton.WordPieceTrainer(17).train(["hug pug pun bun hugs"] * 5)
            >>> [tok.id_to_bytes(id) for id in tok.encode("hugs")]
            [b'h', b'##ug', b'##s']
            >>> [tok.token_bytes(id) for id in tok.encode("hugs")]
            [b' h', b'ug', b's']
        """
        return self._known(id, self._core.surface(id))

    def _known(self, id: int, token: bytes | None) -> bytes:
        if token is None:
            raise UnknownTokenError(f"id {id} stands for no token; the largest id is {self.max_id}")
        return token

    def bytes_to_id(self, token: bytes | str) -> int:
        """The id of a token, given by its bytes or by a text that stands for its UTF-8.

        Raises:
            UnknownTokenError: There is no such token.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").bytes_to_id(b"h")
            1
        """
        id = self._core.bytes_to_id(bytes_of(token))
        if id is None:
            raise UnknownTokenError(f"{token!r} is no token of this tokenizer")
        return id

    def id_of(self, token: bytes | str, default: _T | None = None) -> int | _T | None:
        """The id of a token, as `bytes_to_id` gives it, or `default` where there is no such token.

        `token in tok` says whether there is one.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.id_of("h"), tok.id_of("x"), tok.id_of("x", -1), "x" in tok
            (1, None, -1, False)
        """
        id = self._core.bytes_to_id(bytes_of(token))
        return default if id is None else id

    def __contains__(self, token: bytes | str) -> bool:
        return self._core.bytes_to_id(bytes_of(token)) is not None

    @property
    def vocab_size(self) -> int:
        """How many ids stand for a token. Where ids have gaps, `max_id` is larger than this."""
        return self._core.vocab_size

    @property
    def max_id(self) -> int:
        """The largest id; -1 where there is no token at all."""
        largest = self._core.max_id
        return -1 if largest is None else largest

    def padded_vocab_size(self, multiple_of: int) -> int:
        """The number of rows of an embedding that holds every id, rounded up.

        Args:
            multiple_of: What the number is to be a multiple of, such as 64.

        Raises:
            ArgumentError: `multiple_of` is not at least 1.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train("hello").padded_vocab_size(64)
            64
        """
        if not isinstance(multiple_of, int) or isinstance(multiple_of, bool):
            raise ArgumentTypeError(f"multiple_of must be an int, not {type(multiple_of).__name__}")
        if multiple_of < 1:
            raise ArgumentError(f"multiple_of must be at least 1, not {multiple_of}")
        rows = self.max_id + 1
        return rows + -rows % multiple_of

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens with their ids, in the order of ids."""
        return self._core.special_tokens()

    @property
    def added_tokens(self) -> list[AddedToken]:
        """The tokens that are found by their spelling, special or not, in the order of ids."""
        return [AddedToken(**token) for token in self._stages()["added_tokens"]]

    @property
    def normalizer(self) -> normalizers.Normalizer | None:
        """What happens to text first."""
        component: normalizers.Normalizer | None = self._stage("normalizer")
        return component

    @property
    def pre_tokenizer(self) -> pre_tokenizers.PreTokenizer | None:
        """Where text is cut into the pieces that the model sees."""
        component: pre_tokenizers.PreTokenizer | None = self._stage("pre_tokenizer")
        return component

    @property
    def model(self) -> models.Model:
        """From pieces to tokens. Holds a copy of the vocabulary."""
        return components.models.from_core(self._core.model(), self._core.id_to_bytes)

    @property
    def post_processor(self) -> post_processors.PostProcessor | None:
        """The special tokens around a text."""
        component: post_processors.PostProcessor | None = self._stage("post_processor")
        return component

    @property
    def decoder(self) -> decoders.Decoder | None:
        """From tokens back to text."""
        component: decoders.Decoder | None = self._stage("decoder")
        return component

    # What programs go by beside it

    @property
    def roles(self) -> dict[str, str]:
        """The special tokens that play a known part, by role: `"bos"`, `"eos"`, `"pad"`, ….

        From the folder that the tokenizer was loaded from, as `replace` and `save` set them, or
        from what its stages and its format tell: a SentencePiece model names its own, a published
        encoding has known ones, and BERT's vocabularies have known names. A new dict each time.

        Example:
            >>> import jeton
            >>> tok = jeton.WordPieceTrainer(60).train(["the weather"])
            >>> tok.roles["pad"], tok.role_ids["pad"]
            ('[PAD]', 0)
        """
        told = {**dict(self._core.roles()), **self._settings.implied, **self._settings.roles}
        names = [*STANDARD_ROLES, *(role for role in told if role not in STANDARD_ROLES)]
        tokens = {role: told[role] for role in names if role in told}
        return {
            role: token
            for role, token in tokens.items()
            if token is not None and self.id_of(token) is not None
        }

    @property
    def role_ids(self) -> dict[str, int]:
        """The ids of the tokens in `roles`, by role."""
        return {role: self.bytes_to_id(token) for role, token in self.roles.items()}

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The chat template of the folder, or several by name; the usual one is `"default"`."""
        template = self._settings.chat_template
        return template if template is None or isinstance(template, str) else dict(template)

    @property
    def model_max_length(self) -> int | None:
        """How many tokens the model takes, if the folder says so. Nothing is cut by it."""
        return self._settings.model_max_length

    @property
    def config(self) -> dict[str, Any]:
        """The `tokenizer_config.json` of the folder, as it was loaded. A new dict each time."""
        return json_object(self._settings.files, CONFIG)

    @property
    def padding(self) -> dict[str, Any] | None:
        """How a `tokenizer.json` has batches padded: `tok(...)` goes by it, `encode` does not."""
        padding, _ = self._core.sections
        return None if padding is None else dict(json.loads(padding))

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How a `tokenizer.json` has texts cut: `tok(...)` goes by it, `encode` does not."""
        _, truncation = self._core.sections
        return None if truncation is None else dict(json.loads(truncation))

    def _stages(self) -> dict[str, Any]:
        """All stages but the model, in the shape of a `tokenizer.json`."""
        stages: dict[str, Any] = json.loads(self._core.stages())
        return stages

    def _stage(self, name: str) -> Any:
        return _base.read_stored(name, self._stages()[name])

    # Another one like it

    def replace(
        self,
        *,
        model: models.Model = _KEEP,
        normalizer: normalizers.Normalizer | None = _KEEP,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = _KEEP,
        post_processor: post_processors.PostProcessor | None = _KEEP,
        decoder: decoders.Decoder | None = _KEEP,
        added_tokens: Iterable[AddedToken] = _KEEP,
        padding: Mapping[str, Any] | None = _KEEP,
        truncation: Mapping[str, Any] | None = _KEEP,
        roles: Mapping[str, str | None] = _KEEP,
        chat_template: ChatTemplate | None = _KEEP,
        model_max_length: int | None = _KEEP,
    ) -> Tokenizer:
        """A tokenizer like this one but for what is given; `None` leaves it out.

        Args:
            model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens: Its stages.
            padding, truncation: What a `tokenizer.json` says of them, with all its fields.
            roles: Special or added tokens by role (`"eos"`, `"pad"`, …), beside those that are set;
                a role that is `None` is no token's.
            chat_template: A template of Jinja, or several by name, the usual one as `"default"`.
            model_max_length: How many tokens the model takes.

        Raises:
            ArgumentError: A role for what is no token, or one of ordinary text.
            As the constructor.

        Example:
            >>> import jeton
            >>> from jeton.components import normalizers
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.replace(normalizer=normalizers.Lowercase()).encode("HOLE")
            [1, 3, 2, 0]
        """
        if model is not _KEEP and not isinstance(model, components.models.Model):
            raise ArgumentTypeError(
                f"model must be one of jeton.components.models, not {type(model).__name__}"
            )
        given: tuple[tuple[type[Component], Any], ...] = (
            (components.normalizers.Normalizer, normalizer),
            (components.pre_tokenizers.PreTokenizer, pre_tokenizer),
            (components.post_processors.PostProcessor, post_processor),
            (components.decoders.Decoder, decoder),
        )
        changed = {
            stage.STAGE: _base.stored(stage, component)
            for stage, component in given
            if component is not _KEEP
        }
        settings = self._settings
        if changed or model is not _KEEP:
            settings = dataclasses.replace(settings, stages_changed=True)
        for name, value in (("padding", padding), ("truncation", truncation)):
            if value is not _KEEP:
                changed[name] = checked_section(name, value)
        core = self._core
        if changed or model is not _KEEP or added_tokens is not _KEEP:
            built = core.model() if model is _KEEP else model.to_core()
            stages = {**self._stages(), **changed}
            if added_tokens is not _KEEP:
                stages["added_tokens"] = stored_tokens(added_tokens, built)
                if settings.first_special_tokens is None:
                    first = frozenset(self.special_tokens)
                    settings = dataclasses.replace(settings, first_special_tokens=first)
            core = _core.Pipeline.build(built, json.dumps(stages))
        if chat_template is not _KEEP:
            template = None if chat_template is None else checked_chat_template(chat_template)
            settings = dataclasses.replace(settings, chat_template=template)
        if model_max_length is not _KEEP:
            length = None if model_max_length is None else checked_max_length(model_max_length)
            settings = dataclasses.replace(settings, model_max_length=length)
        tokenizer = self._of_core(core, settings)
        return tokenizer if roles is _KEEP else tokenizer._with_roles(roles)

    def _with_roles(self, roles: Mapping[str, str | None]) -> Tokenizer:
        checked = checked_roles(roles)
        apart = {*self.special_tokens, *(token.content for token in self.added_tokens)}
        apart.update(dict(self._core.roles()).values())
        for role, token in checked.items():
            if token is None or token in apart:
                continue
            why = (
                f"{token!r} is no token of this tokenizer, so it cannot be the {role}"
                if self.id_of(token) is None
                else f"{token!r} is a token of ordinary text, which would lose it to the {role}"
            )
            raise ArgumentError(f"roles: {why} (with_added_tokens adds a special one)")
        merged = {**self._settings.roles, **checked}
        return self._of_core(self._core, dataclasses.replace(self._settings, roles=merged))

    __replace__ = replace

    def with_added_tokens(self, tokens: Iterable[AddedToken | str]) -> Tokenizer:
        """A tokenizer like this one with more added tokens; a `str` stands for a special one.

        A token without an id takes the one that the vocabulary has for it, or the next free one.

        Raises:
            ArgumentError: A token that is an added token already, or is given twice.
            FormatError: An id that is taken.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello").with_added_tokens(["<|end|>"])
            >>> tok.special_tokens
            {'<|end|>': 4}
        """
        if isinstance(tokens, str):
            raise ArgumentTypeError("tokens must be an iterable of tokens, not one str")
        if not isinstance(tokens, Iterable):
            raise ArgumentTypeError(
                f"tokens must be an iterable of tokens, not {type(tokens).__name__}"
            )
        added = [
            AddedToken(token, special=True) if isinstance(token, str) else token for token in tokens
        ]
        there = self.added_tokens
        known = {token.content: token.id for token in there}
        given: set[str] = set()
        for token in added:
            if not isinstance(token, AddedToken):
                continue
            if token.content in known:
                raise ArgumentError(
                    f"{token.content!r} is an added token already, with id {known[token.content]} "
                    "(leave it out; replace(added_tokens=…) changes what it is)"
                )
            if token.content in given:
                raise ArgumentError(f"{token.content!r} is given twice (give it once)")
            given.add(token.content)
        return self.replace(added_tokens=[*there, *added])

    # To and from files and other libraries

    def to_json(self) -> str:
        """This tokenizer as a Hugging Face `tokenizer.json`.

        Raises:
            UnsupportedError: The format cannot hold it; the message names what.
        """
        return self._core.to_json()

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        roles: Mapping[str, str | None] | None = None,
        chat_template: ChatTemplate | None = None,
        lossy: bool = False,
    ) -> None:
        """Writes this tokenizer to a file or a folder, in the format that the name says.

        A folder is what `transformers` loads. Saved again, what was loaded from one comes back
        unchanged, but for what the tokenizer itself changed: its configuration, chat templates
        and lists of special tokens. Of another tokenizer, what such files the folder held is
        replaced. The tokens of roles are special tokens to who loads a folder.

        A file that would mean another tokenizer is refused. What a format leaves to whoever loads
        it, such as the pattern and the special tokens of ranks, or the roles and the chat template
        that only a folder holds, is left out, with a warning that names it.

        Args:
            path: A name that ends in `.json` (Hugging Face), `vocab.json` (GPT-2's pair),
                `.tiktoken` (ranks), `.model` (SentencePiece) or `.txt` (BERT); one without an
                ending, or with a separator at its end, is a folder. `~` at the beginning of a
                `str` is a home.
            roles: For a folder: tokens by role, as in `replace`.
            chat_template: For a folder: as in `replace`.
            lossy: Whether to leave things out without a warning.

        Raises:
            ArgumentError: `roles` or `chat_template` for what is no folder.
            UnsupportedError: The format cannot hold it; the message names what.
            FileError: The file cannot be written.

        Warns:
            FormatWarning: The file does not hold all; it says what is missing.

        Example:
            >>> import jeton, tempfile
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("to be or not to be")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     tok.save(folder, roles={"eos": "<|end|>"})
            ...     jeton.load(folder).roles["eos"]
            '<|end|>'
        """
        from jeton.arguments import checked_path

        name = checked_path("path", path)
        _base.checked_flag("lossy", lossy)
        if isinstance(path, str):
            name = os.path.expanduser(name)
        is_folder = _core.target_of(self._core, name) == "folder"
        tokenizer = self
        for argument, given in (("roles", roles), ("chat_template", chat_template)):
            if given is not None and not is_folder:
                raise ArgumentError(f"{argument}= goes with a folder, and {name} is a file")
        if roles is not None:
            tokenizer = tokenizer.replace(roles=roles)
        if chat_template is not None:
            tokenizer = tokenizer.replace(chat_template=chat_template)
        if is_folder:
            from jeton import folder

            left_out = folder.write(
                Path(name), tokenizer._core, tokenizer._settings, tokenizer.roles
            )
        else:
            left_out = [*_core.save(self._core, name), *self._held_by_folders()]
        if left_out and not lossy:
            elsewhere = "" if is_folder else "; a folder, a name without an ending, holds all"
            warn_caller(
                f"{Path(name).name} does not hold {', '.join(left_out)} (say so again when it is "
                f"loaded{elsewhere})",
                FormatWarning,
            )

    def _held_by_folders(self) -> list[str]:
        """What is set that a file of this tokenizer does not tell."""
        told = dict(self._core.roles())
        roles = [
            role
            for role, token in self._settings.roles.items()
            if token is not None and told.get(role) != token
        ]
        held = [f"the role{'s' * (len(roles) > 1)} {', '.join(roles)}"] if roles else []
        if self._settings.chat_template is not None:
            held.append("the chat template")
        if self._settings.model_max_length is not None:
            held.append("model_max_length")
        return held

    def approximation(self, format: Literal["tokenizer.json", ".model"]) -> Tokenizer:
        """The tokenizer that comes nearest to this one and that a format can hold exactly.

        For a SentencePiece model that `save` refuses to write as `tokenizer.json`, and for a
        Unigram `tokenizer.json` as a `.model` file; of a tokenizer that the format can hold, its
        equal. The ids differ only in texts in which

        - two segmentations are as good as each other but for rounding: SentencePiece adds up
          scores in 32 bits, Hugging Face tokenizers in 64;
        - the spelling of the unknown piece or of a byte piece stands, with `special="ignore"`;
        - the character map meets a grapheme cluster. Of one shorter than six bytes tokenizers
          replaces all by what its beginning becomes: CR LF is one space, and behind a rewritten
          character such as `½` an accent or a variation selector is lost. Of a longer one, and of
          letters that are no cluster, it replaces each character by itself: half-width kana and
          their voiced marks, jamo, and accents on rewritten characters such as `①` stay apart
          where SentencePiece composes them;
        - U+0085 or `▁` stands, if the `tokenizer.json` splits at white space (`WhitespaceSplit`,
          `Metaspace`), to which U+0085 is such, and a `▁` a space.

        Text that begins with several spaces may be decoded with fewer of them. A `.model` file has
        no place for special tokens that are added around text, for truncation and for padding:
        these are left out, and so are the options `lstrip`, `rstrip` and `single_word` of special
        tokens. All this is verified on texts made of the pieces.

        Args:
            format: Which format is to hold it.

        Raises:
            UnsupportedError: There is none so near; the message names what differs, or a text.

        Example:
            >>> import jeton
            >>> tok = jeton.load("t5.model")  # doctest: +SKIP
            >>> tok.approximation("tokenizer.json").save("tokenizer.json")  # doctest: +SKIP
        """
        from jeton.arguments import one_of

        one_of("format", format, ("tokenizer.json", ".model"))
        return self._of_core(self._core.approximation(format), self._settings)

    def as_tiktoken(self, name: str = "jeton") -> TiktokenEncoding:
        """This tokenizer under the interface of `tiktoken.Encoding`, for code that calls that.

        Args:
            name: What the encoding is to be called.

        Raises:
            UnsupportedError: It is no byte-level BPE.
        """
        from jeton.tiktoken.core import Encoding

        return Encoding.of_tokenizer(self, name)

    def as_sentencepiece(self) -> SentencePieceProcessor:
        """This tokenizer under the reading interface of `sentencepiece.SentencePieceProcessor`.

        Raises:
            UnsupportedError: It is no tokenizer as a SentencePiece `.model` file holds it.

        Example:
            >>> import jeton
            >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
            >>> tok.as_sentencepiece().nbest_encode("low", nbest_size=2, out_type=str)
            [['▁low'], ['▁', 'l', 'o', 'w']]
        """
        from jeton.sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor.of_tokenizer(self)

    def as_transformers(self) -> PreTrainedTokenizerFast:
        """This tokenizer as a fast tokenizer of transformers, for code that takes one.

        A `PreTrainedTokenizerFast` with the same ids, special tokens, roles, chat template, sides
        and longest input: what `AutoTokenizer` loads from the folder that `save` writes. It is
        transformers' own: tokens that have a role are special ones, special tokens that are
        spelled in text count unless `split_special_tokens=True` is said, and
        `add_special_tokens` is on. What is changed in it does not come back.

        Raises:
            UnsupportedError: `tokenizer.json` cannot hold it exactly (`approximation` gives what
                comes nearest); transformers is not installed.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> fast = tok.as_transformers()  # doctest: +SKIP
            >>> fast("hole<|end|>")["input_ids"]  # doctest: +SKIP
            [1, 3, 2, 0, 4]
        """
        from jeton.for_transformers import fast_tokenizer

        return fast_tokenizer(self)

    # As a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._core == other._core

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(_core.fingerprint(self._core))
        return self._hash

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the tokenizer is, in hexadecimal: equal for equal ones.

        The same on every machine; another version of jeton may give another.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("ab")
            >>> tok.digest == jeton.CharTrainer().train("abba").digest, len(tok.digest)
            (True, 64)
        """
        return _core.fingerprint(self._core).hex()

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: object) -> Tokenizer:
        return self

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[bytes, Settings]]:
        return _from_image, (self._core.image(), self._settings)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in IN_JETON]

    def _repr_html_(self) -> str:
        """Its size and stages, for notebooks."""
        from jeton import notebooks

        return notebooks.of_tokenizer(self)

    def __repr__(self) -> str:
        tokens = "token" if self.vocab_size == 1 else "tokens"
        return (
            f"<jeton.Tokenizer: {self._core.model_kind}, {self.vocab_size:,} {tokens}, "
            f"{len(self.special_tokens):,} special>"
        )


knows_other_names(Tokenizer)


def _from_image(image: bytes, settings: Settings = NO_SETTINGS) -> Tokenizer:
    """Undoes `Tokenizer.__reduce__`."""
    return Tokenizer._of_core(_core.Pipeline.from_image(image), settings)
