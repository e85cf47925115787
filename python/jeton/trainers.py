"""Trainers: from text to a tokenizer. Parameters go to the constructor, data to `train`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Literal

from jeton import _core
from jeton.components import (
    AddedToken,
    _base,
    decoders,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.corpus import batches, texts_of, texts_or_text
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, UnsupportedError
from jeton.tokenizer import Tokenizer

__all__ = ["BPETrainer", "CharTrainer"]


class BPETrainer:
    r"""Trains byte pair encodings: the most frequent pair of neighbours becomes a token, and again.

    Args:
        vocab_size: How many tokens there are in the end, special ones and alphabet included.
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
        vocab_size: int = 30_000,
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
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        separate_suffix: bool = False,
        tie_break: Literal["huggingface", "lexicographic", "alphabetic", "first"] = "huggingface",
    ) -> None:
        self.special_tokens = _special_tokens(special_tokens)
        self.parameters: dict[str, Any] = {
            "vocab_size": vocab_size,
            "min_frequency": min_frequency,
            "max_token_length": max_token_length,
            "alphabet": alphabet,
            "initial_alphabet": list(initial_alphabet),
            "limit_alphabet": limit_alphabet,
            "special_tokens": list(self.special_tokens),
            "unk_token": unk_token,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
            "separate_suffix": separate_suffix,
            "tie_break": tie_break,
        }
        _core.check_bpe_training(self.parameters)
        if pattern is not None and pre_tokenizer is not None:
            raise ArgumentError("pattern and pre_tokenizer both say how text is cut; give one")
        self.normalizer = normalizer
        self.pre_tokenizer = (
            _pre_tokenizer("gpt4" if pattern is None else pattern)
            if pre_tokenizer is None
            else pre_tokenizer
        )
        self.post_processor = post_processor
        self.decoder = decoder
        self._first_stages()

    def train(self, data: str | os.PathLike[str] | Iterable[str]) -> Tokenizer:
        """The tokenizer that a corpus asks for.

        The result depends on the corpus alone, not on the number of threads.

        Args:
            data: An iterable of texts; or the path of a file of UTF-8, of a folder of such files,
                or a pattern of paths such as `"corpus/*.txt"`. A file is taken line by line.

        Raises:
            MissingFileError: There is no such file.
            TrainingError: A `vocab_size` that does not hold the special tokens and the alphabet.
        """
        counter = _core.WordCounter(self._first_stages())
        for batch in batches(texts_of(data)):
            counter.count(batch)
        model = models.from_core(counter.finish().train_bpe(self.parameters))
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

    def _first_stages(self) -> str:
        """The stages before the model, in the shape of a `tokenizer.json`."""
        for name, component, stage in (
            ("normalizer", self.normalizer, normalizers.Normalizer),
            ("pre_tokenizer", self.pre_tokenizer, pre_tokenizers.PreTokenizer),
            ("post_processor", self.post_processor, post_processors.PostProcessor),
            ("decoder", self.decoder, decoders.Decoder),
        ):
            if component is not None and not isinstance(component, stage):
                raise ArgumentTypeError(
                    f"{name} must be one of jeton.components.{name}s, "
                    f"not {type(component).__name__}"
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
                    for id, token in enumerate(self.special_tokens)
                ],
                "normalizer": self.normalizer and self.normalizer.to_dict(),
                "pre_tokenizer": self.pre_tokenizer and self.pre_tokenizer.to_dict(),
            }
        )

    def _decoder(self) -> decoders.Decoder:
        if self.parameters["alphabet"] == "bytes":
            return decoders.ByteLevel()
        if self.parameters["end_of_word_suffix"]:
            return decoders.BPEDecoder(self.parameters["end_of_word_suffix"])
        if self.parameters["continuing_subword_prefix"]:
            return decoders.WordPiece(self.parameters["continuing_subword_prefix"], cleanup=False)
        return decoders.Fuse()

    def __repr__(self) -> str:
        return f"BPETrainer(vocab_size={self.parameters['vocab_size']})"


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


def _pre_tokenizer(pattern: str) -> pre_tokenizers.PreTokenizer:
    if not isinstance(pattern, str):
        raise ArgumentTypeError(f"pattern must be a str, not {type(pattern).__name__}")
    stages = json.loads(_core.pattern_pre_tokenizer(pattern))
    component: pre_tokenizers.PreTokenizer = _base.read_stored(
        "pre_tokenizer", stages["pre_tokenizer"]
    )
    return component
