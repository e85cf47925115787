"""Trainers: from text to a tokenizer. Parameters go to the constructor, data to `train`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from jeton import _core
from jeton.components import (
    AddedToken,
    decoders,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.corpus import Progress, count, merging, texts_or_text
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, UnsupportedError
from jeton.tokenizer import Tokenizer
from jeton.word_counts import Corpus, WordCounts, first_stages, named_pre_tokenizer

__all__ = ["BPETrainer", "CharTrainer", "WordPieceTrainer"]


class _WordTrainer:
    """What trainers from words share: the stages around the model, and counting."""

    def __init__(
        self,
        parameters: dict[str, Any],
        *,
        pattern: str | None,
        default_pattern: str | None,
        normalizer: normalizers.Normalizer | None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None,
        post_processor: post_processors.PostProcessor | None,
        decoder: decoders.Decoder | None,
        special_tokens: Iterable[str],
    ) -> None:
        self.special_tokens = _special_tokens(special_tokens)
        self.parameters = {**parameters, "special_tokens": list(self.special_tokens)}
        _core.check_bpe_training(self.parameters)
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how text is cut; give one")
        if pattern is None and pre_tokenizer is None:
            pattern = default_pattern
        self.normalizer = normalizer
        self.pre_tokenizer = pre_tokenizer if pattern is None else named_pre_tokenizer(pattern)
        self.post_processor = post_processor
        self.decoder = decoder
        self._first_stages()

    def _first_stages(self) -> str:
        for name, component, stage in (
            ("post_processor", self.post_processor, post_processors.PostProcessor),
            ("decoder", self.decoder, decoders.Decoder),
        ):
            if component is not None and not isinstance(component, stage):
                raise ArgumentTypeError(
                    f"{name} must be one of jeton.components.{name}s, "
                    f"not {type(component).__name__}"
                )
        return first_stages(self.normalizer, self.pre_tokenizer, self.special_tokens)

    def _counts(
        self,
        data: Corpus,
        field: str | None,
        errors: str,
        watch: Callable[[Progress], None] | None,
    ) -> _core.WordCounts:
        if isinstance(data, WordCounts):
            return data.core
        counter = _core.WordCounter(self._first_stages())
        count(counter, data, field=field, errors=errors, watch=watch)
        return counter.finish()

    def _tokenizer(self, model: models.Model) -> Tokenizer:
        tokens = [
            AddedToken(token, id, special=True) for id, token in enumerate(self.special_tokens)
        ]
        tokenizer = Tokenizer(
            model,
            normalizer=self.normalizer,
            pre_tokenizer=self.pre_tokenizer,
            post_processor=self.post_processor,
            decoder=self._decoder() if self.decoder is None else self.decoder,
            added_tokens=tokens,
        )
        return _as_stored(tokenizer)

    def _decoder(self) -> decoders.Decoder:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vocab_size={self.parameters['vocab_size']})"


class BPETrainer(_WordTrainer):
    r"""Trains byte pair encodings: the most frequent pair of neighbours becomes a token, and again.

    Args:
        vocab_size: How many tokens there are in the end, special ones and alphabet included; or
            several such sizes, for `train_all`.
        pattern: How text is cut into words, which no merge crosses: the name of a known pattern
            (`"gpt2"`, `"gpt4"`, `"gpt4o"`, `"llama3"`, `"qwen2"`, `"whitespace"`, `"none"`, …), or
            an expression in tiktoken's dialect whose matches are the words.
        normalizer: What happens to text first.
        pre_tokenizer: How text is cut, where a pattern cannot say it; instead of `pattern`.
        post_processor: The special tokens around a text, for the tokenizer that comes out.
        decoder: From tokens back to text, likewise; by default the one that fits.
        special_tokens: Special tokens; they have the first ids, and no word spans one.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: Two tokens are merged only if they have fewer bytes (or characters, as
            the alphabet has it) than this together.
        alphabet: What a word is before the first merge: its `"bytes"`, all 256 of which are in the
            vocabulary, or its `"characters"`.
        initial_alphabet: Characters that are in the alphabet though the corpus may lack them.
        limit_alphabet: How many characters the alphabet may have; the rarest are dropped.
        character_coverage: What share of the corpus's characters the alphabet shall make up, as
            `0.9995`; the rarest beyond that are dropped.
        unk_token: What stands for a character outside the alphabet; one of `special_tokens`.
        continuing_subword_prefix: Put before each character but the first of a word, as `"##"`.
        end_of_word_suffix: Put after the last character of a word, as `"</w>"`.
        separate_suffix: The suffix is a symbol of its own, not a part of the last character.
        tie_break: Which of equally frequent pairs is merged first: that with the smallest left,
            then right id (`"huggingface"`); the greatest (`"lexicographic"`) or smallest
            (`"alphabetic"`) pair of byte strings; the one met `"first"`.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

    Example:
        >>> import jeton
        >>> trainer = jeton.BPETrainer(
        ...     vocab_size=12, pattern="whitespace", alphabet="characters", tie_break="first"
        ... )
        >>> tok = trainer.train(["a refrain from rain in a train"])
        >>> tok.merges
        [(b'i', b'n'), (b'r', b'a'), (b'ra', b'in')]
    """

    def __init__(
        self,
        vocab_size: int | Sequence[int] = 30_000,
        *,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: Iterable[str] = (),
        min_frequency: int = 0,
        max_token_length: int | None = None,
        alphabet: Literal["bytes", "characters"] = "bytes",
        initial_alphabet: Iterable[str] = (),
        limit_alphabet: int | None = None,
        character_coverage: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        separate_suffix: bool = False,
        tie_break: Literal["huggingface", "lexicographic", "alphabetic", "first"] = "huggingface",
    ) -> None:
        self.vocab_sizes = _sizes(vocab_size)
        super().__init__(
            {
                "vocab_size": max(self.vocab_sizes),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": alphabet,
                "initial_alphabet": list(initial_alphabet),
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token,
                "continuing_subword_prefix": continuing_subword_prefix,
                "end_of_word_suffix": end_of_word_suffix,
                "separate_suffix": separate_suffix,
                "tie_break": tie_break,
            },
            pattern=pattern,
            default_pattern="gpt4",
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=special_tokens,
        )

    def train(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """The tokenizer that a corpus asks for; of several sizes, the largest.

        The result depends on the corpus alone, not on the number of threads.

        Args:
            data: An iterable of texts; or the path of a file of UTF-8, of a folder of such files,
                or a pattern of paths such as `"corpus/*.txt"`; or a list of `pathlib.Path`; or
                `WordCounts`. A file is taken line by line. Files may be compressed by gzip or
                Zstandard; `.jsonl` and `.ndjson` are JSON lines, `.parquet` is a table.
            field: The field of JSON lines, or the column of a table, that holds the text; `"text"`
                if not given. Given, every file that is no table is taken to be JSON lines.
            errors: What becomes of bytes that are not UTF-8: an error, U+FFFD, or nothing.
            watch: Called every now and then with how far the work has come.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A `vocab_size` that does not hold the special tokens and the alphabet.
        """
        largest = max(self.vocab_sizes)
        return self._train([largest], data, field, errors, watch)[largest]

    def train_all(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> dict[int, Tokenizer]:
        """The tokenizers of all sizes, by size, from one run; each is what training for it gives.

        Args:
            data: As for `train`.
            field: As for `train`.
            errors: As for `train`.
            watch: As for `train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A size that does not hold the special tokens and the alphabet.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer([257, 258], pattern="whitespace")
            >>> {size: tok.merges for size, tok in trainer.train_all(["hello hello help"]).items()}
            {257: [(b'e', b'l')], 258: [(b'e', b'l'), (b'h', b'el')]}
        """
        return self._train(self.vocab_sizes, data, field, errors, watch)

    def _train(
        self,
        sizes: Sequence[int],
        data: Corpus,
        field: str | None,
        errors: str,
        watch: Callable[[Progress], None] | None,
    ) -> dict[int, Tokenizer]:
        counts = self._counts(data, field, errors, watch)
        trained = counts.train_bpe(self.parameters, list(sizes), merging(watch))
        return {
            size: self._tokenizer(models.from_core(model))
            for size, model in zip(sizes, trained, strict=True)
        }

    def _decoder(self) -> decoders.Decoder:
        if self.parameters["alphabet"] == "bytes":
            return decoders.ByteLevel()
        if self.parameters["end_of_word_suffix"]:
            return decoders.BPEDecoder(self.parameters["end_of_word_suffix"])
        if self.parameters["continuing_subword_prefix"]:
            return decoders.WordPiece(self.parameters["continuing_subword_prefix"], cleanup=False)
        return decoders.Fuse()


class WordPieceTrainer(_WordTrainer):
    """Trains WordPiece as it was released: the most frequent pair of neighbours becomes a token.

    Args:
        vocab_size: How many tokens there are in the end, special ones and alphabet included.
        normalizer: What happens to text first; `None` for BERT's.
        pre_tokenizer: How text is cut; `None` for BERT's.
        post_processor: The special tokens around a text, for the tokenizer that comes out.
        decoder: From tokens back to text, likewise; by default the one that fits.
        special_tokens: Special tokens; they have the first ids, and no word spans one.
        unk_token: What stands for a word that no tokens make up; one of `special_tokens`.
        continuing_subword_prefix: Put before each token but the first of a word.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: Two tokens are merged only if they have fewer characters than this
            together.
        initial_alphabet: Characters that are in the alphabet though the corpus may lack them.
        limit_alphabet: How many characters the alphabet may have; the rarest are dropped.
        character_coverage: What share of the corpus's characters the alphabet shall make up.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

    Example:
        >>> import jeton
        >>> tok = jeton.WordPieceTrainer(30).train(["unwanted, undone and undoing"] * 2)
        >>> [tok.id_to_bytes(id) for id in tok.encode("undone")]
        [b'undo', b'##n', b'##e']
    """

    def __init__(
        self,
        vocab_size: int = 30_000,
        *,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: Iterable[str] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        unk_token: str = "[UNK]",
        continuing_subword_prefix: str = "##",
        min_frequency: int = 0,
        max_token_length: int | None = None,
        initial_alphabet: Iterable[str] = (),
        limit_alphabet: int | None = None,
        character_coverage: float | None = None,
    ) -> None:
        super().__init__(
            {
                "vocab_size": vocab_size,
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": "characters",
                "initial_alphabet": list(initial_alphabet),
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token,
                "continuing_subword_prefix": continuing_subword_prefix,
                "end_of_word_suffix": None,
                "separate_suffix": False,
                "tie_break": "huggingface",
            },
            pattern=None,
            default_pattern=None,
            normalizer=normalizers.BertNormalizer() if normalizer is None else normalizer,
            pre_tokenizer=(
                pre_tokenizers.BertPreTokenizer() if pre_tokenizer is None else pre_tokenizer
            ),
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=special_tokens,
        )

    def train(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """The tokenizer that a corpus asks for.

        Args:
            data: As for `BPETrainer.train`.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A `vocab_size` that does not hold the special tokens and the alphabet.
        """
        counts = self._counts(data, field, errors, watch)
        model = counts.train_wordpiece(self.parameters, merging(watch))
        return self._tokenizer(models.from_core(model))

    def _decoder(self) -> decoders.Decoder:
        return decoders.WordPiece(self.parameters["continuing_subword_prefix"])


class CharTrainer:
    """Trains a tokenizer with one token a character.

    The alphabet is the distinct characters of the training text, in the order of code points. It
    is closed: a character that was not seen is an error that names it and its place. With
    `unk_token` it is open: that token has id 0, and stands for every character that was not seen.

    Args:
        unk_token: What stands for unseen characters; `None` for a closed alphabet.
        special_tokens: Special tokens; their ids come after the characters'.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("hello world")
        >>> tok.encode("hold")
        [3, 5, 4, 1]
        >>> tok.encode("help!")
        Traceback (most recent call last):
        ...
        jeton.errors.EncodeError: ...
        >>> tok = jeton.CharTrainer(unk_token="<UNK>").train("hello world")
        >>> tok.encode("help!")
        [4, 3, 5, 0, 0]
    """

    def __init__(self, *, unk_token: str | None = None, special_tokens: Iterable[str] = ()) -> None:
        if unk_token is not None and not isinstance(unk_token, str):
            raise ArgumentTypeError(
                f"unk_token must be a str or None, not {type(unk_token).__name__}"
            )
        self.unk_token = unk_token
        self.special_tokens = _special_tokens(special_tokens)
        if unk_token == "" or "" in self.special_tokens:
            raise ArgumentError("a token must not be empty")

    def train(self, data: str | os.PathLike[str] | Iterable[str]) -> Tokenizer:
        """The tokenizer of the characters of a text.

        Args:
            data: The text itself, or an iterable of texts; or the path of a file of UTF-8, as a
                `pathlib.Path`.

        Raises:
            ArgumentError: A `str` that is the path of a file: say which you mean.
            MissingFileError: There is no such file.
            TrainingError: No characters at all, and no `unk_token`.
        """
        characters: set[str] = set()
        for text in texts_or_text(data):
            characters.update(text)
        if not characters and self.unk_token is None:
            raise TrainingError("the text has no characters, and a closed alphabet needs one")
        unseen = () if self.unk_token is None else (self.unk_token,)
        alphabet = [*unseen, *sorted(characters)]
        model = models.Characters(
            {token: id for id, token in enumerate(alphabet)},
            unk_id=None if self.unk_token is None else 0,
        )
        return Tokenizer(
            model,
            decoder=decoders.Fuse(),
            added_tokens=[AddedToken(token, special=True) for token in self.special_tokens],
        )

    def __repr__(self) -> str:
        return f"CharTrainer(unk_token={self.unk_token!r}, special_tokens={self.special_tokens!r})"


def _as_stored(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer as its own file format spells it, so that one saved and loaded equals it."""
    try:
        return Tokenizer.from_json(tokenizer.to_json())
    except UnsupportedError:
        return tokenizer


def _special_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise ArgumentTypeError(
            f"special_tokens must be an iterable of str, not {type(tokens).__name__}"
        )
    listed = tuple(tokens)
    for token in listed:
        if not isinstance(token, str):
            raise ArgumentTypeError(
                f"each of special_tokens must be a str, not {type(token).__name__}"
            )
    return listed


def _sizes(vocab_size: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(vocab_size, int):
        return (vocab_size,)
    if isinstance(vocab_size, (list, tuple, range)) and all(
        isinstance(size, int) for size in vocab_size
    ):
        if not vocab_size:
            raise ArgumentError("vocab_size holds no sizes; give at least one")
        return tuple(sorted(set(vocab_size)))
    raise ArgumentTypeError(
        f"vocab_size must be an int or a list of int, not {type(vocab_size).__name__}"
    )
