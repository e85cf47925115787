"""tiktoken's interface, on top of jeton: change one import line to use it.

    from jeton.tiktoken import encoding_for_model, get_encoding, list_encoding_names

Modules and names, arguments, results and the types of errors are those of tiktoken 0.14; tiktoken
itself is not needed. Files come from the same places as in `jeton.load`, including
`TIKTOKEN_CACHE_DIR`.

Example:
    >>> from jeton.tiktoken import encoding_name_for_model, list_encoding_names
    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    >>> list_encoding_names()[:3]
    ['gpt2', 'r50k_base', 'p50k_base']
"""

from __future__ import annotations

from jeton.interop.tiktoken import Encoding, TiktokenEncoding
from jeton.tiktoken.model import encoding_for_model, encoding_name_for_model
from jeton.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "TiktokenEncoding",
    "__version__",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

__version__ = "0.14.0"
"""The version of tiktoken whose interface this is."""
