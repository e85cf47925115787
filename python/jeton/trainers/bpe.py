"""Trains byte pair encodings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import jeton._core as _core
from jeton.arguments import check_kind, check_text, checked_characters, checked_int, names_checked
from jeton.components import (
    AddedToken,
    decoders,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.components.component import check_stage
from jeton.corpus import Progress
from jeton.counting import MAX_WORD_LENGTH, TOKEN_NEEDS, Needs, Reading
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.tokenizer import Tokenizer
from jeton.trainers.start import Start, numbered
from jeton.trainers.trainer import WordTrainer, told, warn_if_short
from jeton.word_counts import Corpus, WordCounts

__all__ = ["BPETrainer"]


def _marks_in_front(scheme: Literal["always", "first"]) -> pre_tokenizers.Sequence:
    """What puts a `▁` in front of each stretch between special tokens, or of the text alone.

    Spaces of the text are written `▁` before, so none is taken for the one in front.
    """
    space = pre_tokenizers.Metaspace(" ", prepend_scheme=scheme, split=False)
    return pre_tokenizers.Sequence(
        [space, pre_tokenizers.Metaspace("▁", prepend_scheme="never", split=False)]
    )


class BPETrainer(WordTrainer):
    r"""Trains byte pair encodings: the most frequent pair of neighbours becomes a token, and again.

    Args:
        vocab_size: How many tokens there are in the end, special ones and alphabet included; or
            several such sizes, for `train_all`. 30,000 by default.
        new_tokens: How many tokens more there are in the end than `start_from` has, instead of
            `vocab_size`; new special tokens and characters are among them.
        pattern: How text is cut into words, which no merge crosses: the name of a known pattern
            (`"gpt2"`, `"gpt4"`, `"gpt4o"`, `"llama3"`, `"qwen2"`, `"whitespace"`, `"none"`, …), or
            an expression in tiktoken's dialect whose matches are the words.
        normalizer: What happens to text first.
        pre_tokenizer: How text is cut, where a pattern cannot say it; instead of `pattern`.
        post_processor: The special tokens around a text, for the tokenizer that comes out.
        decoder: From tokens back to text, likewise; by default the one that fits.
        special_tokens: Special tokens; they have the first ids (but see `byte_order`), and no word
            spans one. With SentencePiece's alphabet by default its own: `<unk>`, `<s>` and `</s>`.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: A token that is merged has at most one byte (or character, as the alphabet
            has it) less than this, so that it is tokenizers' limit; but two always make a token.
        alphabet: What a word is before the first merge: its `"bytes"`, all 256 of which are in the
            vocabulary, or its `"characters"`. `"sentencepiece"`: characters, as SentencePiece has
            them: a word begins with `▁` for the space before it, and what is not in the alphabet
            becomes bytes, as `<0x0A>`; the tokenizer can be saved as `.model`. By default bytes,
            or as `start_from` has it. An alphabet of characters that is larger than `vocab_size` is
            kept whole, with a warning, and nothing is merged.
        byte_order: Which ids bytes have: those that tokenizers gives them, behind the special
            tokens, `!` first (`"printable"`, the default); or 0 to 255 by `"value"`, as minbpe and
            rustbpe have them, special tokens behind all others. By value, the merges are minbpe's
            with `tie_break="first"` and rustbpe's with `tie_break="huggingface"`, as long as no two
            merges make one token, for which those have an id each.
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
        start_from: Merges that come first: a tokenizer, whose tokens keep their ids and whose
            stages are kept where none are given here, or a list of merges, whose tokens come after
            the alphabet. New ids come after the largest.
        max_word_length: A word of more characters is cut, between characters, into words of so
            many and a rest; a warning says how often. `None`: none is.
        min_word_count: Words that occur less often are left out; a warning says how many.

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

    _algorithm = "bpe"

    @names_checked
    def __init__(
        self,
        vocab_size: int | Sequence[int] | None = None,
        *,
        new_tokens: int | Sequence[int] | None = None,
        pattern: str | None = None,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: Iterable[str] | None = None,
        min_frequency: int = 0,
        max_token_length: int | None = None,
        alphabet: Literal["bytes", "characters", "sentencepiece"] | None = None,
        byte_order: Literal["printable", "value"] | None = None,
        initial_alphabet: Iterable[str] = (),
        limit_alphabet: int | None = None,
        character_coverage: float | None = None,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        separate_suffix: bool = False,
        tie_break: Literal["huggingface", "lexicographic", "alphabetic", "first"] = "huggingface",
        start_from: Tokenizer | Iterable[tuple[bytes | str, bytes | str]] | None = None,
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
    ) -> None:
        for name, word in {"alphabet": alphabet, "byte_order": byte_order}.items():
            if word is not None:
                check_kind(name, word, str, "a str")
        check_kind("separate_suffix", separate_suffix, bool, "a bool")
        self.start = Start.of(start_from)
        self.vocab_sizes = self._sizes(vocab_size, new_tokens)
        known = self.start.options
        own = {
            "unk_token": unk_token,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
        }
        for name, text in own.items():
            if text is not None and not check_text(name, text):
                raise ArgumentError(f"{name} is empty; leave it out, or give a text")
        check_stage(normalizers.Normalizer, normalizer)
        affixes = {name: own[name] or known.get(name) for name in _AFFIXES}
        separate_suffix = separate_suffix or known.get("separate_suffix", False)
        if known:
            _check_kept({**affixes, "separate_suffix": separate_suffix}, known)
        if byte_order is not None and known:
            raise ArgumentError("byte_order: start_from has its bytes already, and keeps their ids")
        if alphabet is None:
            alphabet = known.get("alphabet", "bytes")
        sentencepiece = alphabet == "sentencepiece"
        if sentencepiece:
            if pattern is not None or pre_tokenizer is not None:
                raise ArgumentError(
                    "alphabet='sentencepiece' cuts text at spaces; leave out pattern and "
                    "pre_tokenizer"
                )
            if self.start.tokenizer is None or normalizer is not None:
                steps = [normalizer] if normalizer else []
                normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
            if self.start.tokenizer is None:
                pre_tokenizer = _marks_in_front("first")
            unk_token = unk_token or known.get("unk_token", "<unk>")
            if special_tokens is None and self.start.tokenizer is None:
                special_tokens = dict.fromkeys([unk_token, "<s>", "</s>"])
        if self.start.tokenizer is not None:
            if pattern is None and pre_tokenizer is None:
                pre_tokenizer = self.start.tokenizer.pre_tokenizer
            normalizer = normalizer or self.start.tokenizer.normalizer
            post_processor = post_processor or self.start.tokenizer.post_processor
            decoder = decoder or self.start.tokenizer.decoder
        super().__init__(
            {
                "vocab_size": max(self.vocab_sizes),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": "characters" if sentencepiece else alphabet,
                "byte_order": byte_order or "printable",
                "sentencepiece": sentencepiece,
                "initial_alphabet": checked_characters("initial_alphabet", initial_alphabet),
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token or known.get("unk_token"),
                **affixes,
                "separate_suffix": separate_suffix,
                "tie_break": tie_break,
                "start": self.start.parameter,
            },
            pattern=pattern,
            default_pattern=None if sentencepiece or self.start.tokenizer else "gpt4",
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=() if special_tokens is None else special_tokens,
            max_word_length=max_word_length,
            min_word_count=min_word_count,
        )
        _core.check_trainer("bpe", {**self.parameters, "vocab_size": min(self.vocab_sizes)})
        if self.decoder is None:
            self._check_decodable()

    @names_checked
    def train_all(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        documents: Literal["file", "line"] = "file",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> dict[int, Tokenizer]:
        """The tokenizers of all sizes, by size, from one run; each is what training for it gives.

        Args:
            data: As for `train`.
            field: As for `train`.
            errors: As for `train`.
            documents: As for `train`.
            memory: As for `train`.
            temp_dir: As for `train`.
            watch: As for `train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A corpus without words; a size that does not hold the tokens to start
                from.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer([257, 258], pattern="whitespace")
            >>> {size: tok.merges for size, tok in trainer.train_all(["hello hello help"]).items()}
            {257: [(b'e', b'l')], 258: [(b'e', b'l'), (b'h', b'el')]}
        """
        reading = Reading(
            field=field,
            errors=errors,
            documents=documents,
            memory=memory,
            temp_dir=temp_dir,
            watch=watch,
        )
        counts = self._counts(data, reading)
        self._check_words(counts)
        sizes = self.vocab_sizes
        trained = _core.train_sizes(counts, self.parameters, list(sizes), told(watch))
        tokenizers = {
            size: self._tokenizer(model) for size, model in zip(sizes, trained, strict=True)
        }
        smallest, largest = sizes[0], sizes[-1]
        warn_if_short(largest, tokenizers[largest], self._lacking)
        if tokenizers[smallest].vocab_size > smallest < largest:
            warn_if_short(smallest, tokenizers[smallest], self._lacking)
        return tokenizers

    def _sizes(
        self, vocab_size: int | Sequence[int] | None, new_tokens: int | Sequence[int] | None
    ) -> tuple[int, ...]:
        """How many tokens there are in the end."""
        if new_tokens is None:
            return _sizes("vocab_size", 30_000 if vocab_size is None else vocab_size)
        if vocab_size is not None:
            raise ArgumentError("vocab_size and new_tokens both say how many tokens; give one")
        if self.start.tokenizer is None:
            raise ArgumentError(
                "new_tokens counts from the tokens of a tokenizer (give start_from, or vocab_size)"
            )
        there = self.start.tokenizer.vocab_size
        return tuple(there + size for size in _sizes("new_tokens", new_tokens))

    def _essentials(self) -> dict[str, Any]:
        sizes = self.vocab_sizes
        return {**super()._essentials(), "vocab_size": sizes[0] if len(sizes) == 1 else [*sizes]}

    def _needs(self) -> Needs:
        return TOKEN_NEEDS * sum(self.vocab_sizes), 64, 32

    def _check_decodable(self) -> None:
        """A prefix or suffix tells where words part only if the spaces there are no words' part."""
        name = next((name for name in reversed(_AFFIXES) if self.parameters[name]), None)
        if name is None:
            return
        if self.parameters["alphabet"] == "bytes":
            raise ArgumentError(
                f"{name} does not go with this alphabet, whose decoder would leave it in the text; "
                "use alphabet='characters' with pattern='whitespace'"
            )
        if self.pre_tokenizer is None:
            return
        counts = WordCounts.count(iter(["a b"]), pre_tokenizer=self.pre_tokenizer)
        if {word for word, _ in counts.items()} not in ({"a", "b"}, {"a b"}):
            raise ArgumentError(
                f"{name} does not go with a pattern or pre_tokenizer that keeps the spaces between "
                "words: they would come twice in decoded text; use pattern='whitespace', or give "
                "the decoder"
            )

    def _cutter(self) -> pre_tokenizers.PreTokenizer | None:
        if not self.parameters["sentencepiece"]:
            return self.pre_tokenizer
        # The tokenizer cuts nothing: since no word that it is trained from spans a space or the end
        # of a line, no merge does.
        lines = pre_tokenizers.Split("\n", behavior="removed")
        words = pre_tokenizers.Split("▁", behavior="merged_with_next")
        steps = getattr(self.normalizer, "steps", (self.normalizer,))
        if any(isinstance(step, normalizers.Prepend) for step in steps):
            return pre_tokenizers.Sequence([lines, words])
        return pre_tokenizers.Sequence([_marks_in_front("always"), lines, words])

    def _boundaries(self) -> tuple[str, ...]:
        given = [token.content for token in self.start.added_tokens]
        if self.parameters["sentencepiece"]:
            given.append(self.parameters["unk_token"])
        return tuple(dict.fromkeys([*given, *self.special_tokens]))

    def _special_ids(self) -> dict[str, int]:
        is_first = self.start.tokenizer is None and self.parameters["byte_order"] != "value"
        return super()._special_ids() if is_first else {}

    def _added_tokens(self, model: _core.Model) -> list[AddedToken]:
        if self.parameters["byte_order"] == "value":
            return numbered(self.special_tokens, model.vocab(), is_raw=True)
        unknown = self.parameters["unk_token"] if self.parameters["sentencepiece"] else None
        added = self.start.with_ids(self.special_tokens)
        return [token for token in added if token.content != unknown]

    def _decoder(self) -> decoders.Decoder:
        if self.parameters["sentencepiece"]:
            return decoders.Sequence(
                [
                    decoders.Replace("▁", " "),
                    decoders.ByteFallback(),
                    decoders.Fuse(),
                    decoders.Strip(" ", start=1),
                ]
            )
        if self.parameters["alphabet"] == "bytes" or _spells_bytes(self.pre_tokenizer):
            return decoders.ByteLevel()
        if self.parameters["end_of_word_suffix"]:
            return decoders.BPEDecoder(self.parameters["end_of_word_suffix"])
        if self.parameters["continuing_subword_prefix"]:
            return decoders.WordPiece(self.parameters["continuing_subword_prefix"], cleanup=False)
        return decoders.Fuse()


_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")


def _spells_bytes(stage: pre_tokenizers.PreTokenizer | None) -> bool:
    """Whether a pre-tokenizer writes bytes as characters, for a model that does not see bytes."""
    if isinstance(stage, pre_tokenizers.Sequence):
        return any(map(_spells_bytes, stage.steps))
    return isinstance(stage, pre_tokenizers.ByteLevel)


def _check_kept(affixes: dict[str, Any], known: dict[str, Any]) -> None:
    """Tokens that training starts from are spelled with the prefix and suffix that they have."""
    for name, value in affixes.items():
        if (value or None) != (known[name] or None):
            raise ArgumentError(
                f"{name}={value!r} is not what start_from has ({known[name]!r}), and would change "
                "its merges; leave it out"
            )


def _sizes(name: str, given: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(given, (list, tuple, range)):
        if not given:
            raise ArgumentError(f"{name} holds no sizes; give at least one")
        return tuple(sorted({checked_int(f"each of {name}", size, 0) for size in given}))
    try:
        return (checked_int(name, given, 0),)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"{name} must be an int or a list of int, not {type(given).__name__}"
        ) from None
