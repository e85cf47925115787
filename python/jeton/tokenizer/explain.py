"""What becomes of a text: its steps, by which strategy, what is odd in it, which tokens it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from jeton.corpora.corpus import Progress
    from jeton.corpora.usage import Usage
    from jeton.encoding.encoding_plan import EncodingPlan
    from jeton.encoding.explaining import Explanation
    from jeton.encoding.gotchas import Gotchas

__all__ = ["Explains"]


class Explains(BaseTokenizer):
    """The part of `Tokenizer` for a look at a text."""

    __slots__ = ()

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
        ids at its end are those of `encode`.

        Args:
            text: The text. Explaining takes memory and time in its length, many times those of
                encoding.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Raises:
            ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> from jeton.learn import textbook
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
        from jeton.encoding.explaining import explain

        return explain(self, text, special=special, add_special_tokens=add_special_tokens)

    def gotchas(self, text: str, *, limit: int = 20) -> Gotchas:
        """What in a text gives other tokens than it seems to, or more of them than it should.

        Spaces at its ends, capitals, numbers, special tokens that it spells, what is normalized or
        lost, letters that look like others, characters that nobody sees. Each finding has the
        place, the ids of both spellings, and what to do. `jeton.encoding.gotchas.NAMES` lists them.

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
        from jeton.encoding.gotchas import find_gotchas

        return find_gotchas(self, text, limit)

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
        from jeton.encoding.encoding_plan import plan_of

        return plan_of(self._core)

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
        from jeton.corpora.usage import usage_of

        return usage_of(self, data, field=field, errors=errors, watch=watch)
