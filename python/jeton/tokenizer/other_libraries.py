"""A tokenizer under the interfaces of other libraries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from transformers import PreTrainedTokenizerFast
    from xgrammar import TokenizerInfo

    from jeton.interop.sentencepiece import SentencePieceProcessor
    from jeton.interop.tiktoken import Encoding as TiktokenEncoding


class OtherLibraryMethods(BaseTokenizer):
    """The methods of `Tokenizer` that return another library's interface."""

    __slots__ = ()

    def as_tiktoken(self, name: str = "jeton") -> TiktokenEncoding:
        """This tokenizer with the interface of `tiktoken.Encoding`, for code that expects one.

        Args:
            name: The name of the encoding.

        Raises:
            UnsupportedError: The tokenizer is not a byte-level BPE.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(270, pattern="gpt4").train(["the weather, the weather"])
            >>> encoding = tok.as_tiktoken()
            >>> encoding.decode(encoding.encode_ordinary("the weather"))
            'the weather'
        """
        from jeton.interop.tiktoken import Encoding

        return Encoding.of_tokenizer(self, name)

    def as_sentencepiece(self) -> SentencePieceProcessor:
        """This tokenizer with the reading interface of `sentencepiece.SentencePieceProcessor`.

        Raises:
            UnsupportedError: A SentencePiece `.model` file cannot hold the tokenizer.

        Example:
            >>> import jeton
            >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
            >>> tok.as_sentencepiece().nbest_encode("low", nbest_size=2, out_type=str)
            [['▁low'], ['▁', 'l', 'o', 'w']]
        """
        from jeton.interop.sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor.of_tokenizer(self)

    def as_xgrammar(
        self, *, size: int | None = None, stop_ids: Iterable[int] | None = None
    ) -> TokenizerInfo:
        """The `xgrammar.TokenizerInfo` of this tokenizer, for vLLM, SGLang and TensorRT-LLM.

        Args:
            size: The last dimension of the model's logits, if it is larger than the vocabulary.
            stop_ids: What ends an answer. By default the tokens with the roles `eos` and `eot`, and
                those of the folder's `generation_config.json`.

        Raises:
            ArgumentError: `size` is too small; nothing says what ends an answer.
            UnsupportedError: xgrammar is not installed.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> info = tok.as_xgrammar(stop_ids=[4])  # doctest: +SKIP
            >>> info.decoded_vocab  # doctest: +SKIP
            [b'e', b'h', b'l', b'o', b'']
        """
        from jeton.interop.grammars import xgrammar_info

        return xgrammar_info(self, size, stop_ids)

    def as_llguidance(
        self, *, size: int | None = None, stop_ids: Iterable[int] | None = None
    ) -> LLTokenizer:
        """The `llguidance.LLTokenizer` of this tokenizer. Its grammars may name special tokens.

        Args:
            size: The last dimension of the model's logits, if it is larger than the vocabulary.
            stop_ids: What ends an answer. By default the tokens with the roles `eos` and `eot`, and
                those of the folder's `generation_config.json`.

        Raises:
            ArgumentError: `size` is too small; nothing says what ends an answer.
            UnsupportedError: llguidance is not installed.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> tokens = tok.as_llguidance(stop_ids=[4])  # doctest: +SKIP
            >>> tokens.tokenize_str("hole") == tok.encode("hole")  # doctest: +SKIP
            True
        """
        from jeton.interop.grammars import llguidance_tokenizer

        return llguidance_tokenizer(self, size, stop_ids)

    def as_transformers(self) -> PreTrainedTokenizerFast:
        """This tokenizer as a fast tokenizer of transformers, for code that expects one.

        It is a `PreTrainedTokenizerFast` with the same ids, special tokens, roles, chat template,
        sides and longest input: the one that `AutoTokenizer` loads from the folder that `save`
        writes. It follows transformers' rules: tokens with a role are special tokens, special
        tokens in text count unless `split_special_tokens=True`, and `add_special_tokens` is on.
        Dropout of the model is off. Changes to it do not affect this tokenizer.

        Raises:
            UnsupportedError: `tokenizer.json` cannot hold it exactly (`approximation` returns the
                nearest tokenizer that fits); transformers is not installed.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> fast = tok.as_transformers()  # doctest: +SKIP
            >>> fast("hole<|end|>")["input_ids"]  # doctest: +SKIP
            [1, 3, 2, 0, 4]
        """
        from jeton.interop.for_transformers import fast_tokenizer

        return fast_tokenizer(self)
