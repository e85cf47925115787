"""`patch_transformers`: the tokenizers that `AutoTokenizer` loads encode with jeton.

Look here for what is compared first, and for which calls the library's own code still handles.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import pickle
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from jeton import samples
from jeton.errors import FormatWarning, JetonError, UnsupportedError, warn_caller
from jeton.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tokenizers

    from jeton.encoding.calls import BatchEncoding

_CHANGES: Final = ("add_tokens", "add_special_tokens", "train", "train_from_iterator")
"""Methods that may change the ids of texts, as setting an attribute may."""
_HARMLESS: Final = ("encode_special_tokens",)
_COMPONENTS: Final = ("normalizer", "pre_tokenizer", "model", "post_processor")
"""What may be changed in place by whoever has read or set it, with effect on the tokenizer."""
_NASTY: Final = (
    "",
    " ",
    "  two  spaces \n\n\t",
    "é e\u0301 ﬁ ½ ｈａｌｆ",
    "東京 🙂👍🏽 \u200b\ufeff\x00",
    "don't 3.14 1,204",
)
_SAMPLE_LENGTH: Final = 4_000
"""How many characters of each text that ships with jeton are compared."""


class TransformersPatch:
    """What `patch_transformers` did, and how to undo it.

    Attributes:
        encoded_by_jeton: How many of the loaded tokenizers encode with jeton.
        refused: Why the others do not, in the order in which they were loaded.
        is_undone: Whether `undo` was called.
    """

    def __init__(self, undo: Callable[[], None]) -> None:
        self.encoded_by_jeton = 0
        self.refused: list[str] = []
        self._undo = undo
        self.is_undone = False

    def undo(self) -> None:
        """Makes `AutoTokenizer` load as before this patch; a later patch stays in effect.

        Tokenizers that are already loaded do not change. Undoing a patch twice has no effect.
        """
        self.is_undone = True
        self._undo()

    def __enter__(self) -> TransformersPatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.undo()


def patch_transformers() -> TransformersPatch:
    """Makes `AutoTokenizer.from_pretrained` return tokenizers that encode with jeton.

    Each has the class that it would have without the patch, with all its methods. When it is
    loaded, its ids are compared with jeton's on texts of many kinds; if they differ, or it is not a
    fast tokenizer, it stays as it is, and a warning says why. Offsets are the library's. The
    library's own code still handles calls that truncate, pad, encode pairs or take words, and all
    calls once the tokenizer is changed in a way that jeton cannot follow. A change of a component
    in place (`tok.backend_tokenizer.normalizer.prepend = "x"`) is seen, too. `DecodeStream`,
    `Encoding.merge` and `PostProcessor.process` of the library take them and their encodings, also
    after `undo`.

    Returns:
        The patch. Its `undo()`, or the end of a `with` block, restores the library.

    Warns:
        FormatWarning: A loaded tokenizer does not encode with jeton; the warning says why.

    Raises:
        UnsupportedError: transformers is not installed.

    Example:
        >>> import jeton
        >>> with jeton.patch_transformers() as patch:  # doctest: +SKIP
        ...     tok = transformers.AutoTokenizer.from_pretrained("gpt2")
        >>> patch.encoded_by_jeton  # doctest: +SKIP
        1
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise UnsupportedError(
            f"patch_transformers needs {error.name or 'transformers'} (pip install transformers)"
        ) from None
    before = AutoTokenizer.__dict__["from_pretrained"]

    def from_pretrained(cls: Any, *args: Any, **options: Any) -> Any:
        fast = before.__func__(cls, *args, **options)
        if patch.is_undone:
            return fast
        refusal = encode_with_jeton(fast)
        if refusal is None:
            patch.encoded_by_jeton += 1
        else:
            patch.refused.append(refusal)
            warn_caller(f"the tokenizer does not encode with jeton: {refusal}", FormatWarning)
        return fast

    replacement = classmethod(from_pretrained)

    def undo() -> None:
        if AutoTokenizer.__dict__["from_pretrained"] is replacement:
            AutoTokenizer.from_pretrained = before

    patch = TransformersPatch(undo)
    AutoTokenizer.from_pretrained = replacement
    return patch


