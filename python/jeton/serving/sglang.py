"""The plugin of SGLang, which SGLang calls in each of its processes before it loads a tokenizer."""

from __future__ import annotations

import logging
import os
from typing import Any

from jeton.transformers_patch import encode_with_jeton

VARIABLE = "JETON_SGLANG"
LOADER = "sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer"


def register() -> None:
    """Makes the tokenizers that SGLang loads encode with jeton, if `JETON_SGLANG=1` is set."""
    if os.environ.get(VARIABLE, "0") in ("", "0"):
        return
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(LOADER, patch_loaded, HookType.AFTER)


def patch_loaded(tokenizer: Any, *args: Any, **options: Any) -> Any:
    """Makes a tokenizer that SGLang has loaded encode with jeton, or logs why it cannot."""
    if refusal := encode_with_jeton(tokenizer):
        log = logging.getLogger("sglang.plugins.jeton")
        log.warning("The tokenizer does not encode with jeton: %s", refusal)
    return tokenizer
