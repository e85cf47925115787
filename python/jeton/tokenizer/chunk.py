"""Cutting long texts: into chunks, at a size, at tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jeton.encoding.chunks import Boundaries, Chunk, Side, Truncated, Unit

__all__ = ["Cuts"]


class Cuts(BaseTokenizer):
    """The part of `Tokenizer` for long texts in parts."""

    __slots__ = ()

    def chunk(
        self,
        text: str,
        max_tokens: int = 512,
        *,
        overlap: int | None = None,
        at: Unit = "sentence",
        boundaries: Boundaries | None = None,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> list[Chunk]:
        """A text in parts that a model can take: each has at most `max_tokens` by itself.

        Each chunk is a span of the text as it is; together, in order, they cover all of it. What
        counts is how many tokens `encode` gives for the chunk alone: tokens of a part differ from
        those that stand for it in the whole text. Time is linear in the length of the text.

        Sentences end as UAX #29 says, but for single line breaks, abbreviations and addresses; see
        `jeton.encoding.chunks.boundaries`. White space belongs to what stands before it.

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
            boundaries: Where parts of the text begin that are coarser than `at`: a chunk ends in
                front of one where it can. `"markdown"`: headings, those of the first rank before
                those of the second; a chunk that begins among the rows of a table has the table's
                head in `Chunk.head`, which counts. `"code"`: what follows an empty line, outermost
                first. `"html"`: sections, blocks, then rows and entries. Or the places themselves,
                in characters, or a function that gives them for a text.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the special tokens count that `encode` adds with
                `add_special_tokens=True`.

        Raises:
            ArgumentTypeError: `text` is no `str`, or a number no int.
            ArgumentError: `max_tokens` leaves no room for text, or not enough for one character;
                `overlap` leaves none for what is new; `at` is none of the four; `boundaries` lie
                outside of the text.
            EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("One. Two. Three.")
            >>> for chunk in tok.chunk("One. Two. Three.", 12, overlap=5):
            ...     print(chunk)
            Chunk(0:10, 10 tokens, 'One. Two. ')
            Chunk(5:16, 11 tokens, 'Two. Three.')
        """
        from jeton.encoding.chunks.cutting import chunks_of

        return chunks_of(
            self, text, max_tokens, overlap, at, boundaries, special, add_special_tokens
        )

    def chunk_batch(
        self,
        texts: Iterable[str],
        max_tokens: int = 512,
        *,
        overlap: int | None = None,
        at: Unit = "sentence",
        boundaries: Boundaries | None = None,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> list[list[Chunk]]:
        """The chunks of each of many texts, as `chunk` has them.

        Args:
            texts: The texts. Other arguments are those of `chunk`; places as `boundaries` are those
                of each text, so give a function where texts have others.

        Raises:
            As `chunk`; an error names the text.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("One. Two.")
            >>> [[it.text for it in chunks] for chunks in tok.chunk_batch(["One. Two.", "One."], 5)]
            [['One. ', 'Two.'], ['One.']]
        """
        from jeton.encoding.chunks.cutting import chunks_of_batch

        return chunks_of_batch(
            self, texts, max_tokens, overlap, at, boundaries, special, add_special_tokens
        )

    def truncate(
        self,
        text: str,
        n: int,
        *,
        side: Side = "right",
        at: Unit = "token",
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> Truncated:
        """A text cut to at most `n` tokens, with what was dropped.

        Args:
            text: The text.
            n: The most tokens that what is left has by itself.
            side: What is cut: the `"right"` side, the `"left"` one, or the `"middle"`, of which
                `Truncated.gap` says where it was.
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
        from jeton.encoding.chunks.cutting import truncated

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
        from jeton.encoding.chunks.cutting import split_at

        return split_at(self, text, n, at, special, add_special_tokens)
