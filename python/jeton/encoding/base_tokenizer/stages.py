"""The stages of a tokenizer, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton import components
from jeton.components.component import AddedToken
from jeton.encoding.base_tokenizer.core import Core

if TYPE_CHECKING:
    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
    from jeton.results.encoding import Encoding

__all__ = ["HasStages"]


class HasStages(Core):
    """The properties of `Tokenizer` for its stages."""

    __slots__ = ()

    @property
    def added_tokens(self) -> list[AddedToken]:
        """The tokens that are found by their spelling, special or not, in the order of ids."""
        return [
            AddedToken(
                content,
                id,
                special=special,
                single_word=single_word,
                lstrip=lstrip,
                rstrip=rstrip,
                normalized=normalized,
            )
            for content, id, (
                special,
                single_word,
                lstrip,
                rstrip,
                normalized,
            ) in self._core.added_tokens()
        ]

    @property
    def normalizer(self) -> normalizers.Normalizer | None:
        """The stage that changes the text before it is split."""
        return self._stage(components.normalizers.Normalizer)

    @property
    def pre_tokenizer(self) -> pre_tokenizers.PreTokenizer | None:
        """The stage that splits text into the pieces that the model sees."""
        return self._stage(components.pre_tokenizers.PreTokenizer)

    @property
    def model(self) -> models.Model:
        """The stage that turns pieces into tokens. It holds a copy of the vocabulary."""
        return components.models.from_core(self._core.model(), self._core.id_to_bytes)

    @property
    def post_processor(self) -> post_processors.PostProcessor | None:
        """The stage that adds special tokens around a text."""
        return self._stage(components.post_processors.PostProcessor)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, *, add_special_tokens: bool = True
    ) -> Encoding:
        """Adds special tokens to the encoding of a text or of two, as `encode_with_spans` does.

        Without a post-processor, two encodings are concatenated. Shorten them first with
        `Encoding.truncate`; pad the result with `Encoding.pad`.

        Args:
            encoding: The tokens of the text.
            pair: The tokens of a second text.
            add_special_tokens: Whether special tokens are added.

        Raises:
            ArgumentTypeError: `encoding` or `pair` is not an `Encoding`.
            UnsupportedError: A template names a token that it does not define.

        Example:
            >>> import jeton
            >>> from jeton.components import post_processors
            >>> bert = post_processors.BertProcessing(sep=("[SEP]", 4), cls=("[CLS]", 3))
            >>> tok = jeton.CharTrainer().train("abc").with_added_tokens(["[CLS]", "[SEP]"])
            >>> tok = tok.replace(post_processor=bert)
            >>> tok.post_process(tok.encode_with_spans("abc").truncate(2)).ids
            [3, 0, 1, 4]
        """
        processor = self.post_processor or components.post_processors.Sequence(())
        return processor(encoding, pair, add_special_tokens=add_special_tokens)

    @property
    def decoder(self) -> decoders.Decoder | None:
        """The stage that turns tokens back into text."""
        return self._stage(components.decoders.Decoder)