def encode_with_jeton(fast: Any) -> str | None:
    """Makes one tokenizer of transformers encode with jeton, in place, if the ids are the same.

    Returns:
        Why it does not, and then it is as it was; `None` if it does.
    """
    try:
        fast._tokenizer = _Backend(*_compare(getattr(fast, "_tokenizer", None)))
    except JetonError as error:
        return str(error)
    return None


def _compare(theirs: object) -> tuple[tokenizers.Tokenizer, Tokenizer, bool]:
    """The library's tokenizer, jeton's, which gives the same ids, and whether their offsets are the
    same too. (jeton's cover the whole source of a token, also what a normalizer composed.)

    Raises:
        JetonError: jeton does not give the same ids.
    """
    import tokenizers

    if not isinstance(theirs, tokenizers.Tokenizer):
        raise UnsupportedError("it is not a fast tokenizer")
    try:
        serialized = theirs.to_str()
    except Exception as error:  # The library has no narrower type.
        raise UnsupportedError(f"a component of it is a Python class ({error})") from None
    values = {**json.loads(serialized), "truncation": None, "padding": None}
    if values["model"].get("dropout") or getattr(theirs.model, "alpha", None) is not None:
        raise UnsupportedError("its model samples, so its ids are random")
    ours = Tokenizer.from_json(json.dumps(values))
    plain = _without_settings(theirs)
    try:
        same_offsets = _compare_texts(plain, ours)
    finally:
        # The library's cache of words, which BPE and Unigram have, survives a change of the model.
        if hasattr(theirs.model, "_clear_cache"):
            theirs.model._clear_cache()
    return theirs, ours, same_offsets


def _compare_texts(plain: tokenizers.Tokenizer, ours: Tokenizer) -> bool:
    """Whether the two give the same offsets, too, for texts of many kinds.

    Raises:
        UnsupportedError: Their ids or type ids differ.
    """
    same_offsets = True
    texts = [
        *_NASTY,
        *(text[:_SAMPLE_LENGTH] for text in samples.read_all().values()),
        *(f"a {token.content} b{token.content}c" for token in ours.stages.added_tokens[:64]),
    ]
    for text in texts:
        for adds in (True, False):
            try:
                expected = plain.encode(text, add_special_tokens=adds)
            except Exception as error:
                what = f"the library does not encode {text[:40]!r} with it ({error})"
                raise UnsupportedError(what) from None
            row = _row(ours, text, adds=adds)
            if row["input_ids"] != expected.ids:
                raise UnsupportedError(f"its ids of {text[:40]!r} differ from jeton's")
            same_offsets = same_offsets and row["offset_mapping"] == expected.offsets
            if row["token_type_ids"] != expected.type_ids:
                raise UnsupportedError(f"its type ids of {text[:40]!r} differ from jeton's")
    return same_offsets


