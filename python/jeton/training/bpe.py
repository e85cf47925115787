"""Trains byte pair encodings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_kind, check_text, checked_characters, checked_int, names_checked
from jeton.components import (
    AddedToken,
    decoders,
    models,
    normalizers,
    post_processors,
    pre_tokenizers,
)
from jeton.components.component import check_stage, steps_of
from jeton.corpora.counting import MAX_WORD_LENGTH, TOKEN_NEEDS, Counting, Needs, Reading
from jeton.corpora.progress import Progress
from jeton.corpora.word_counts import Corpus, WordCounts
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.tokenizer import Tokenizer
from jeton.training.known_tokens import SpecialTokens, checked_tokens
from jeton.training.languages import Balance, Corpora, Languages, refuse_languages
from jeton.training.sentencepiece import piece_counting, piece_parameters, piece_tokenizer
from jeton.training.start import Start, numbered
from jeton.training.superwords import Joining, SuperwordKind, Superwords, check_readable_again
from jeton.training.trainer import Algorithm, WordTrainer, core_watch, warn_if_short

TieBreak: TypeAlias = Literal[
    "huggingface", "lexicographic", "alphabetic", "spelling", "first", "sentencepiece"
]


class BPETrainer(WordTrainer):
    r"""Trains byte pair encodings: it merges the most frequent pair of neighbours, repeatedly.

    Args:
        vocab_size: The size of the vocabulary, including special tokens and alphabet; or several
            sizes, for `train_all`. 30,000 by default.
        new_tokens: How many tokens to add to those of `start_from`, instead of `vocab_size`;
            includes new special tokens and characters.
        pattern: How text is split into words, which no merge crosses: the name of a known pattern
            (`"gpt2"`, `"gpt4"`, `"gpt4o"`, `"llama3"`, `"qwen2"`, `"whitespace"`, `"none"`, …), or
            a regular expression in tiktoken's dialect whose matches are the words; or a list of
            several, which split in order (`jeton.patterns()["deepseek_v3"].expressions`).
        normalizer: Changes the text first. With SentencePiece's alphabet one of its rules, by name
            or as a `Precompiled` map, as for `UnigramTrainer`: by default `"nmt_nfkc"`.
        pre_tokenizer: Splits the text, if a pattern is not enough; instead of `pattern`.
        post_processor: The post-processor of the trained tokenizer.
        decoder: The decoder of the trained tokenizer; by default the one that fits.
        special_tokens: Special tokens; they have the first ids (but see `byte_order`), and no word
            contains one. An `AddedToken` that is not special, such as `jeton.AddedToken("~ing")`,
            is known before training too, and always found in text. With SentencePiece's alphabet
            they are added to its own special tokens, on the first free ids.
        user_defined_symbols: Texts that always become a token of their own, which is not special;
            their ids come after those of special tokens.
        min_frequency: A pair less frequent than this is not merged.
        max_token_length: The maximum length of a merged token in bytes (or characters, depending on
            the alphabet); with SentencePiece's alphabet 16 by default. In tokenizers, the option of
            this name means one less.
        alphabet: What a word is split into before the first merge: its `"bytes"`, all 256 of which
            are in the vocabulary, or its `"characters"`. With `"sentencepiece"`, the pieces are
            those that SentencePiece learns, for a `.model` file: they do not cross scripts, numbers
            and spaces, and words begin with `▁` for the space before them. By default bytes, or
            that of `start_from`. If an alphabet of characters is larger than `vocab_size`, it is
            kept as a whole, with a warning, and nothing is merged; for SentencePiece's alphabet
            this is an error.
        byte_order: The ids of bytes: those of tokenizers, after the special tokens, `!` first
            (`"printable"`, the default); or 0 to 255 by `"value"`, as in minbpe and rustbpe, with
            special tokens after all others. By value, the merges are minbpe's with
            `tie_break="first"` and rustbpe's with `tie_break="huggingface"`, unless two merges
            result in the same token, which has two ids there.
        initial_alphabet: Characters of the alphabet, even if the corpus lacks them.
        limit_alphabet: The maximum number of characters in the alphabet; the rarest are dropped.
        character_coverage: The share of the corpus's characters that the alphabet covers, such as
            `0.9995`, the default with SentencePiece's alphabet; the rarest others are dropped.
        unk_token: The token for a character outside of the alphabet; a special token, with id 0
            unless it is in `special_tokens`. With SentencePiece's alphabet by default `"<unk>"`.
        continuing_subword_prefix: A prefix of each character of a word except the first, as `"##"`.
        end_of_word_suffix: A suffix of the last character of a word, as `"</w>"`.
        separate_suffix: Whether the suffix is a separate symbol, not part of the last character.
        tie_break: Which of equally frequent pairs is merged first: the one with the smallest left,
            then right id (`"huggingface"`); the greatest (`"lexicographic"`) or smallest
            (`"alphabetic"`) pair of byte strings; the greatest pair as GPT-2's printable alphabet
            spells bytes (`"spelling"`); the one seen `"first"`; the one with the shortest merged
            token, then the smallest (`"sentencepiece"`). By default Hugging Face's; with
            SentencePiece's alphabet its own; with `languages` by spelling, with `drop_residues`
            always alphabetic, with `superwords` alphabetic. With the last two, `aaa` has `aa` once.
        start_from: Merges that come first: a tokenizer, whose tokens keep their ids and whose
            stages are kept unless others are given, as are its roles and chat template; or a list
            of merges, whose tokens come after the alphabet. New ids come after the largest.
        languages: Fair to languages, each of which `train` takes its own corpus of: the next merge
            is the best one for the language that compresses worst. `"base"`: that which has most
            tokens, in its development text, or else in its corpus. `"window"`: likewise, but a
            language waits if it had more than its part of the last turns. Or a ratio for each
            language, such as `{"en": 1.0, "hi": 2.5}`: that whose number of units (bytes or
            characters) per token, divided by its ratio, is smallest. The merges are those of
            `ParityBpeTrainer` in tokenizers.
        global_merges: With `languages`, how many merges come first that are the best ones for all
            languages together; 0 by default.
        window_size: With `languages="window"` or ratios, how many turns are looked at; 100 by
            default.
        alpha: With `languages="window"` or ratios, how many times its equal part of these turns a
            language may have; 2.0 by default.
        superwords: Learns tokens of several words too, which cross the boundaries of the pattern.
            `"super"`: after the words, as SuperBPE; `"boundless"`: words and superwords compete by
            their counts, as BoundlessBPE. A word may join once it is one token. The corpus is read
            three times or more, always as a whole, so it must be files or a list; its order does
            not matter. A word with a line feed never joins. Superwords are for bytes, and one
            `vocab_size`.
        superword_tokens: With `superwords="super"`, how many tokens of `vocab_size` are superwords;
            a tenth by default.
        max_words_per_token: With `superwords`, the maximum number of words in a token; no limit by
            default.
        joining: With `superwords`, which words may join: those with a letter (`"letters"`, the
            default) or `"all"`, numbers and punctuation too.
        drop_residues: Take out again a token that is left almost only inside of a longer one: after
            each merge, either of its tokens of which this share or more of all occurrences was in
            the merged pair, such as `0.9`. The result is a `PickyBPE` model; the merges and
            deletions are those of BoundlessBPE's program, as are ties. With `superwords`, only
            tokens of words are taken out.
        residues_become: With `drop_residues`, what the other occurrences of such a token become:
            the `"pair"` that it was last merged from, by default, or its `"bytes"`.
        max_word_length: Longer words are split, between characters, into words of this length and
            a rest; a warning says how often. `None`: no limit.
        min_word_count: Words that occur less often are left out; a warning says how many.
        add_dummy_prefix: Whether to put a space in front of each text. This and all options below
            are for SentencePiece's alphabet, and as for `UnigramTrainer`.
        remove_extra_whitespaces: Whether to remove spaces at the ends, and to make runs of spaces
            one.
        split_by_whitespace: Whether pieces must not contain a space in the middle.
        treat_whitespace_as_suffix: Whether spaces end words instead of beginning them.
        allow_whitespace_only_pieces: Whether there may be pieces of several spaces.
        split_by_unicode_script: Whether pieces must not mix scripts; digits and punctuation count
            as a script.
        split_by_number: Whether pieces must not mix digits and letters.
        split_digits: Whether each digit is a separate piece.
        byte_fallback: Whether text that no piece covers becomes `<0xNN>` tokens; their ids come
            next.
        bos_token: The token at the beginning of a text.
        eos_token: The token at the end of a text.
        pad_token: The padding token.
        unk_id: The id of `unk_token`.
        bos_id: The id of `bos_token`; `None` for no such token.
        eos_id: The id of `eos_token`; `None` for no such token.
        pad_id: The id of `pad_token`; `None` for no such token.
        hard_vocab_limit: Whether a corpus that is too small for `vocab_size` is an error; otherwise
            there are fewer tokens.

    Raises:
        ArgumentError: A parameter has an invalid value; the message names it.

    Example:
        >>> import jeton
        >>> trainer = jeton.BPETrainer(
        ...     vocab_size=12, pattern="whitespace", alphabet="characters", tie_break="first"
        ... )
        >>> tok = trainer.train(["a refrain from rain in a train"])
        >>> tok.vocab.merges
        [(b'i', b'n'), (b'r', b'a'), (b'ra', b'in')]
    """

    _algorithm: Algorithm = "bpe"

    @names_checked
    def __init__(
        self,
        vocab_size: int | Sequence[int] | None = None,
        *,
        new_tokens: int | Sequence[int] | None = None,
        pattern: str | Sequence[str] | None = None,
        normalizer: str | normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        special_tokens: SpecialTokens | None = None,
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
        tie_break: TieBreak | None = None,
        start_from: Tokenizer | Iterable[tuple[bytes | str, bytes | str]] | None = None,
        languages: Balance | None = None,
        global_merges: int | None = None,
        window_size: int | None = None,
        alpha: float | None = None,
        superwords: SuperwordKind | None = None,
        superword_tokens: int | None = None,
        max_words_per_token: int | None = None,
        joining: Joining | None = None,
        drop_residues: float | None = None,
        residues_become: Literal["pair", "bytes"] | None = None,
        max_word_length: int | None = MAX_WORD_LENGTH,
        min_word_count: int = 0,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        split_by_whitespace: bool = True,
        treat_whitespace_as_suffix: bool = False,
        allow_whitespace_only_pieces: bool = False,
        split_by_unicode_script: bool = True,
        split_by_number: bool = True,
        split_digits: bool = False,
        user_defined_symbols: SpecialTokens = (),
        byte_fallback: bool = False,
        bos_token: str = "<s>",
        eos_token: str = "</s>",
        pad_token: str = "<pad>",
        unk_id: int = 0,
        bos_id: int | None = 1,
        eos_id: int | None = 2,
        pad_id: int | None = None,
        hard_vocab_limit: bool = True,
    ) -> None:
        for name, word in {"alphabet": alphabet, "byte_order": byte_order}.items():
            if word is not None:
                check_kind(name, word, str, "a str")
        check_kind("separate_suffix", separate_suffix, bool, "a bool")
        self.start = Start.of(start_from)
        self.languages = Languages.of(
            languages, global_merges=global_merges, window_size=window_size, alpha=alpha
        )
        if self.languages is not None and tie_break == "huggingface":
            raise ArgumentError(
                "tie_break='huggingface' has counts of its own, which languages does not have; "
                "leave it out"
            )
        if drop_residues is None and residues_become is not None:
            raise ArgumentError("residues_become is for drop_residues; set drop_residues=0.9")
        if residues_become is not None:
            check_kind("residues_become", residues_become, str, "a str")
        if drop_residues is not None and self.languages is not None:
            raise ArgumentError("drop_residues and languages do not go together; leave out one")
        self.vocab_sizes = self._sizes(vocab_size, new_tokens)
        self.superwords = Superwords.of(
            superwords,
            self.vocab_sizes,
            superword_tokens=superword_tokens,
            max_words_per_token=max_words_per_token,
            joining=joining,
        )
        if self.superwords is not None and self.languages is not None:
            raise ArgumentError("superwords and languages cannot be learnt together; give one")
        start_options = self.start.options
        own = {
            "unk_token": unk_token,
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix,
        }
        for name, text in own.items():
            if text is not None and not check_text(name, text):
                raise ArgumentError(f"{name} is empty; leave it out, or give a text")
        affixes = {name: own[name] or start_options.get(name) for name in _AFFIXES}
        separate_suffix = separate_suffix or start_options.get("separate_suffix", False)
        if start_options:
            # The tokens to start from are spelled with their prefix and suffix.
            for name, value in {**affixes, "separate_suffix": separate_suffix}.items():
                if (value or None) != (start_options[name] or None):
                    raise ArgumentError(
                        f"{name}={value!r} differs from that of start_from "
                        f"({start_options[name]!r}) and would change its merges; leave it out"
                    )
        if byte_order is not None and start_options:
            raise ArgumentError("byte_order: start_from has its bytes already, and keeps their ids")
        if alphabet is None:
            alphabet = start_options.get("alphabet", "bytes")
        sentencepiece = alphabet == "sentencepiece"
        for name, value in (
            ("languages", self.languages),
            ("drop_residues", drop_residues),
            ("superwords", self.superwords),
        ):
            if sentencepiece and value is not None:
                raise ArgumentError(f"{name} is not for alphabet='sentencepiece'; leave it out")
        self._refuse_others(sentencepiece)
        if sentencepiece:
            rules = {name: self._arguments[name] for name in _PIECE_RULES}
            rules["max_piece_length"] = 16 if max_token_length is None else max_token_length
            tie_break = "sentencepiece" if tie_break is None else tie_break
        required = checked_characters("initial_alphabet", initial_alphabet)
        if sentencepiece and self.start.tokenizer is None:
            self._algorithm = "sentencepiece bpe"
            self.parameters = piece_parameters(
                vocab_size=max(self.vocab_sizes),
                normalizer="nmt_nfkc" if normalizer is None else normalizer,
                style="sentencepiece",
                special_tokens=() if special_tokens is None else special_tokens,
                user_defined_symbols=user_defined_symbols,
                min_word_count=min_word_count,
                **{name: self._arguments[name] for name in _FOR_PIECES},
                max_piece_length=rules["max_piece_length"],
                min_frequency=min_frequency,
                tie_break=tie_break,
                character_coverage=0.9995 if character_coverage is None else character_coverage,
                limit_alphabet=limit_alphabet,
                required_chars="".join(required),
                unk_token=unk_token or "<unk>",
            )
            self.known_tokens = checked_tokens(self.parameters["special_tokens"])
            self.pattern = None
            for size in {min(self.vocab_sizes), max(self.vocab_sizes)}:
                _core.check_trainer(self._algorithm, {**self.parameters, "vocab_size": size})
            return
        if isinstance(normalizer, str):
            raise ArgumentTypeError(
                f"normalizer must be one of jeton.components.normalizers, not {normalizer!r} "
                "(names of rules are for alphabet='sentencepiece')"
            )
        check_stage(normalizers.Normalizer, normalizer)
        if sentencepiece:
            if normalizer is not None:
                normalizer = normalizers.Sequence([normalizer, normalizers.Replace(" ", "▁")])
            unk_token = unk_token or start_options["unk_token"]
        default_tie_break: TieBreak = "huggingface" if self.languages is None else "spelling"
        if self.superwords is not None or drop_residues is not None:
            default_tie_break = "alphabetic"
        if self.start.tokenizer is not None:
            if pattern is None and pre_tokenizer is None:
                pre_tokenizer = self.start.tokenizer.stages.pre_tokenizer
            normalizer = normalizer or self.start.tokenizer.stages.normalizer
            post_processor = post_processor or self.start.tokenizer.stages.post_processor
            decoder = decoder or self.start.tokenizer.stages.decoder
        super().__init__(
            {
                "vocab_size": max(self.vocab_sizes),
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "alphabet": "characters" if sentencepiece else alphabet,
                "byte_order": byte_order or "printable",
                "sentencepiece": sentencepiece,
                "byte_fallback": start_options.get("byte_fallback", False),
                **(rules if sentencepiece else {}),
                "initial_alphabet": required,
                "limit_alphabet": limit_alphabet,
                "character_coverage": character_coverage,
                "unk_token": unk_token or start_options.get("unk_token"),
                **affixes,
                "separate_suffix": separate_suffix,
                "tie_break": default_tie_break if tie_break is None else tie_break,
                "start": self.start.parameter,
                "drop_residues": drop_residues,
                "residues_become": residues_become or "pair",
            },
            default_pattern=None if self.start.tokenizer else "gpt4",
            normalizer=normalizer,
            pre_tokenizer=pre_tokenizer,
            post_processor=post_processor,
            decoder=decoder,
            special_tokens=() if special_tokens is None else special_tokens,
        )
        _core.check_trainer("bpe", {**self.parameters, "vocab_size": min(self.vocab_sizes)})
        if self.superwords is not None:
            _core.check_trainer("superwords", {**self.parameters, **self.superwords.parameters})
        if self.decoder is None:
            self._check_decodable()

    @names_checked
    def train_all(
        self,
        data: Corpus | Corpora,
        *,
        development: Corpora | None = None,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        documents: Literal["file", "line"] | str = "file",
        bad_records: Literal["error", "drop"] = "error",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> dict[int, Tokenizer]:
        """The tokenizers of all sizes, by size, from one run; each equals training for that size.

        Args:
            data, development, field, errors, documents, bad_records, memory: As for `train`.
            temp_dir, watch: As for `train`.

        Raises:
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: A corpus without words; a size smaller than the tokens to start from.

        Example:
            >>> import jeton
            >>> trainer = jeton.BPETrainer([257, 258], pattern="whitespace")
            >>> toks = trainer.train_all(["hello hello help"])
            >>> {size: tok.vocab.merges for size, tok in toks.items()}
            {257: [(b'e', b'l')], 258: [(b'e', b'l'), (b'h', b'el')]}
        """
        reading = Reading.of(locals())
        sizes = self.vocab_sizes
        if self.superwords is not None:
            return {sizes[0]: self._trained(data, development, reading)}
        if self.languages is None:
            refuse_languages(data, development)
            counts = self._counts(data, reading)
            self._check_words(counts)
            trained = _core.train_sizes(
                self._algorithm, counts, self.parameters, list(sizes), core_watch(watch)
            )
        else:
            trained = self._fair_models(data, development, reading, sizes)
        tokenizers = {
            size: self._tokenizer(model) for size, model in zip(sizes, trained, strict=True)
        }
        smallest, largest = sizes[0], sizes[-1]
        warn_if_short(largest, tokenizers[largest], self._lacking)
        if tokenizers[smallest].vocab_size > smallest < largest:
            warn_if_short(smallest, tokenizers[smallest], self._lacking)
        return tokenizers

    def _trained(self, data: Any, development: Any, reading: Reading) -> Tokenizer:
        if self.superwords is not None:
            return self._with_superwords(data, development, reading)
        if self.languages is None:
            return super()._trained(data, development, reading)
        [model] = self._fair_models(data, development, reading, self.vocab_sizes[-1:])
        tokenizer = self._tokenizer(model)
        warn_if_short(self.vocab_sizes[-1], tokenizer, self._lacking)
        return tokenizer

    def _with_superwords(self, data: Any, development: Any, reading: Reading) -> Tokenizer:
        """The tokenizer of words and superwords."""
        assert self.superwords is not None
        refuse_languages(data, development)
        check_readable_again(data)
        counts = self._counts(data, reading)
        self._check_words(counts)
        counting = self._counting()
        model = self.superwords.train(data, counts, counting, reading, self.parameters)
        tokenizer = Tokenizer._of_trained(
            model,
            normalizer=self.normalizer,
            pre_tokenizer=None,
            post_processor=self.post_processor,
            decoder=self._decoder() if self.decoder is None else self.decoder,
            added_tokens=self._added_tokens(model),
        )
        warn_if_short(self.vocab_sizes[-1], tokenizer, self._lacking)
        return tokenizer

    def _fair_models(
        self, data: Any, development: Any, reading: Reading, sizes: Sequence[int]
    ) -> list[_core.Model]:
        """The models of these sizes, trained on a corpus for each language."""
        assert self.languages is not None
        watch = core_watch(reading.watch)
        return self.languages.train(
            data,
            development,
            reading,
            count=self._counts,
            train=lambda counts, texts, more: _core.train_languages(
                counts, texts, {**self.parameters, **more}, list(sizes), watch
            ),
        )

    def _refuse_others(self, sentencepiece: bool) -> None:
        """Raises for parameters that this alphabet would ignore."""
        fresh = self.start.tokenizer is None
        reasons: dict[tuple[str, ...], str] = {}
        if not sentencepiece:
            reasons[_FOR_PIECES] = "is for alphabet='sentencepiece'"
        elif fresh and self.start.merges:
            raise ArgumentError(
                "start_from: alphabet='sentencepiece' continues a tokenizer, not merges alone"
            )
        elif fresh:
            reasons[_FOR_WORDS] = "is not for alphabet='sentencepiece', which has its own"
        else:
            rules = ("split_by_unicode_script", "split_by_number", "split_digits")
            names = tuple(name for name in _FOR_PIECES if name not in rules)
            reasons[names] = "is taken from start_from; leave it out"
            reasons["pattern", "pre_tokenizer"] = "is not for alphabet='sentencepiece'"
        for names, why in reasons.items():
            for name in names:
                if self._given.get(name) is not None:
                    raise ArgumentError(f"{name} {why}")

    def _sizes(
        self, vocab_size: int | Sequence[int] | None, new_tokens: int | Sequence[int] | None
    ) -> tuple[int, ...]:
        """The sizes of the vocabulary, in tokens."""
        if new_tokens is None:
            return _sizes("vocab_size", 30_000 if vocab_size is None else vocab_size)
        if vocab_size is not None:
            raise ArgumentError("vocab_size and new_tokens both set the number of tokens; give one")
        if self.start.tokenizer is None:
            raise ArgumentError(
                "new_tokens counts from the tokens of a tokenizer (give start_from, or vocab_size)"
            )
        there = self.start.tokenizer.vocab_size
        return tuple(there + size for size in _sizes("new_tokens", new_tokens))

    def _essentials(self) -> dict[str, object]:
        sizes = self.vocab_sizes
        return {**super()._essentials(), "vocab_size": sizes[0] if len(sizes) == 1 else [*sizes]}

    def _counting(self) -> Counting:
        if self._algorithm == "sentencepiece bpe":
            parameters = {**self.parameters, "vocab_size": sum(self.vocab_sizes)}
            return piece_counting(self._algorithm, parameters)
        return super()._counting()

    def _tokenizer(self, model: _core.Model) -> Tokenizer:
        if self._algorithm == "sentencepiece bpe":
            return piece_tokenizer(model)
        tok = super()._tokenizer(model)
        start = self.start.tokenizer
        if start is None:
            return tok
        old, new = start.stages.model, tok.stages.model
        assert isinstance(old, models.BPE) and isinstance(new, models.BPE)
        kept = {name: getattr(old, name) for name in ("dropout", "fuse_unk", "ignore_merges")}
        return start.replace(
            model=replace(new, **kept),
            normalizer=self.normalizer,
            pre_tokenizer=self.pre_tokenizer,
            post_processor=self.post_processor,
            decoder=tok.stages.decoder,
            added_tokens=tok.stages.added_tokens,
        )

    def _needs(self) -> Needs:
        return TOKEN_NEEDS * sum(self.vocab_sizes), 64, 32

    def _check_decodable(self) -> None:
        """A prefix or suffix can replace the spaces between words only if words have no spaces."""
        name = next((name for name in reversed(_AFFIXES) if self.parameters[name]), None)
        if name is None:
            return
        if self.parameters["alphabet"] == "bytes":
            raise ArgumentError(
                f"{name} does not work with this alphabet, whose decoder would leave it in the "
                "text; use alphabet='characters' with pattern='whitespace'"
            )
        if self.pre_tokenizer is None:
            return
        counts = WordCounts.count(iter(["a b"]), pre_tokenizer=self.pre_tokenizer)
        if {word for word, _ in counts.items()} not in ({"a", "b"}, {"a b"}):
            raise ArgumentError(
                f"{name} does not work with a pattern or pre_tokenizer that keeps the spaces "
                "between words: decoded text would have them twice; use pattern='whitespace', or "
                "give the decoder"
            )

    def _splitter(self) -> pre_tokenizers.PreTokenizer | None:
        if not self.parameters["sentencepiece"]:
            return self.pre_tokenizer
        # The tokenizer itself does not split: the words of training do not cross a space or the end
        # of a line, so merges do not either.
        lines = pre_tokenizers.Split("\n", behavior="removed")
        words = pre_tokenizers.Split("▁", behavior="merged_with_next")
        steps = getattr(self.normalizer, "steps", (self.normalizer,))
        if any(isinstance(step, normalizers.Prepend) for step in steps):
            return pre_tokenizers.Sequence([lines, words])
        # A `▁` in front of each stretch between special tokens. The spaces of the text are `▁`
        # already, so the one that is added as a space cannot be confused with them.
        add_space = pre_tokenizers.Metaspace(" ", prepend_scheme="always", split=False)
        replace_space = pre_tokenizers.Metaspace("▁", prepend_scheme="never", split=False)
        return pre_tokenizers.Sequence([add_space, replace_space, lines, words])

    def _boundaries(self) -> tuple[AddedToken, ...]:
        tokens = [*self.start.added_tokens]
        if self.parameters["sentencepiece"]:
            tokens.append(AddedToken(self.parameters["unk_token"], special=True))
        by_content = {token.content: token for token in [*self.known_tokens, *reversed(tokens)]}
        return tuple(by_content.values())

    def _special_ids(self) -> dict[str, int]:
        is_first = self.start.tokenizer is None and self.parameters["byte_order"] != "value"
        return super()._special_ids() if is_first else {}

    def _added_tokens(self, model: _core.Model) -> list[AddedToken]:
        if self.parameters["byte_order"] == "value":
            return numbered(self.known_tokens, model.vocab(), is_raw=True)
        tokens = self.start.with_ids(self.known_tokens)
        of_stages = self.start.tokenizer is not None and not self.start.is_sentencepiece
        if of_stages or not self.parameters["sentencepiece"]:
            return tokens
        return [token for token in tokens if token.content != self.parameters["unk_token"]]

    def _decoder(self) -> decoders.Decoder:
        if self.parameters["alphabet"] == "bytes" or _spells_bytes(self.pre_tokenizer):
            return decoders.ByteLevel()
        if self.parameters["end_of_word_suffix"]:
            return decoders.BPEDecoder(self.parameters["end_of_word_suffix"])
        if self.parameters["continuing_subword_prefix"]:
            return decoders.WordPiece(self.parameters["continuing_subword_prefix"], cleanup=False)
        return decoders.Fuse()


_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")

_PIECE_RULES = (
    "split_by_whitespace",
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "split_by_unicode_script",
    "split_by_number",
    "split_digits",
)
_FOR_PIECES = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    *_PIECE_RULES,
    "byte_fallback",
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_id",
    "bos_id",
    "eos_id",
    "pad_id",
    "hard_vocab_limit",
)
"""The parameters of SentencePiece's alphabet."""

_FOR_WORDS = (
    *_AFFIXES,
    "separate_suffix",
    "pattern",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "byte_order",
    "max_word_length",
)
"""The parameters that SentencePiece's alphabet ignores."""


def _spells_bytes(stage: pre_tokenizers.PreTokenizer | None) -> bool:
    """Whether a pre-tokenizer writes bytes as characters, for a model that does not see bytes."""
    return any(isinstance(step, pre_tokenizers.ByteLevel) for step in steps_of(stage))


def _sizes(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(value, (list, tuple, range)):
        if not value:
            raise ArgumentError(f"{name} holds no sizes; give at least one")
        return tuple(sorted({checked_int(f"each of {name}", size, 0) for size in value}))
    try:
        return (checked_int(name, value, 0),)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"{name} must be an int or a list of int, not {type(value).__name__}"
        ) from None
