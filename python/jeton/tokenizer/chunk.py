"""Long texts: chunks and truncation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jeton.encoding.chunks import Boundaries, Chunk, Side, Truncated, Unit


class ChunkMethods(BaseTokenizer):
    """The methods of `Tokenizer` for long texts."""

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
        """Splits a text into chunks that fit a model: each has at most `max_tokens` tokens.

        Each chunk is a span of the original text; together, in order, they cover all of it. The
        tokens of a chunk are those that `encode` returns for the chunk alone, which differ from its
        tokens within the whole text. Time is linear in the length of the text.

        Sentences end as in UAX #29, except at single line breaks, abbreviations and addresses; see
        `jeton.encoding.chunks.boundaries`. White space belongs to the unit before it.

        Args:
            text: The text.
            max_tokens: The maximum number of tokens per chunk.
            overlap: The maximum number of tokens that a chunk shares with the one before; the
                overlap begins and ends at the unit of `at`. By default a quarter of the room for
                text: 128 of 512. It is smaller if the next sentence would not fit otherwise.
            at: The unit after which a chunk ends: it has as many whole `"sentence"`s, `"line"`s,
                `"word"`s or `"token"`s as fit. A unit that does not fit alone is split at finer
                units: a sentence at lines, words and tokens, a line at sentences, words and tokens.
                What a reader sees as one character, such as an emoji with joiners, is split only if
                it does not fit alone; a code point is never split.
            boundaries: Where coarser parts of the text begin: a chunk ends before one if possible.
                `"markdown"`: headings, first level first; a chunk that begins among the rows of a
                table has the table's head in `Chunk.head`, which counts. `"code"`: lines after an
                empty line, outermost first. `"html"`: sections, blocks, then rows and entries. Or
                the positions themselves, in characters, or a function that returns them for a text.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether to count the special tokens that `encode` adds with
                `add_special_tokens=True`. Without it they are not counted: a chunk of 512 tokens
                has 514 for BERT, which takes 512.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or a number not an int.
            ArgumentError: `max_tokens` leaves no room for text, or not enough for one character;
                `overlap` leaves no room for new text; `at` is an unknown unit; `boundaries` are
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
        """The chunks of each of many texts, as in `chunk`.

        Args:
            texts: The texts. Other arguments are those of `chunk`. `boundaries` as positions apply
                to every text; give a function if they differ.

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
        """Truncates a text to at most `n` tokens; the result has the dropped text too.

        Args:
            text: The text.
            n: The maximum number of tokens of the result, encoded alone.
            side: The part to drop: the `"right"` side, the `"left"` side, or the `"middle"`;
                `Truncated.gap` says where the middle was.
            at: The unit to split at, as in `chunk`.
            special, add_special_tokens: As in `chunk`.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or `n` not an int.
            ArgumentError: `n` is less than the number of added special tokens; `side` or `at` is
                unknown.
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
        from jeton.encoding.chunks.cutting import truncate

        return truncate(self, text, n, side, at, special, add_special_tokens)
