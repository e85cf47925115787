"""Trains Unigram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import jeton._core as _core
from jeton.arguments import check_field_word, names_checked
from jeton.components import AddedToken, Regex, decoders, normalizers, pre_tokenizers
from jeton.corpora.counting import Counting, Cutting, first_stages
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer
from jeton.training.sentencepiece import (
    OWN_TOKENS,
    piece_counting,
    piece_needs,
    piece_parameters,
    piece_tokenizer,
)
from jeton.training.trainer import Trainer

__all__ = ["UnigramTrainer"]


class UnigramTrainer(Trainer):
    """Trains Unigram, by SentencePiece's method: the pieces that make a corpus the most probable.

    A line of the corpus is a text of its own. The result depends on the texts and how often each
    occurs alone, not on their order. The words that `count` makes are texts in SentencePiece style,
    and words as `normalizer` and `pre_tokenizer` make them in Hugging Face style.

    Args:
        vocab_size: How many tokens there are in the end, special ones and bytes included.
        style: Whose tokenizer comes out: `"sentencepiece"` makes a SentencePiece model, which
            saves as `.model`; `"huggingface"` composes one of `tokenizers`' components, which saves
            as `tokenizer.json`. Each gives the same ids in the library of its format.
        normalizer: What happens to text first: `"nmt_nfkc"`, `"nfkc"` or `"identity"`; for
            SentencePiece style also `"nmt_nfkc_cf"` or `"nfkc_cf"`, which fold case; or a
            component, for SentencePiece style only `Precompiled`.
        pre_tokenizer: How text is cut, for Hugging Face style; by default `Metaspace`.
        add_dummy_prefix: A space is put in front of each text.
        remove_extra_whitespaces: Spaces at the ends are removed, and runs of them made one.
        split_by_whitespace: No piece goes across a space.
        treat_whitespace_as_suffix: Spaces end words instead of beginning them.
        allow_whitespace_only_pieces: There may be pieces of several spaces.
        split_by_unicode_script: No piece has characters of two scripts; digits and punctuation are
            a script of their own.
        split_by_number: Digits do not stand beside letters.
        split_digits: Each digit is a piece by itself.
        max_piece_length: A piece has at most so many characters, 1 to 512.
        character_coverage: What share of the corpus's characters the pieces shall make up; the
            rarest beyond that are unknown.
        required_chars: Characters that are pieces though the corpus may lack them.
        special_tokens: More special tokens; they have the first free ids.
        user_defined_symbols: Texts that are always a token of their own; they come next.
        byte_fallback: Text that no piece covers is written as `<0xNN>` tokens; they come next.
        unk_token: What stands for text that no piece covers; `None`, for Hugging Face style: such
            text is an error.
        bos_token: The token at the beginning of a text.
        eos_token: The token at the end of a text.
        pad_token: The token that fills rows.
        unk_id: Its id.
        bos_id: Its id; `None` for no such token.
        eos_id: Its id; `None` for no such token.
        pad_id: Its id; `None` for no such token.
        min_word_count: Words that occur less often are not learnt from.
        seed_size: How many substrings training starts from, at most.
        shrinking_factor: What share of the pieces stays in each round.
        num_sub_iterations: How often probabilities are estimated in each round.
        hard_vocab_limit: A corpus that does not support `vocab_size` is an error; otherwise there
            are fewer tokens.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

    Example:
        >>> import jeton
        >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
        >>> [tok.token_spelling(id).decode() for id in tok.encode("lowest newer")]
        ['▁lowest', '▁new', 'e', 'r']
    """

    _lacking = "substrings to learn"

    @names_checked
    def __init__(
        self,
        vocab_size: int = 8_000,
        *,
        style: Literal["sentencepiece", "huggingface"] = "sentencepiece",
        normalizer: str | normalizers.Normalizer = "nmt_nfkc",
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        split_by_whitespace: bool = True,
        treat_whitespace_as_suffix: bool = False,
        allow_whitespace_only_pieces: bool = False,
        split_by_unicode_script: bool = True,
        split_by_number: bool = True,
        split_digits: bool = False,
        max_piece_length: int = 16,
        character_coverage: float = 0.9995,
        required_chars: str = "",
        special_tokens: Iterable[str] = (),
        user_defined_symbols: Iterable[str] = (),
        byte_fallback: bool = False,
        unk_token: str | None = "<unk>",
        bos_token: str = "<s>",
        eos_token: str = "</s>",
        pad_token: str = "<pad>",
        unk_id: int = 0,
        bos_id: int | None = 1,
        eos_id: int | None = 2,
        pad_id: int | None = None,
        min_word_count: int = 0,
        seed_size: int = 1_000_000,
        shrinking_factor: float = 0.75,
        num_sub_iterations: int = 2,
        hard_vocab_limit: bool = True,
    ) -> None:
        self.style = style
        check_field_word(self, "style", style, ("sentencepiece", "huggingface"))
        self._algorithm = "sentencepiece unigram" if style == "sentencepiece" else "unigram"
        self.parameters = piece_parameters(
            vocab_size=vocab_size,
            normalizer=normalizer,
            style=style,
            special_tokens=special_tokens,
            user_defined_symbols=user_defined_symbols,
            min_word_count=min_word_count,
            add_dummy_prefix=add_dummy_prefix,
            remove_extra_whitespaces=remove_extra_whitespaces,
            split_by_whitespace=split_by_whitespace,
            treat_whitespace_as_suffix=treat_whitespace_as_suffix,
            allow_whitespace_only_pieces=allow_whitespace_only_pieces,
            split_by_unicode_script=split_by_unicode_script,
            split_by_number=split_by_number,
            split_digits=split_digits,
            max_piece_length=max_piece_length,
            character_coverage=character_coverage,
            limit_alphabet=None,
            required_chars=required_chars,
            byte_fallback=byte_fallback,
            unk_token=unk_token,
            bos_token=bos_token,
            eos_token=eos_token,
            pad_token=pad_token,
            unk_id=unk_id,
            bos_id=bos_id,
            eos_id=eos_id,
            pad_id=pad_id,
            seed_size=seed_size,
            shrinking_factor=shrinking_factor,
            num_sub_iterations=num_sub_iterations,
            hard_vocab_limit=hard_vocab_limit,
        )
        self.special_tokens = tuple(self.parameters["special_tokens"])
        self.user_defined_symbols = tuple(self.parameters["user_defined_symbols"])
        _core.check_trainer(self._algorithm, self.parameters)
        if unk_token is None and style == "sentencepiece":
            raise ArgumentError(
                "a SentencePiece model must have an unk_token (name it, or set style='huggingface')"
            )
        self.normalizer: normalizers.Normalizer | None = None
        self.pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
        if style == "huggingface":
            self.normalizer = self._composed_normalizer(normalizer)
            self.pre_tokenizer = self._composed_pre_tokenizer(pre_tokenizer)
            self._first_stages()
        elif pre_tokenizer is not None:
            raise ArgumentError(
                "a SentencePiece model has no pre_tokenizer (set style='huggingface', or say how "
                "text is cut by split_by_whitespace and the like)"
            )

    def _counting(self) -> Counting:
        if self._algorithm == "sentencepiece unigram":
            return piece_counting(self._algorithm, self.parameters)
        return Counting(self._first_stages(), piece_needs(self.parameters))

    def _first_stages(self) -> Cutting:
        own = [token for token, _ in self._special_ids()]
        return first_stages(
            self.normalizer,
            self.pre_tokenizer,
            [*own, *self.special_tokens, *self.user_defined_symbols],
            is_raw=False,
        )

    def _special_ids(self) -> list[tuple[str, int]]:
        """The special tokens that have ids of their own."""
        given = self.parameters
        ids = [(given[f"{name}_token"], given[f"{name}_id"]) for name in OWN_TOKENS]
        return [(token, id) for token, id in ids if id is not None and token is not None]

    def _tokenizer(self, model: _core.Model) -> Tokenizer:
        if self.style == "sentencepiece":
            return piece_tokenizer(model)
        special = {token for token, _ in self._special_ids()} | set(self.special_tokens)
        vocab = model.vocab()
        added = [
            AddedToken(token, vocab[token.encode()], special=token in special)
            for token in [*special, *self.user_defined_symbols]
        ]
        added.sort(key=lambda token: token.id or 0)
        prefix = self.parameters["add_dummy_prefix"]
        spaces = decoders.Metaspace(prepend_scheme="always" if prefix else "never")
        return Tokenizer._of_trained(
            model,
            normalizer=self.normalizer,
            pre_tokenizer=self.pre_tokenizer,
            decoder=(
                decoders.Sequence([decoders.ByteFallback(), spaces])
                if self.parameters["byte_fallback"]
                else spaces
            ),
            added_tokens=added,
        )

    def _composed_normalizer(
        self, normalizer: str | normalizers.Normalizer
    ) -> normalizers.Normalizer | None:
        steps: list[normalizers.Normalizer]
        match normalizer:
            case "nmt_nfkc":
                steps = [normalizers.Nmt(), normalizers.NFKC()]
            case "nfkc":
                steps = [normalizers.NFKC()]
            case "nmt_nfkc_cf" | "nfkc_cf":
                raise ArgumentError(
                    f"{normalizer} is for style='sentencepiece': tokenizers folds no case (give "
                    "normalizers.Sequence([Nmt(), NFKC(), Lowercase()]) for lower case)"
                )
            case normalizers.Normalizer():
                steps = [normalizer]
            case _:
                steps = []
        if self.parameters["remove_extra_whitespaces"]:
            steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
        return normalizers.Sequence(steps) if steps else None

    def _composed_pre_tokenizer(
        self, pre_tokenizer: pre_tokenizers.PreTokenizer | None
    ) -> pre_tokenizers.PreTokenizer:
        if self.parameters["treat_whitespace_as_suffix"]:
            raise ArgumentError(
                "treat_whitespace_as_suffix is for style='sentencepiece': tokenizers has no such "
                "pre-tokenizer"
            )
        prefix = self.parameters["add_dummy_prefix"]
        if pre_tokenizer is None:
            return pre_tokenizers.Metaspace(
                prepend_scheme="always" if prefix else "never",
                split=self.parameters["split_by_whitespace"],
            )
        if not prefix:
            raise ArgumentError("add_dummy_prefix is what pre_tokenizer says; leave one out")
        return pre_tokenizer

    def _essentials(self) -> dict[str, Any]:
        return {
            "vocab_size": self.parameters["vocab_size"],
            "style": self.style,
            "special_tokens": list(self.special_tokens),
        }
