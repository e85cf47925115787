"""A closer look at texts: the steps of encoding, surprising tokens, usage."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from jeton.corpora.progress import Progress
    from jeton.corpora.usage import Usage
    from jeton.encoding.explaining import Explanation
    from jeton.encoding.gotchas import Gotchas
    from jeton.encoding.healing import Healed


class ExplainMethods(BaseTokenizer):
    """The methods of `Tokenizer` that explain a text."""

    __slots__ = ()

    def explain(
        self,
        text: str,
        *,
        special: SpecialPolicy = "ignore",
        add_special_tokens: bool = False,
    ) -> Explanation:
        """How a text becomes ids: the effect of each stage, and every step of the model, as data.

        Print the result to see it all: the added tokens in the text, each normalizer, the pieces,
        every merge with its rank, the longest matches, the lattice with its scores. The ids at the
        end are those of `encode`.

        Args:
            text: The text. Time and memory are linear in its length, but many times those of
                encoding.
            special: What special tokens in the text mean; see `SpecialPolicy`.
            add_special_tokens: Whether the post-processor adds its special tokens.

        Raises:
            ArgumentTypeError, EncodeError, SpecialTokenError: As `encode`.

        Example:
            >>> from jeton.learn import textbook
            >>> tok = textbook.hug_pug_pun_bun_hugs()
            >>> explanation = tok.explain("hugs")
            >>> explanation.ids == tok.encode("hugs")
            True
            >>> merge = explanation.model.pieces[0].merges[0]
            >>> merge.left, merge.right
            (b'u', b'g')
            >>> print(explanation)
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
        """Parts of a text that have surprising tokens, or more tokens than they need.

        It finds spaces at the ends, capitals, numbers, spellings of special tokens, text that is
        normalized or lost, look-alike letters, and invisible characters. Each finding has its
        position, the ids of both spellings, and what to do. `jeton.encoding.gotchas.NAMES` lists
        the names.

        Args:
            text: The text; special tokens in it are text.
            limit: The maximum number of different findings per name.

        Raises:
            ArgumentTypeError: `text` is not a `str`, or `limit` not an int.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)
            >>> [(it.name, it.span) for it in tok.gotchas("the w\\u0435ather\\u200b")]
            [('leading-space', (0, 3)), ('look-alike', (4, 11)), ('invisible', (11, 12))]
        """
        from jeton.encoding.gotchas import find_gotchas

        return find_gotchas(self, text, limit)

    def heal(self, ids: Sequence[int]) -> Healed:
        """Takes back the end of a prompt, where a longer token may be what the model would write.

        A prompt that ends in `http:` makes `://` unlikely, if the model learnt `http://` as other
        tokens: a boundary that the prompt's end alone has made. This removes the tokens at the end
        that are the beginning of longer ones. Let the model continue from `ids`; for the first
        tokens, allow only those of `allowed`, until `prefix` is spelled; then sample freely.

        Args:
            ids: The ids of a prompt. Special tokens are never removed, nor what is before them.

        Returns:
            The ids to keep, the bytes with which the continuation must begin, and
            the ids that the next token may have.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(259, pattern="gpt4").train(["lower lower low"])
            >>> healed = tok.heal(tok.encode("lo"))
            >>> healed.ids, healed.prefix, [tok.decode([id]) for id in healed.allowed]
            ([], b'lo', ['l', 'lo', 'low'])
        """
        from jeton.encoding.healing import heal

        return heal(self, ids)

    def usage(
        self,
        data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> Usage:
        """How often each token occurs in a corpus, counted on all cores as the corpus is read.

        Special tokens in it are text. A text file is one document; in JSON lines, each line is one.

        Args:
            data: Texts or files, as `BPETrainer.train` takes them.
            field, errors: As for `BPETrainer.train`.
            watch: Called with a `jeton.Progress` from time to time.

        Raises:
            ArgumentTypeError, ArgumentError: Data that is not a corpus; a `field` for texts.
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
