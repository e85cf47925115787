"""A tokenizer by itself: text to ids and back, its tokens and stages, the files that hold it.

Look here for how one is made; what can be done with it stands in a file a subject beside this one.
`jeton.Tokenizer` is this, with a method for each thing that other packages do with one:
`tok(texts)`, `tok.chunk`, `tok.chat`, `tok.explain`, …. Those packages take this class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import jeton._core as _core
from jeton.arguments import check_text, special_ids
from jeton.components.assembly import added_to_core, assembled, stages_around
from jeton.components.component import AddedToken
from jeton.encoding.base_tokenizer.decode import Decodes
from jeton.encoding.base_tokenizer.encode import Encodes
from jeton.encoding.base_tokenizer.save import Saves
from jeton.encoding.other_names import IN_JETON, HidesOtherNames
from jeton.errors import ArgumentTypeError, FormatWarning, UnsupportedError, warn_caller
from jeton.loading.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton._core import Model as CoreModel
    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers

__all__ = ["BaseTokenizer"]


class BaseTokenizer(Encodes, Decodes, Saves, metaclass=HidesOtherNames):
    """A tokenizer by itself: what packages may ask of it that stand below `jeton.Tokenizer`.

    `jeton.Tokenizer` is one, and the one to make.
    """

    __slots__ = ()

    _for_users: ClassVar[type[BaseTokenizer]]
    """`jeton.Tokenizer`, which stands above and says so: what packages below make for users."""

    def __init__(
        self,
        model: models.Model,
        *,
        normalizer: normalizers.Normalizer | None = None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None = None,
        added_tokens: Iterable[AddedToken] = (),
    ) -> None:
        self._set_core(
            assembled(model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens)
        )

    @classmethod
    def _of_trained(
        cls,
        model: CoreModel,
        *,
        normalizer: normalizers.Normalizer | None,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None,
        post_processor: post_processors.PostProcessor | None = None,
        decoder: decoders.Decoder | None,
        added_tokens: Iterable[AddedToken],
    ) -> Self:
        """A tokenizer of a model of the core, so spelled that one saved and loaded equals it."""
        stages = stages_around(normalizer, pre_tokenizer, post_processor, decoder)
        tokens = added_to_core(added_tokens)
        return cls._of_core(_core.Pipeline.build_as_stored(model, stages, tokens))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tokenizer of a Hugging Face `tokenizer.json`, given as text.

        Raises:
            FormatError: It is not what the format says; the message names the place.
            UnsupportedError: It holds something that cannot be honoured exactly.

        Warns:
            FormatWarning: It says something that was hardly meant so, or a dropout.
        """
        core = _core.Pipeline.from_json(check_text("text", text))
        for warning in core.warnings():
            warn_caller(warning, FormatWarning)
        return cls._of_core(core)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Self:
        r"""The tokenizer that tiktoken makes of ranks.

        Args:
            ranks: Tokens with their ids, which say how early each is merged. All 256 bytes must
                be among them.
            pattern: How text is cut: the name of a known pattern, or an expression in tiktoken's
                dialect whose matches are the pieces.
            special_tokens: Special tokens with their ids.

        Raises:
            FormatError: Ranks that contradict each other or lack a byte; a pattern that is none.
            ArgumentError: A special token with the id of a rank or of another one.

        Example:
            >>> import jeton
            >>> ranks = {bytes([byte]): byte for byte in range(256)}
            >>> tok = jeton.Tokenizer.from_ranks(ranks | {b"ab": 256}, pattern=r"\w+|\W+")
            >>> tok.encode("abba")
            [256, 98, 97]
        """
        specials = special_ids({} if special_tokens is None else special_tokens)
        check_text("pattern", pattern)
        if not isinstance(ranks, Mapping):
            raise ArgumentTypeError(
                f"ranks must map tokens to ids, not be a {type(ranks).__name__}"
            )
        return cls._of_core(_core.Pipeline.from_ranks(dict(ranks), pattern, specials))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseTokenizer):
            return NotImplemented
        return self._core == other._core

    def __hash__(self) -> int:
        if self._hash is None:
            # The bytes do not say what a function does.
            has_bytes = not self._core.holds_functions()
            self._hash = hash(_core.fingerprint(self._core) if has_bytes else self.vocab_size)
        return self._hash

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the tokenizer is, in hexadecimal: equal for equal ones.

        The same on every machine; another version of jeton may give another.

        Raises:
            UnsupportedError: A stage is a function of Python, which may do anything.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("ab")
            >>> tok.digest == jeton.CharTrainer().train("abba").digest, len(tok.digest)
            (True, 64)
        """
        if self._core.holds_functions():
            raise UnsupportedError(
                "a tokenizer with a function of Python has no digest: what the function does is "
                "not known (put a component of jeton in its place)"
            )
        return _core.fingerprint(self._core).hex()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        if not self._core.holds_functions():
            return _from_image, (type(self), self._core.image(), self._settings)
        stages = (self.model, self.normalizer, self.pre_tokenizer)
        rest = (self.post_processor, self.decoder, self.added_tokens)
        sections = {"padding": self.padding, "truncation": self.truncation}
        return _from_stages, (type(self), stages + rest, sections, self._settings)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in IN_JETON]

    def _repr_html_(self) -> str:
        """Its size and stages, for notebooks."""
        from jeton.display import notebooks

        special, most = list(self.special_tokens), notebooks.MOST_ROWS
        shown = ", ".join(special[:most]) + f" … {len(special):,} in all" * (len(special) > most)
        stages = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
        rows = [
            ("vocabulary", f"{self.vocab_size:,} tokens"),
            *(
                (name.replace("_", "-"), notebooks.shortened(repr(getattr(self, name))))
                for name in stages
            ),
            ("special tokens", shown or "none"),
        ]
        if not self._core.holds_functions():
            rows.append(("digest", self.digest[:16]))
        return notebooks.boxed("Tokenizer", notebooks.table([], rows))

    def __repr__(self) -> str:
        tokens = "token" if self.vocab_size == 1 else "tokens"
        return (
            f"<jeton.Tokenizer: {self._core.model_kind}, {self.vocab_size:,} {tokens}, "
            f"{len(self.special_tokens):,} special>"
        )


_AnyTokenizer = TypeVar("_AnyTokenizer", bound=BaseTokenizer)


def _from_stages(
    kind: type[_AnyTokenizer], stages: Any, sections: Any, settings: Settings
) -> _AnyTokenizer:
    """Undoes `BaseTokenizer.__reduce__` where an image cannot hold a function."""
    tokenizer = kind._of_core(assembled(*stages), settings)
    given = {name: section for name, section in sections.items() if section is not None}
    return tokenizer.replace(**given) if given else tokenizer


def _from_image(kind: type[_AnyTokenizer], image: bytes, settings: Settings) -> _AnyTokenizer:
    """Undoes `BaseTokenizer.__reduce__`."""
    return kind._of_core(_core.Pipeline.from_image(image), settings)
