"""A tokenizer as transformers' own class of fast ones: for a Trainer, a collator or a pipeline.

Look here for what `Tokenizer.as_transformers` gives, and for what of it is not jeton's.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Final

from jeton.errors import UnsupportedError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from jeton.base_tokenizer import BaseTokenizer

__all__ = ["fast_tokenizer"]

_OF_THE_FOLDER: Final = ("name_or_path", "is_local", "local_files_only")
"""Arguments that name the folder it was read from, and would be saved with it."""
_OF_A_CLASS: Final = ("model_input_names", "padding_side", "truncation_side")
"""What a class of transformers for one model says where the configuration does not."""


def fast_tokenizer(tokenizer: BaseTokenizer) -> PreTrainedTokenizerFast:
    """What transformers loads from the folder that a tokenizer is saved to.

    Raises:
        UnsupportedError: `tokenizer.json` cannot hold it exactly; transformers is not installed.
    """
    try:
        import transformers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise UnsupportedError(
            f"as_transformers needs {error.name or 'transformers'} (pip install transformers)"
        ) from None
    config = tokenizer.config
    kind = getattr(transformers, str(config.get("tokenizer_class")), None)
    of_class = {
        name: getattr(kind, name)
        for name in _OF_A_CLASS
        if name not in config and hasattr(kind, name)
    }
    with tempfile.TemporaryDirectory(prefix="jeton-") as folder:
        tokenizer.save(folder)
        fast = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, **of_class)
    for name in _OF_THE_FOLDER:
        fast.init_kwargs.pop(name, None)
    fast.name_or_path = ""
    return fast
