"""The base tokenizer: text to ids and back, its tokens and stages, saving and loading.

Look here for its constructors; each group of methods has a file of its own in this folder.
`jeton.Tokenizer` extends this class with a method per feature of the other packages:
`tok(texts)`, `tok.chunk`, `tok.chat`, `tok.explain`, …. Those packages take this class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeAlias, TypeVar

import jeton._core as _core
from jeton.arguments import check_text, special_ids
from jeton.components.assembly import added_to_core, assembled, stages_around
from jeton.components.component import AddedToken
from jeton.encoding.base_tokenizer.decode import DecodeMethods
from jeton.encoding.base_tokenizer.encode import EncodeMethods
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.base_tokenizer.save import SaveMethods
from jeton.encoding.base_tokenizer.stages import NAMES
from jeton.encoding.other_names import KnowsOtherNames, no_attribute
from jeton.errors import ArgumentTypeError, FormatWarning, UnsupportedError, warn_caller
from jeton.loading.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton._core import Model as CoreModel
    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers

__all__ = ["BaseTokenizer"]


class BaseTokenizer(EncodeMethods, DecodeMethods, SaveMethods, metaclass=KnowsOtherNames):
    """The part of a tokenizer that packages below `jeton.Tokenizer` may use.

    `jeton.Tokenizer` is the subclass to construct.
    """

    __slots__ = ()

    _for_users: ClassVar[type[BaseTokenizer]]
    """`jeton.Tokenizer`, set by its module: the class that packages below construct for users."""

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
        """A tokenizer around a model of the core; saved and loaded again, it equals itself."""
        stages = stages_around(normalizer, pre_tokenizer, post_processor, decoder)
        tokens = added_to_core(added_tokens)
        return cls._of_core(_core.Pipeline.build_as_stored(model, stages, tokens))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tokenizer of a Hugging Face `tokenizer.json`, given as text.

        Raises:
            FormatError: The text breaks the format; the message names the place.
            UnsupportedError: It has a setting that jeton cannot reproduce exactly.

        Warns:
            FormatWarning: It has a setting that is probably a mistake, or a dropout.
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
        r"""The tokenizer that tiktoken builds from ranks.

        Args:
            ranks: Tokens with their ids, which are also their ranks: the lowest is merged first.
                All 256 bytes must be among them.
            pattern: How text is split: the name of a known pattern, or a regular expression in
                tiktoken's dialect whose matches are the pieces.
            special_tokens: Special tokens with their ids.

        Raises:
            FormatError: Ranks that contradict each other or lack a byte; an invalid pattern.
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

    @once_per_tokenizer
    def __hash__(self) -> int:
        # The bytes do not say what a function does.
        has_bytes = not self._core.holds_functions()
        return hash(_core.fingerprint(self._core) if has_bytes else self.vocab_size)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole tokenizer, in hexadecimal: equal tokenizers have equal digests.

        It is the same on every machine, but may differ between versions of jeton.

        Raises:
            UnsupportedError: A stage is a Python function, which may do anything.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("ab")
            >>> tok.digest == jeton.CharTrainer().train("abba").digest, len(tok.digest)
            (True, 64)
        """
        if self._core.holds_functions():
            raise UnsupportedError(
                "a tokenizer with a Python function has no digest: what the function does is not "
                "known (replace it by a component of jeton)"
            )
        return _core.fingerprint(self._core).hex()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        if not self._core.holds_functions():
            return _from_image, (type(self), self._core.image(), self._settings)
        its, settings = self.stages, self.settings
        stages = (its.model, its.normalizer, its.pre_tokenizer)
        rest = (its.post_processor, its.decoder, its.added_tokens)
        sections = {"padding": settings.padding, "truncation": settings.truncation}
        return _from_stages, (type(self), stages + rest, sections, self._settings)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            kind = type(self)
            raise no_attribute(kind, f"{kind.__name__!r} object", name)

    def _repr_html_(self) -> str:
        """Its size and stages, for notebooks."""
        from jeton.display import notebooks

        special, limit = list(self.special_tokens), notebooks.MAX_ROWS
        names = ", ".join(special[:limit]) + f" … {len(special):,} in all" * (len(special) > limit)
        rows = [
            ("vocabulary", f"{self.vocab_size:,} tokens"),
            *(
                (name.replace("_", "-"), notebooks.shortened(repr(getattr(self.stages, name))))
                for name in NAMES
            ),
            ("special tokens", names or "none"),
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
_AllStages: TypeAlias = """tuple[
    models.Model,
    normalizers.Normalizer | None,
    pre_tokenizers.PreTokenizer | None,
    post_processors.PostProcessor | None,
    decoders.Decoder | None,
    list[AddedToken],
]"""


def _from_stages(
    kind: type[_AnyTokenizer],
    stages: _AllStages,
    sections: Mapping[str, Mapping[str, object] | None],
    settings: Settings,
) -> _AnyTokenizer:
    """Undoes `BaseTokenizer.__reduce__` where an image cannot hold a function."""
    tokenizer = kind._of_core(assembled(*stages), settings)
    return tokenizer.replace(padding=sections["padding"], truncation=sections["truncation"])


def _from_image(kind: type[_AnyTokenizer], image: bytes, settings: Settings) -> _AnyTokenizer:
    """Undoes `BaseTokenizer.__reduce__`."""
    return kind._of_core(_core.Pipeline.from_image(image), settings)
