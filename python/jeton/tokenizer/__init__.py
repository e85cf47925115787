"""The tokenizer: text to ids and back, and all that is asked of one. It never changes once built.

Look here for the class `jeton.Tokenizer`. How it is made and what it does by itself is
`base_tokenizer`; beside this file stand its methods for what other packages do with a tokenizer.
`jeton.load` and the trainers make them too, and `jeton.components` are what they are made of.
"""

from __future__ import annotations

from types import FunctionType

from jeton.argument_types import SpecialPolicy
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.encoding.other_names import knows_other_names
from jeton.tokenizer.call import Calls
from jeton.tokenizer.chat import Chats
from jeton.tokenizer.chunk import Cuts
from jeton.tokenizer.explain import Explains
from jeton.tokenizer.other_libraries import Becomes
from jeton.tokenizer.play import Plays

__all__ = ["SpecialPolicy", "Tokenizer"]


class Tokenizer(Calls, Cuts, Chats, Explains, Plays, Becomes):
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


def _name_as_one() -> None:
    """Names methods `Tokenizer.chunk` in the errors of Python, whichever file they stand in."""
    for part in Tokenizer.__mro__:
        if part.__module__.startswith((f"{__name__}.", BaseTokenizer.__module__)):
            for name, member in vars(part).items():
                if isinstance(member, FunctionType):
                    member.__module__, member.__qualname__ = __name__, f"Tokenizer.{name}"


_name_as_one()
knows_other_names(Tokenizer)
BaseTokenizer._for_users = Tokenizer
