"""The tokenizer: text to ids and back. It never changes once it is built.

Look here for how one is made; what can be done with it stands in a file a subject beside this one.
`jeton.load` and the trainers make them too, and `jeton.components` are what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING

from jeton import _core
from jeton.arguments import check_text, special_ids
from jeton.assembly import assembled, stages_around
from jeton.components.component import AddedToken
from jeton.errors import ArgumentTypeError
from jeton.other_names import IN_JETON, HidesOtherNames, knows_other_names
from jeton.settings import NO_SETTINGS, Settings
from jeton.tokenizer.call import Calls
from jeton.tokenizer.chat import Chats
from jeton.tokenizer.cut import Cuts
from jeton.tokenizer.decode import Decodes
from jeton.tokenizer.encode import Encodes
from jeton.tokenizer.look import Explains
from jeton.tokenizer.other_libraries import Becomes
from jeton.tokenizer.save import Saves
from jeton.tokenizer.types import SpecialPolicy

if TYPE_CHECKING:
    from jeton._core import Model as CoreModel
    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers

__all__ = ["SpecialPolicy", "Tokenizer"]


class Tokenizer(
    Encodes,
    Decodes,
    Saves,
    Calls,
    Cuts,
    Chats,
    Explains,
    Becomes,
    metaclass=HidesOtherNames,
):
    """A tokenizer: text to ids and back.

    It never changes once it is built, so threads and forked processes share it freely; what
    varies by call is an argument of the call, and editing gives a new tokenizer. Tokenizers with
    the same stages are equal: they give the same ids. What programs go by beside them (`roles`,
    `chat_template`, `model_max_length`, `config`) does not count. All of it is pickled and copied.

    A `str` that holds surrogates is no valid Unicode: a surrogate pair is taken for the character
    that it spells, a lone surrogate for U+FFFD. Spans still count the characters of the `str`
    that was given.

    Args:
        model: From pieces of text to tokens; see `jeton.components.models`.
        normalizer: What happens to text first; see `jeton.components.normalizers`.
        pre_tokenizer: Where text is cut; see `jeton.components.pre_tokenizers`.
        post_processor: The special tokens around a text; see `jeton.components.post_processors`.
        decoder: From tokens back to text; see `jeton.components.decoders`. Without one, tokens
            are joined by spaces.
        added_tokens: Tokens that are found by their spelling before any other stage.

    Raises:
        ArgumentError: An added token with the id of another token.
        ArgumentTypeError: A component at the wrong stage.
        FormatError: Components that do not fit together.

    Example:
        >>> import jeton
        >>> from jeton.components import decoders, models
        >>> tok = jeton.Tokenizer(
        ...     models.BPE(
        ...         {b"l": 0, b"o": 1, b"w": 2, b"lo": 3, b"low": 4},
        ...         merges=[(b"l", b"o"), (b"lo", b"w")],
        ...     ),
        ...     decoder=decoders.ByteLevel(),
        ...     added_tokens=[jeton.AddedToken("<|end|>", special=True)],
        ... )
        >>> tok.encode("lowlow")
        [4, 4]
        >>> tok.encode("low<|end|>", special="allow")
        [4, 5]
        >>> tok.decode([4, 5, 4], skip_special_tokens=True)
        'lowlow'
    """

    __slots__ = ()

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
    ) -> Tokenizer:
        """A tokenizer of a model of the core, so spelled that one saved and loaded equals it."""
        stages = stages_around(
            model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens
        )
        return cls._of_core(_core.Pipeline.build_as_stored(model, stages))

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """The tokenizer of a Hugging Face `tokenizer.json`, given as text.

        Raises:
            FormatError: It is not what the format says; the message names the place.
            UnsupportedError: It holds something that cannot be honoured exactly.
        """
        return cls._of_core(_core.Pipeline.from_json(check_text("text", text)))

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
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
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._core == other._core

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(_core.fingerprint(self._core))
        return self._hash

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the tokenizer is, in hexadecimal: equal for equal ones.

        The same on every machine; another version of jeton may give another.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("ab")
            >>> tok.digest == jeton.CharTrainer().train("abba").digest, len(tok.digest)
            (True, 64)
        """
        return _core.fingerprint(self._core).hex()

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: object) -> Tokenizer:
        return self

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[bytes, Settings]]:
        return _from_image, (self._core.image(), self._settings)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in IN_JETON]

    def _repr_html_(self) -> str:
        """Its size and stages, for notebooks."""
        from jeton import notebooks

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
            ("digest", self.digest[:16]),
        ]
        return notebooks.boxed("Tokenizer", notebooks.table([], rows))

    def __repr__(self) -> str:
        tokens = "token" if self.vocab_size == 1 else "tokens"
        return (
            f"<jeton.Tokenizer: {self._core.model_kind}, {self.vocab_size:,} {tokens}, "
            f"{len(self.special_tokens):,} special>"
        )


def _name_as_one() -> None:
    """Names methods `Tokenizer.chunk` in the errors of Python, whichever file they stand in."""
    for part in Tokenizer.__mro__:
        if part.__module__.startswith(f"{__name__}."):
            for name, member in vars(part).items():
                if isinstance(member, FunctionType):
                    member.__module__, member.__qualname__ = __name__, f"Tokenizer.{name}"


_name_as_one()
knows_other_names(Tokenizer)


def _from_image(image: bytes, settings: Settings = NO_SETTINGS) -> Tokenizer:
    """Undoes `Tokenizer.__reduce__`."""
    return Tokenizer._of_core(_core.Pipeline.from_image(image), settings)
