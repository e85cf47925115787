"""Text to ids: tokens, batches, spans, streams, the best segmentations.

`encode`, `encode_array` and `count` are the core's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias, overload

from jeton.argument_types import Entry, SpecialPolicy
from jeton.arguments import checked_flag, one_of
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.base_tokenizer.settings import HasSettings
from jeton.results.encoding import Encoding, TokenBatch
from jeton.results.pad_batch import BatchSource

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from jeton._core import CountedText
    from jeton.argument_types import ArrowColumn

_UNITS = ("characters", "bytes", "utf-16")


class EncodeMethods(HasSettings):
    """The part of `Tokenizer` for text to ids."""

    __slots__ = ()

    def tokens(
        self, text: str, *, special: SpecialPolicy = "ignore", add_special_tokens: bool = False
    ) -> list[str]:
        r"""The tokens of a text as text, as the vocabulary spells them.

        A byte that is no whole character by itself is shown as `\\xf0`. `encode_with_spans` has the
        bytes of each token, and where in the text it came from.

        Args:
            text: The text.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Raises:
            ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> jeton.load("jeton-4k").tokens("The tide waits")
            ['The', ' tide', ' wait', 's']
        """
        ids = self.encode(text, special=special, add_special_tokens=add_special_tokens)
        spelled = self._core.id_to_bytes
        return [(spelled(id) or b"").decode("utf-8", "backslashreplace") for id in ids]

    def encode_batch(
        self,
        texts: Iterable[Entry] | ArrowColumn,
        *,
        spans: Literal["characters", "bytes", "utf-16"] | None = None,
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

        The ids of a text are those that `encode` returns; those of a pair or of words are those
        that `encode_with_spans` returns. Other arguments and errors are those of `encode`; an error
        names the text it is about.

        Args:
            texts: The texts, or pairs of texts as tuples of two, or both. Or a column of strings of
                any library that exports Arrow: an array of pyarrow, a series of polars or pandas, a
                relation of DuckDB. A column is read in place, without making a `str`; a table must
                have one column.
            spans: Where each token came from too, as `batch.spans`: counted in `"characters"` of
                each `str`, `"bytes"` of its UTF-8, or `"utf-16"` code units. With
                `errors="replace"` or `"ignore"` they refer to the text that results.
            is_split_into_words: Whether each text is a list of words (`["to", "be"]`, a pair
                `(["to", "be"], ["or", "not"])`). Each word is encoded as a separate text, and the
                post-processor sees them as one text.
            errors: How to handle bytes of a column that are not UTF-8: raise an error, put U+FFFD
                in their place (`"replace"`), or leave them out (`"ignore"`).
            nulls: How to handle nulls of a column, and `None`, NaN or pandas' `NA` in place of a
                text or a word: raise an error, or return no tokens for them (`"empty"`).

        Raises:
            ArgumentError: A column that does not hold strings; a null in it; `spans` is none of the
                three.
            ArgumentTypeError: An entry of another type.
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
            >>> tok.encode_batch(["hole", "o"], spans="characters").spans.tolist()
            [[0, 1], [1, 2], [2, 3], [3, 4], [0, 1]]
        """
        drawing = _drawing(dropout, alpha, nbest_size, seed)
        how = (is_split_into_words, special, add_special_tokens, drawing, errors, nulls)
        rows: npt.NDArray[np.int64] | None = None
        if spans is None:
            ids, offsets, has_pairs = self._core.encode_batch(texts, *how)
        else:
            one_of("spans", spans, _UNITS)
            ids, rows, offsets, has_pairs = self._core.encode_batch_with_spans(texts, spans, *how)
        origin = sources_of(self)[bool(add_special_tokens)]
        if has_pairs and add_special_tokens:
            # There are special tokens between the texts too.
            origin = dataclasses.replace(origin, is_framed=False)
        return TokenBatch._of_core(ids, offsets, self._core.max_id, origin, rows)

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
            is_split_into_words: Whether each text is a list of words. Each word is encoded as a
                separate text; `word_ids` count the words, and a span is a range of its token's
                word.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.
            unit: What spans count: `"characters"` of the `str`, `"bytes"` of its UTF-8, or
                `"utf-16"` code units.
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
        encoding = self._core.encode_with_spans(
            text,
            text_pair,
            is_split_into_words,
            special,
            add_special_tokens,
            unit,
            _drawing(dropout, alpha, nbest_size, seed),
        )
        return Encoding._of_core(encoding)

    def counted_text(
        self, text: str = "", *, special: SpecialPolicy = "ignore", add_special_tokens: bool = False
    ) -> CountedText:
        """A text that grows at either end and counts its tokens without encoding it all again.

        `append` and `prepend` add to it; `count()` is the number of its tokens, and
        `count(start, stop)` the number for a range of characters encoded alone. Each equals
        `Tokenizer.count` of that text.

        Args:
            text: The text to begin with.
            special: What special tokens in the text mean, as in `encode`; not `"raise"`, which
                would need the position in the whole text.
            add_special_tokens: Whether to count the special tokens that the post-processor adds.

        Raises:
            ArgumentTypeError: `text` is not a `str`.
            ArgumentError: It holds a lone surrogate.
            UnsupportedError: The tokenizer has no known safe split points, such as a Unigram model
                of a `.model` file; or `special` is `"raise"`.

        Example:
            >>> from jeton.learn import textbook
            >>> tok = textbook.hug_pug_pun_bun_hugs()
            >>> text = tok.counted_text("pug hug")
            >>> text.append(" hugs")
            >>> text.count() == tok.count("pug hug hugs"), text.count(4, 7) == tok.count("hug")
            (True, True)
        """
        counter = self._core.counted_text(special, add_special_tokens)
        counter.append(text)
        return counter

    def encode_stream(
        self,
        texts: Iterable[str] | TextIO,
        *,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> Iterator[npt.NDArray[np.uint32]]:
        """The ids of a text that arrives in parts, in memory that does not grow with the text.

        Joined, they are what `encode` returns for the whole text, wherever its parts begin and end.
        Text without a safe split point is held back until one comes.

        Args:
            texts: An open text file, or any iterable of the parts of one text.
            special: What special tokens in the text mean, as in `encode`; not `"raise"`, which
                would need the position in the whole text.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Yields:
            Arrays of ids, shape (tokens,), for some 256 KiB of the text at a time.

        Raises:
            ArgumentTypeError: A part that is not a `str`.
            UnsupportedError: The tokenizer has no known safe split points, such as a Unigram model
                of a `.model` file; half a gigabyte of text has none; or `special` is `"raise"`.
            EncodeError: As `encode`.

        Example:
            >>> import io, jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["low lower lowest"])
            >>> parts = tok.encode_stream(io.StringIO("low lowest"))
            >>> [id for part in parts for id in part.tolist()] == tok.encode("low lowest")
            True
        """
        from jeton.encoding import streams

        stream = self._core.encode_stream(special, add_special_tokens)
        return streams.encode_parts(stream, streams.parts_of(texts))

    @overload
    def nbest(self, text: str, n: int, *, scores: Literal[False] = ...) -> list[list[int]]: ...
    @overload
    def nbest(
        self, text: str, n: int, *, scores: Literal[True]
    ) -> list[tuple[list[int], float]]: ...
    def nbest(
        self, text: str, n: int, *, scores: bool = False
    ) -> list[list[int]] | list[tuple[list[int], float]]:
        """The ids of the `n` best segmentations of a text, best first; fewer if there are fewer.

        Needs a Unigram model. With one of a `.model` file the search may give up, as
        SentencePiece's does, on a long text with very many equally good segmentations; it then
        returns the best one alone.

        Args:
            text: The text; special tokens in it are text.
            n: How many, 1 to 512.
            scores: Whether to return pairs of ids and score. The score is the sum of the scores of
                the tokens; an unknown character counts 10 less than the worst token.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or `n` not an int.
            ArgumentError: `n` is too small or too large.
            UnsupportedError: The model is not Unigram.

        Example:
            >>> import jeton
            >>> from jeton.components import models
            >>> pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0)]
            >>> tok = jeton.Tokenizer(models.Unigram(pieces, unk_id=0))
            >>> tok.nbest("ab", 2, scores=True)
            [([3], -2.0), ([1, 2], -2.5)]
        """
        best = self._core.nbest(text, n)
        return best if checked_flag("scores", scores) else [ids for ids, _ in best]

    def exceeds(
        self,
        text: str,
        n: int,
        *,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> bool:
        """Whether a text has more than `n` tokens: a faster `tok.count(text) > n`.

        It stops reading as soon as the answer is certain, and does not report errors after that.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or `n` not an int.
            ArgumentError: `n` is negative.
            EncodeError, SpecialTokenError: As `encode`, for the part that was read.

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


@once_per_tokenizer
def sources_of(tokenizer: HasSettings) -> dict[bool, BatchSource]:
    """What a batch needs to know of its tokenizer to pad and frame sequences, without special
    tokens around the texts and with them."""
    specials, roles, core = tokenizer.special_tokens, tokenizer.roles.ids, tokenizer._core
    return {adds: BatchSource.of(specials, roles, core.frame(adds)) for adds in (False, True)}


_Drawing: TypeAlias = tuple[float | None, float | None, int | None, int | None]


def _drawing(
    dropout: float | None, alpha: float | None, nbest_size: int | None, seed: int | None
) -> _Drawing | None:
    """The options of random segmentation, as the core takes them; `None` without randomness."""
    is_drawn = not (dropout is alpha is nbest_size is seed is None)
    return (dropout, alpha, nbest_size, seed) if is_drawn else None