def _without_settings(theirs: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """The same tokenizer if it encodes whole texts, else a copy that does.

    A copy, since other threads may be encoding with the settings.
    """
    if theirs.truncation is None and theirs.padding is None and not theirs.encode_special_tokens:
        return theirs
    plain = copy.deepcopy(theirs)
    plain.no_truncation()
    plain.no_padding()
    plain.encode_special_tokens = False
    return plain


def _row(tok: Tokenizer, text: str, *, adds: bool) -> BatchEncoding:
    return tok(
        text,
        add_special_tokens=adds,
        special="allow",
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )


class _PatchedEncoding:
    """An encoding with jeton's ids; the library computes the rarely used attributes."""

    def __init__(self, backend: _Backend, text: str, ids: list[int], adds: bool) -> None:
        self.ids = ids
        self.attention_mask = [1] * len(ids)
        self.overflowing: list[Any] = []
        self.n_sequences = 1  # transformers reads it in each call.
        self._source = backend, text, adds
        self._whole: tokenizers.Encoding | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        import tokenizers

        return tokenizers.Encoding

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return repr(self.whole())

    def __reduce__(self) -> Any:
        return self.whole().__reduce_ex__(2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        backend, text, adds = self._source
        has_row = name == "type_ids" or (name == "offsets" and backend.same_offsets)
        if has_row and backend.ours is not None:
            row = _row(backend.ours, text, adds=adds)
            if row["input_ids"] == self.ids:
                self.type_ids = row["token_type_ids"]
                if backend.same_offsets:
                    self.offsets = row["offset_mapping"]
                return self.__dict__[name]
        value = getattr(self.whole(name), name)
        if name not in ("pad", "truncate"):
            return value

        def change(*args: object, **options: object) -> None:
            value(*args, **options)
            for key in ("ids", "attention_mask", "type_ids", "offsets", "overflowing"):
                setattr(self, key, getattr(self._whole, key))

        return change

    def whole(self, needed: str = "attributes") -> tokenizers.Encoding:
        """The library's encoding. `needed`: what of it, for the error if there is none."""
        if self._whole is None:
            backend, text, adds = self._source
            whole = backend.without_settings().encode(text, add_special_tokens=adds)
            if whole.ids != self.ids:
                raise UnsupportedError(
                    f"the tokenizer has changed since it encoded {text[:40]!r}; encode the text "
                    f"again for its {needed}"
                )
            self._whole = whole
        return self._whole


class _Backend:
    """A tokenizer of the library whose texts are encoded by jeton.

    Attributes:
        theirs: The library's tokenizer, for everything but encoding.
        ours: jeton's; `None` once a change made the two differ.
        same_offsets: Whether the offsets of the two are the same.
        watched: The state of each component that a caller has, when the two were last the same.
        plain: A copy of `theirs` that does not truncate or pad, once it is needed.
    """

    __slots__ = ("ours", "plain", "same_offsets", "theirs", "watched")

    def __init__(self, theirs: object, ours: Tokenizer | None, same_offsets: bool) -> None:
        object.__setattr__(self, "theirs", theirs)
        object.__setattr__(self, "ours", ours)
        object.__setattr__(self, "same_offsets", same_offsets)
        object.__setattr__(self, "watched", {})
        object.__setattr__(self, "plain", None)
        _extend_library()

    theirs: Any
    ours: Tokenizer | None
    same_offsets: bool
    watched: dict[str, object]
    plain: tokenizers.Tokenizer | None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.theirs)

    def encode(
        self,
        sequence: object,
        pair: object = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Any:
        """The encoding of a text, or of a pair."""
        if pair is None and self._can_encode([sequence], is_pretokenized):
            return self._encode([sequence], add_special_tokens)[0]
        return self.theirs.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, input: object, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        """The encodings of texts."""
        if self._can_encode(input, is_pretokenized):
            return self._encode(input, add_special_tokens)
        return self.theirs.encode_batch(input, is_pretokenized, add_special_tokens)

    def post_process(
        self, encoding: object, pair: object = None, add_special_tokens: bool = True
    ) -> tokenizers.Encoding:
        """An encoding, or a pair, with what the post-processor adds."""
        theirs: tokenizers.Tokenizer = self.theirs
        return theirs.post_process(_of_library(encoding), _of_library(pair), add_special_tokens)

    def _can_encode(self, texts: Any, is_pretokenized: bool) -> bool:
        self._follow_components()
        theirs = self.theirs
        return (
            self.ours is not None
            and not is_pretokenized
            and theirs.truncation is None
            and theirs.padding is None
            and not theirs.encode_special_tokens
            and all(isinstance(text, str) for text in texts)
        )

    def _encode(self, texts: Any, adds: bool) -> list[_PatchedEncoding]:
        assert self.ours is not None
        rows = self.ours(list(texts), add_special_tokens=adds, special="allow")["input_ids"]
        return [
            _PatchedEncoding(self, text, ids, adds) for text, ids in zip(texts, rows, strict=True)
        ]

    def without_settings(self) -> tokenizers.Tokenizer:
        """The library's tokenizer without truncation and padding; a copy if it has them set."""
        self._follow_components()
        if self.plain is not None:
            return self.plain
        plain: tokenizers.Tokenizer = _without_settings(self.theirs)
        if plain is not self.theirs:
            object.__setattr__(self, "plain", plain)
        return plain

    def _follow_components(self) -> None:
        """Compares again if a component was changed in place."""
        watched = list(self.watched.items())  # Other threads may add to it.
        if any(_state(self.theirs, name) != state for name, state in watched):
            self._compare_again()

    def _compare_again(self) -> None:
        object.__setattr__(self, "plain", None)
        self.watched.update({name: _state(self.theirs, name) for name in list(self.watched)})
        try:
            _, ours, same_offsets = _compare(self.theirs)
            object.__setattr__(self, "ours", ours)
            object.__setattr__(self, "same_offsets", same_offsets)
        except JetonError:
            object.__setattr__(self, "ours", None)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.theirs, name)
        if name in _COMPONENTS and name not in self.watched:
            self.watched[name] = _state(self.theirs, name)
        if name not in _CHANGES:
            return value

        def call_and_compare(*args: object, **options: object) -> Any:
            result = value(*args, **options)
            self._compare_again()
            return result

        return call_and_compare

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.theirs, name, value)
        if name in _COMPONENTS:
            self.watched[name] = None
        if name not in _HARMLESS:
            self._compare_again()

    def __reduce__(self) -> tuple[Any, ...]:
        self._follow_components()
        return _Backend, (self.theirs, self.ours, self.same_offsets)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Backend:
        self._follow_components()
        return _Backend(copy.deepcopy(self.theirs, memo), self.ours, self.same_offsets)


