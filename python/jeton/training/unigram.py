"""Trains Unigram."""

from __future__ import annotations

from typing import Literal

import jeton._core as _core
from jeton.arguments import check_field_word, names_checked
from jeton.components import AddedToken, Regex, decoders, normalizers, pre_tokenizers
from jeton.corpora.counting import Counting, Cutting, first_stages
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer
from jeton.training.known_tokens import SpecialTokens
from jeton.training.sentencepiece import (
    OWN_TOKENS,
    piece_counting,
    piece_needs,
    piece_parameters,
    piece_tokenizer,
)
from jeton.training.trainer import Trainer


class UnigramTrainer(Trainer):
    """Trains Unigram by SentencePiece's method: finds the pieces that make a corpus most probable.

    Each line of the corpus is a text. The result depends only on the texts and how often each
    occurs, not on their order. The words of `count` are whole texts in SentencePiece style, and
    words of `normalizer` and `pre_tokenizer` in Hugging Face style.

    Args:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        style: The kind of tokenizer: `"sentencepiece"` for a SentencePiece model, which saves as
            `.model`; `"huggingface"` for components of `tokenizers`, which save as
            `tokenizer.json`. Each has the same ids in the library of its format.
        normalizer: Changes the text first: `"nmt_nfkc"`, `"nfkc"` or `"identity"`; in SentencePiece
            style also `"nmt_nfkc_cf"` or `"nfkc_cf"`, which fold case; or a component, in
            SentencePiece style only `Precompiled`.
        pre_tokenizer: Splits the text, in Hugging Face style; by default `Metaspace`.
        add_dummy_prefix: Whether to put a space in front of each text.
        remove_extra_whitespaces: Whether to remove spaces at the ends, and to make runs of spaces
            one.
        split_by_whitespace: Whether pieces must not contain a space in the middle.
        treat_whitespace_as_suffix: Whether spaces end words instead of beginning them.
        allow_whitespace_only_pieces: Whether there may be pieces of several spaces.
        split_by_unicode_script: Whether pieces must not mix scripts; digits and punctuation count
            as a script.
        split_by_number: Whether pieces must not mix digits and letters.
        split_digits: Whether each digit is a separate piece.
        max_piece_length: The maximum length of a piece in characters, 1 to 512.
        character_coverage: The share of the corpus's characters that the pieces cover; the rarest
            others are unknown.
        required_chars: Characters that are pieces even if the corpus lacks them.
        special_tokens: More special tokens; they have the first free ids. An `AddedToken` that is
            not special is a user-defined symbol.
        user_defined_symbols: Texts that always become a token of their own; their ids come next.
        byte_fallback: Whether text that no piece covers becomes `<0xNN>` tokens; their ids come
            next.
        unk_token: The token for text that no piece covers; with `None`, in Hugging Face style, such
            text is an error.
        bos_token: The token at the beginning of a text.
        eos_token: The token at the end of a text.
        pad_token: The padding token.
        unk_id: The id of `unk_token`.
        bos_id: The id of `bos_token`; `None` for no such token.
        eos_id: The id of `eos_token`; `None` for no such token.
        pad_id: The id of `pad_token`; `None` for no such token.
        min_word_count: Words that occur less often are left out of training.
        seed_size: The maximum number of substrings that training starts from.
        shrinking_factor: The share of the pieces that each round keeps.
        num_sub_iterations: How often each round estimates probabilities.
        hard_vocab_limit: Whether a corpus that is too small for `vocab_size` is an error; otherwise
            there are fewer tokens.

    Raises:
        ArgumentError: A parameter has an invalid value; the message names it.

    Example:
        >>> import jeton
        >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
        >>> [tok.vocab.spelling(id).decode() for id in tok.encode("lowest newer")]
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
        special_tokens: SpecialTokens = (),
        user_defined_symbols: SpecialTokens = (),
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
        options = {name: it for name, it in self._arguments.items() if name != "pre_tokenizer"}
        self.parameters = piece_parameters(**options, limit_alphabet=None)
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
                "a SentencePiece model has no pre_tokenizer (set style='huggingface', or use "
                "split_by_whitespace and similar options)"
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
        """The special tokens with a role, with their ids."""
        options = self.parameters
        ids = [(options[f"{name}_token"], options[f"{name}_id"]) for name in OWN_TOKENS]
        return [(token, id) for token, id in ids if id is not None and token is not None]

    def _tokenizer(self, model: _core.Model) -> Tokenizer:
        if self.style == "sentencepiece":
            return piece_tokenizer(model)
        special = {token for token, _ in self._special_ids()} | set(self.special_tokens)
        vocab = model.vocab()
        tokens = [
            AddedToken(token, vocab[token.encode()], special=token in special)
            for token in [*special, *self.user_defined_symbols]
        ]
        tokens.sort(key=lambda token: token.id or 0)
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
            added_tokens=tokens,
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
                    f"{normalizer} is for style='sentencepiece': tokenizers cannot fold case (give "
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
            raise ArgumentError(
                "add_dummy_prefix and pre_tokenizer contradict each other; give one"
            )
        return pre_tokenizer

    def _essentials(self) -> dict[str, object]:
        return {
            "vocab_size": self.parameters["vocab_size"],
            "style": self.style,
            "special_tokens": list(self.special_tokens),
        }
