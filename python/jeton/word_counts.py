"""Word counts: what every trainer starts from, counted once and trained from many times.

Look here, too, for the stages before the model as the core takes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from jeton import _core
from jeton.components import _base, normalizers, pre_tokenizers
from jeton.corpus import Progress, count
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = ["Corpus", "WordCounts", "first_stages", "named_pre_tokenizer"]


class WordCounts:
    """The distinct words of a corpus with their counts, in the order in which each was first met.

    Which words there are depends on how text is cut: count with the pattern, the normalizer and
    the special tokens of the trainer that the counts are for.

    Example:
        >>> import jeton
        >>> counts = jeton.WordCounts.count(["to be or not to be"], pattern="whitespace")
        >>> counts.items()
        [('to', 2), ('be', 2), ('or', 1), ('not', 1)]
        >>> tok = jeton.BPETrainer(258, pattern="whitespace").train(counts)
        >>> tok.merges
        [(b'b', b'e'), (b't', b'o')]
    """

    def __init__(self, words: Iterable[tuple[str, int]] = ()) -> None:
        self.core = _core.WordCounts.of(list(words))

    @classmethod
    def count(
        cls,
        data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
        *,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        special_tokens: Iterable[str] = (),
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> WordCounts:
        """Counts the words of a corpus.

        Args:
            data: Texts or files, as `BPETrainer.train` takes them.
            pattern: How text is cut, by name or as an expression; `"gpt4"` if nothing is given.
            normalizer: What happens to text first.
            pre_tokenizer: How text is cut, instead of `pattern`.
            special_tokens: No word spans one of these.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
        """
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how text is cut; give one")
        if pre_tokenizer is None:
            pre_tokenizer = named_pre_tokenizer("gpt4" if pattern is None else pattern)
        counter = _core.WordCounter(first_stages(normalizer, pre_tokenizer, tuple(special_tokens)))
        count(counter, data, field=field, errors=errors, watch=watch)
        return cls._of(counter.finish())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """Counts that `save` wrote.

        Raises:
            MissingFileError: There is no such file.
            FormatError: The file holds something else.
        """
        return cls._of(_core.WordCounts.load(os.fspath(path)))

    @classmethod
    def _of(cls, core: _core.WordCounts) -> WordCounts:
        counts = cls.__new__(cls)
        counts.core = core
        return counts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the counts to a file, whole or not at all.

        Raises:
            FileError: The file cannot be written.
        """
        self.core.save(os.fspath(path))

    def merged(self, other: WordCounts) -> WordCounts:
        """The counts of both corpora, those of `other` met later."""
        return self._of(self.core.merged(other.core))

    def at_least(self, count: int) -> WordCounts:
        """The words that occur at least `count` times."""
        return self._of(self.core.at_least(count))

    def items(self) -> list[tuple[str, int]]:
        """Words and their counts."""
        return self.core.items()

    @property
    def total(self) -> int:
        """How many words the corpus has, each occurrence counted."""
        return self.core.total()

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return f"<WordCounts of {len(self):,} words>"


Corpus: TypeAlias = (
    "str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]] | WordCounts"
)
"""What may be trained from."""


def first_stages(
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    special_tokens: Iterable[str],
) -> str:
    """The stages before the model, in the shape of a `tokenizer.json`."""
    for name, component, stage in (
        ("normalizer", normalizer, normalizers.Normalizer),
        ("pre_tokenizer", pre_tokenizer, pre_tokenizers.PreTokenizer),
    ):
        if component is not None and not isinstance(component, stage):
            raise ArgumentTypeError(
                f"{name} must be one of jeton.components.{name}s, not {type(component).__name__}"
            )
    return json.dumps(
        {
            "added_tokens": [
                {
                    "id": id,
                    "content": token,
                    "special": True,
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                }
                for id, token in enumerate(special_tokens)
            ],
            "normalizer": normalizer and normalizer.to_dict(),
            "pre_tokenizer": pre_tokenizer and pre_tokenizer.to_dict(),
        }
    )


def named_pre_tokenizer(pattern: str) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of a pattern: of its name, or of an expression in tiktoken's dialect."""
    if not isinstance(pattern, str):
        raise ArgumentTypeError(f"pattern must be a str, not {type(pattern).__name__}")
    stages = json.loads(_core.pattern_pre_tokenizer(pattern))
    component: pre_tokenizers.PreTokenizer = _base.read_stored(
        "pre_tokenizer", stages["pre_tokenizer"]
    )
    return component
