"""The tokenizer: text to ids and back, with all features. It is immutable.

Look here for the class `jeton.Tokenizer`. Its constructor and its basic methods are in
`encoding/base_tokenizer`; the other files of this folder add the methods of other packages.
`jeton.load` and the trainers return tokenizers too; `jeton.components` are their parts.
"""

from __future__ import annotations

from types import FunctionType

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.tokenizer.call import CallMethods
from jeton.tokenizer.chat import ChatMethods
from jeton.tokenizer.chunk import ChunkMethods
from jeton.tokenizer.explain import ExplainMethods
from jeton.tokenizer.other_libraries import OtherLibraryMethods
from jeton.tokenizer.play import PlayMethod

__all__ = ["SpecialPolicy", "Tokenizer"]


class Tokenizer(
    CallMethods, ChunkMethods, ChatMethods, ExplainMethods, PlayMethod, OtherLibraryMethods
):
    """A tokenizer: text to ids and back.

    ==================  =======================================================================
    every day           `encode`, `decode`, `tokens`, `count`, `encode_batch`, `decode_batch`,
                        `tok(texts)`, `save`
    where tokens are    `encode_with_spans`, `spans_of`
    arrays, streams     `encode_array`, `count_batch`, `decode_bytes`, `encode_stream`,
                        `decode_stream`, `counted_text`
    length              `chunk`, `chunk_batch`, `truncate`, `exceeds`, `heal`
    chats               `chat`, `parse`, `parse_stream`, `count_messages`, `fit_messages`
    its tokens          `vocab`, `vocab_size`, `len(tok)`, `token in tok`, `special_tokens`,
                        `roles`
    understanding it    `explain`, `gotchas`, `usage`, `nbest`, `play`
    its parts           `stages`, `settings`
    another one         `replace`, `with_added_tokens`, `approximation`, `from_json`,
                        `from_ranks`, `to_json`, `digest`
    other libraries     `as_transformers`, `as_tiktoken`, `as_sentencepiece`, `as_xgrammar`,
                        `as_llguidance`
    ==================  =======================================================================

    It is immutable, so threads and forked processes can share it; options that vary are arguments
    of each call, and editing returns a new tokenizer. Tokenizers with the same stages are equal:
    they return the same ids. Their other settings (`roles`, `settings`) are not
    compared, but pickled and copied.

    A `str` with surrogates is not valid Unicode: a surrogate pair is read as the character that it
    encodes, a lone surrogate as U+FFFD. Spans still count the characters of the original `str`.

    Args:
        model: Turns pieces of text into tokens; see `jeton.components.models`.
        normalizer: Changes the text first; see `jeton.components.normalizers`.
        pre_tokenizer: Splits the text into pieces; see `jeton.components.pre_tokenizers`.
        post_processor: Adds special tokens around a text; see `jeton.components.post_processors`.
        decoder: Turns tokens back into text; see `jeton.components.decoders`. Without one, tokens
            are joined by spaces.
        added_tokens: Tokens that are matched by their spelling before any other stage.

    Raises:
        ArgumentError: An added token with the id of another token.
        ArgumentTypeError: A component at the wrong stage.
        FormatError: Components that contradict each other.

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


# Python's own errors name a method by its class: `Tokenizer.chunk`, not `ChunkMethods.chunk`.
for _part in Tokenizer.__mro__:
    if _part.__module__.startswith((f"{__name__}.", BaseTokenizer.__module__)):
        for _member in vars(_part).values():
            if isinstance(_member, FunctionType):
                _member.__module__ = __name__
                _member.__qualname__ = f"Tokenizer.{_member.__name__}"

BaseTokenizer._for_users = Tokenizer
