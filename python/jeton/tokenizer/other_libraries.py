"""A tokenizer under the interfaces of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from jeton.interop.sentencepiece import SentencePieceProcessor
    from jeton.interop.tiktoken import Encoding as TiktokenEncoding

__all__ = ["Becomes"]


class Becomes(BaseTokenizer):
    """The part of `Tokenizer` for other interfaces."""

    __slots__ = ()

    def as_tiktoken(self, name: str = "jeton") -> TiktokenEncoding:
        """This tokenizer under the interface of `tiktoken.Encoding`, for code that calls that.

        Args:
            name: What the encoding is to be called.

        Raises:
            UnsupportedError: It is no byte-level BPE.

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
        """This tokenizer under the reading interface of `sentencepiece.SentencePieceProcessor`.

        Raises:
            UnsupportedError: It is no tokenizer as a SentencePiece `.model` file holds it.

        Example:
            >>> import jeton
            >>> tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
            >>> tok.as_sentencepiece().nbest_encode("low", nbest_size=2, out_type=str)
            [['▁low'], ['▁', 'l', 'o', 'w']]
        """
        from jeton.interop.sentencepiece import SentencePieceProcessor

        return SentencePieceProcessor.of_tokenizer(self)

    def as_transformers(self) -> PreTrainedTokenizerFast:
        """This tokenizer as a fast tokenizer of transformers, for code that takes one.

        A `PreTrainedTokenizerFast` with the same ids, special tokens, roles, chat template, sides
        and longest input: what `AutoTokenizer` loads from the folder that `save` writes. It is
        transformers' own: tokens that have a role are special ones, special tokens that are
        spelled in text count unless `split_special_tokens=True` is said, and
        `add_special_tokens` is on. A dropout of the model is off. What is changed in it does not
        come back.

        Raises:
            UnsupportedError: `tokenizer.json` cannot hold it exactly (`approximation` gives what
                comes nearest); transformers is not installed.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("hello")
            >>> fast = tok.as_transformers()  # doctest: +SKIP
            >>> fast("hole<|end|>")["input_ids"]  # doctest: +SKIP
            [1, 3, 2, 0, 4]
        """
        from jeton.interop.for_transformers import fast_tokenizer

        return fast_tokenizer(self)