def _state(tokenizer: tokenizers.Tokenizer, name: str) -> object:
    """A value that differs once a component was changed in place.

    Of a model, these are its properties and the size of its vocab.
    """
    component = getattr(tokenizer, name)
    if name == "model":
        size = tokenizer.get_vocab_size(with_added_tokens=False)
        names = _properties(type(component))  # type: ignore[arg-type]  # mypy: a type has no hash
        return [size, *(getattr(component, key) for key in names)]
    try:
        return pickle.dumps(component)
    except Exception:  # A component that is a Python class: `_compare` refuses the tokenizer.
        return None


def _of_library(value: object) -> Any:
    """The library's own object in place of one of these, also in a sequence."""
    if type(value) is _Backend:
        return value.theirs
    if type(value) is _PatchedEncoding:
        return value.whole()
    if isinstance(value, (list, tuple)) and any(type(it) is _PatchedEncoding for it in value):
        return [*map(_of_library, value)]
    return value


@functools.cache
def _properties(kind: type) -> tuple[str, ...]:
    return tuple(key for key in dir(kind) if inspect.isgetsetdescriptor(getattr(kind, key)))


@functools.cache
def _extend_library() -> None:
    """Lets the functions of the library that take a tokenizer or encodings take these.

    They are replaced on their classes, since programs import the classes before the patch. `undo`
    leaves them so, for the tokenizers that are already loaded.
    """
    from tokenizers import Encoding
    from tokenizers.decoders import DecodeStream
    from tokenizers.processors import PostProcessor

    def extended(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: object, **options: object) -> Any:
            values = {name: _of_library(value) for name, value in options.items()}
            return original(*map(_of_library, args), **values)

        return call

    DecodeStream.step = extended(DecodeStream.step)  # type: ignore[method-assign]
    PostProcessor.process = extended(PostProcessor.process)  # type: ignore[method-assign]
    Encoding.merge = staticmethod(extended(Encoding.merge))  # type: ignore[method-assign]
