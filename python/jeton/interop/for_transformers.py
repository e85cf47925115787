"""A tokenizer as transformers' own fast class: for a Trainer, a collator or a pipeline.

Look here for the result of `Tokenizer.as_transformers`, and for the parts of it that are not
jeton's.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jeton.components import models
from jeton.errors import FormatWarning, UnsupportedError, warn_caller
from jeton.loading.folder import write

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from jeton.encoding.base_tokenizer import BaseTokenizer

_OF_THE_FOLDER: Final = ("name_or_path", "is_local", "local_files_only")
"""Arguments that name the temporary folder; saving the tokenizer would write them out."""
_OF_A_CLASS: Final = ("model_input_names", "padding_side", "truncation_side")
"""Settings that come from transformers' class for the model if the configuration has none."""


def fast_tokenizer(tokenizer: BaseTokenizer) -> PreTrainedTokenizerFast:
    """Saves a tokenizer to a temporary folder and loads it with transformers.

    Warns:
        FormatWarning: A special token shares its id with another one, whose name is kept.
    """
    try:
        import transformers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise UnsupportedError(
            f"as_transformers needs {error.name or 'transformers'} (pip install transformers)"
        ) from None
    if isinstance(tokenizer.stages.model, models.PickyBPE):
        raise UnsupportedError(
            "as_transformers: transformers has no model that does what PickyBPE does; train "
            "without drop_residues"
        )
    config = tokenizer.settings.config
    kind = getattr(transformers, str(config.get("tokenizer_class")), None)
    defaults = {
        name: getattr(kind, name)
        for name in _OF_A_CLASS
        if name not in config and hasattr(kind, name)
    }
    with tempfile.TemporaryDirectory(prefix="jeton-") as folder:
        saved = write(Path(folder), tokenizer._core, tokenizer._settings, tokenizer.roles)
        fast = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, **defaults)
    model = fast.backend_tokenizer.model
    if getattr(model, "dropout", None):
        model.dropout = None  # ids would be random, and no call could turn that off
    for name in _OF_THE_FOLDER:
        fast.init_kwargs.pop(name, None)
    fast.name_or_path = ""
    if saved.left_out:
        warn_caller(
            f"transformers' tokenizer leaves out {', '.join(saved.left_out)}: it has one name per "
            "id",
            FormatWarning,
        )
    return fast
