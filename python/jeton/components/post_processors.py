"""Post-processors: the special tokens around a text or a pair of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jeton.arguments import (
    check_id,
    check_kind,
    check_text,
    checked_iterable,
    suggestion,
    token_and_id,
)
from jeton.components.component import Component, Steps, check_field_texts, read_json
from jeton.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from jeton.results.encoding import Encoding

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "PostProcessor",
    "RobertaProcessing",
    "Sequence",
    "TemplatePiece",
    "TemplateProcessing",
    "TemplateToken",
    "from_json",
]


@dataclass(frozen=True)
class PostProcessor(Component):
    """Base class of post-processors. Called with one or two encodings, it adds special tokens.

    Example:
        >>> import jeton
        >>> from jeton.components import post_processors
        >>> bert = post_processors.BertProcessing(sep=("[SEP]", 102), cls=("[CLS]", 101))
        >>> bert(jeton.CharTrainer().train("ab").encode_with_spans("ab")).ids
        [101, 0, 1, 102]
        >>> bert.added(pair=True)
        3
    """

    STAGE: ClassVar[str] = "post_processor"

    def __call__(
        self,
        encoding: Encoding,
        pair: Encoding | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """The encoding of one text or two, with special tokens.

        If this post-processor trims spans, it trims spaces, and GPT-2's character for a space.

        Args:
            encoding: The tokens of the text.
            pair: The tokens of a second text.
            add_special_tokens: Whether to add special tokens.

        Raises:
            ArgumentTypeError: `encoding` or `pair` is not an `Encoding`.
            UnsupportedError: A template names a token that it does not define.
        """
        from jeton.results.encoding import Encoding

        encodings = [encoding] if pair is None else [encoding, pair]
        for name, one in zip(("encoding", "pair"), encodings, strict=False):
            check_kind(name, one, Encoding, "an Encoding")
        check_kind("add_special_tokens", add_special_tokens, bool, "a bool")
        columns = [
            (
                one.ids,
                one.spans,
                one.word_ids,
                one.type_ids,
                one.sequence_ids,
                one.special_tokens_mask,
                one.tokens,
            )
            for one in encodings
        ]
        return Encoding(*self._in_core().process(columns, add_special_tokens))

    def _tokens(self) -> list[tuple[str, int]]:
        """The tokens that it adds around texts, with their ids."""
        return self._in_core().frame_tokens()

    def added(self, pair: bool = False) -> int:
        """How many special tokens it adds around one text, or around two."""
        return self._in_core().added(bool(pair))


@dataclass(frozen=True)
class TemplatePiece:
    """One piece of a template: a text, or a special token.

    Args:
        name: `"$A"` or `"$B"` for a text; otherwise the name of a special token.
        type_id: The type id of its tokens.
    """

    name: str
    type_id: int = 0

    def __post_init__(self) -> None:
        check_text("TemplatePiece.name", self.name)
        check_id("TemplatePiece.type_id", self.type_id)

    @classmethod
    def parse(cls, piece: str) -> TemplatePiece:
        """A piece from its notation: `$A`, `$B:1`, `$1`, `[SEP]`, `[SEP]:1`.

        Example:
            >>> from jeton.components import post_processors
            >>> post_processors.TemplatePiece.parse("$B:1")
            TemplatePiece(name='$B', type_id=1)
        """
        name, colon, number = check_text("a piece of a template", piece).rpartition(":")
        if not colon:
            name, number = piece, "0"
        if not number.isdecimal() or len(number) > 9 or not name:
            raise ArgumentError(
                f"{piece!r} is not a piece of a template: write $A, $B or a special token, with :1 "
                "for the type id 1"
            )
        if name[:1] == "$":
            which = name[1:]
            if which.isdecimal() and len(which) < 10:
                return cls("$A", int(which))
            if which.upper() not in ("", "A", "B"):
                raise ArgumentError(f"{piece!r} is not a text of a template: write $A or $B")
            return cls("$" + (which.upper() or "A"), int(number))
        return cls(name, int(number))

    def to_dict(self) -> dict[str, object]:
        """This piece as a `tokenizer.json` holds it."""
        if self.name in ("$A", "$B"):
            return {"Sequence": {"id": self.name[1], "type_id": self.type_id}}
        return {"SpecialToken": {"id": self.name, "type_id": self.type_id}}

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> TemplatePiece:
        """The piece of a dict of `to_dict`."""
        kind, fields = next(iter(data.items()))
        return cls("$" + fields["id"] if kind == "Sequence" else fields["id"], fields["type_id"])


@dataclass(frozen=True)
class TemplateToken:
    """A special token of a template.

    Args:
        name: The name that templates use.
        ids: Its ids.
        tokens: The tokens with these ids.
    """

    name: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        check_text("TemplateToken.name", self.name)
        check_kind("TemplateToken.ids", self.ids, Iterable, "an iterable of ints")
        ids = tuple(check_id("each of TemplateToken.ids", id) for id in self.ids)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "tokens", check_field_texts(self, "tokens", self.tokens))
        if len(self.ids) != len(self.tokens):
            raise ArgumentError(
                f"TemplateToken {self.name!r} has {len(self.ids)} ids and {len(self.tokens)} tokens"
            )


def _template(name: str, template: object) -> tuple[TemplatePiece, ...]:
    if isinstance(template, str):
        template = template.split()
    template = checked_iterable(
        name, template, "a template, a str or a list of pieces", but=(bytes,)
    )
    return tuple(
        piece
        if isinstance(piece, TemplatePiece)
        else TemplatePiece.parse(check_text(f"each piece of {name}", piece))
        for piece in template
    )


def _template_tokens(special_tokens: object) -> tuple[TemplateToken, ...]:
    items = special_tokens.items() if isinstance(special_tokens, Mapping) else special_tokens
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise ArgumentTypeError(
            "special_tokens must map tokens to ids, as in {'[SEP]': 102}, or be pairs of these, "
            f"not {type(special_tokens).__name__}"
        )
    tokens = []
    for position, item in enumerate(items):
        if not isinstance(item, TemplateToken):
            name, id = token_and_id(f"special_tokens[{position}]", item)
            item = TemplateToken(name, (id,), (name,))
        tokens.append(item)
    return tuple(tokens)


@dataclass(frozen=True)
class TemplateProcessing(PostProcessor):
    """A template for one text and one for two.

    Args:
        single: For one text: a `str` of pieces with spaces between, or a list of pieces. `$A` is
            the text, anything else a special token; `:1` after a piece sets the type id 1.
        pair: For two texts, `$A` and `$B`.
        special_tokens: The special tokens of the templates: a mapping or pairs of name and id, or
            `TemplateToken`s.

    Example:
        >>> from jeton.components import post_processors
        >>> bert = post_processors.TemplateProcessing(
        ...     "[CLS] $A [SEP]",
        ...     "[CLS] $A [SEP] $B:1 [SEP]:1",
        ...     special_tokens={"[CLS]": 101, "[SEP]": 102},
        ... )
        >>> bert.single[0]
        TemplatePiece(name='[CLS]', type_id=0)
    """

    single: tuple[TemplatePiece, ...]
    pair: tuple[TemplatePiece, ...]
    special_tokens: tuple[TemplateToken, ...]

    def __init__(
        self,
        single: str | Iterable[str | TemplatePiece] = "$A",
        pair: str | Iterable[str | TemplatePiece] = "$A $B:1",
        special_tokens: Mapping[str, int] | Iterable[tuple[str, int] | TemplateToken] = (),
    ) -> None:
        object.__setattr__(self, "single", _template("single", single))
        object.__setattr__(self, "pair", _template("pair", pair))
        object.__setattr__(self, "special_tokens", _template_tokens(special_tokens))
        names = [token.name for token in self.special_tokens]
        for name, template in {"single": self.single, "pair": self.pair}.items():
            for piece in template:
                if piece.name not in ("$A", "$B", *names):
                    close = suggestion(piece.name, names)
                    raise ArgumentError(
                        f"{name}: the template names {piece.name!r}, which special_tokens does not "
                        f"hold{close and f'; {close}'}"
                    )

    def to_dict(self) -> dict[str, object]:
        return {
            "type": "TemplateProcessing",
            "single": [piece.to_dict() for piece in self.single],
            "pair": [piece.to_dict() for piece in self.pair],
            "special_tokens": {
                token.name: {"id": token.name, "ids": list(token.ids), "tokens": list(token.tokens)}
                for token in self.special_tokens
            },
        }

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> TemplateProcessing:
        return cls(
            [TemplatePiece._from_dict(piece) for piece in data["single"]],
            [TemplatePiece._from_dict(piece) for piece in data["pair"]],
            [
                TemplateToken(token["id"], tuple(token["ids"]), tuple(token["tokens"]))
                for token in data["special_tokens"].values()
            ],
        )


@dataclass(frozen=True)
class BertProcessing(PostProcessor):
    """`[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with type ids 0 and 1.

    Args:
        sep: The separator and its id.
        cls: The token in front and its id.
    """

    sep: tuple[str, int]
    cls: tuple[str, int]


@dataclass(frozen=True)
class RobertaProcessing(PostProcessor):
    """`<s> A </s>` and `<s> A </s></s> B </s>`.

    Args:
        sep: The separator and its id.
        cls: The token in front and its id.
        trim_offsets: Whether spans leave out white space at the ends of a token.
        add_prefix_space: Whether the pre-tokenizer adds a space in front.
    """

    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool = True
    add_prefix_space: bool = True


@dataclass(frozen=True)
class ByteLevel(PostProcessor):
    """Leaves white space at the ends of a token out of its span; adds no tokens.

    Args:
        add_prefix_space: Whether the pre-tokenizer adds a space in front.
        trim_offsets: Whether to trim spans; without it this post-processor does nothing.
        use_regex: Only for the file format.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class Sequence(Steps, PostProcessor):
    """Applies several post-processors in order.

    Args:
        steps: The post-processors.
    """

    STEPS_NAME: ClassVar[str] = "processors"

    steps: tuple[PostProcessor, ...]

    def __init__(self, steps: Iterable[PostProcessor]) -> None:
        self.set_steps(steps)


def from_json(text: str) -> PostProcessor:
    """The post-processor of a JSON text, as in a Hugging Face `tokenizer.json`.

    Raises:
        FormatError: There is no such component; the message names it.

    Example:
        >>> from jeton.components import post_processors
        >>> post_processors.from_json(
        ...     '{"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}'
        ... )
        BertProcessing(sep=('[SEP]', 102), cls=('[CLS]', 101))
    """
    return read_json(PostProcessor, text)
