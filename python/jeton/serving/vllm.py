"""The tokenizer mode `jeton` of vLLM, a plugin that vLLM calls in each of its processes."""

from __future__ import annotations

import logging
from typing import Any

from jeton.transformers_patch import encode_with_jeton

MODE = "jeton"


class JetonTokenizer:
    """What vLLM loads in the mode `jeton`: its own tokenizer of the model, encoding with jeton."""

    @classmethod
    def from_pretrained(cls, path_or_repo_id: Any, *args: Any, **options: Any) -> Any:
        """The tokenizer of a model, as the mode `hf` of vLLM returns it.

        If jeton does not give its ids, it stays as it is, and the log says why. The arguments are
        vLLM's.
        """
        from vllm.tokenizers.hf import CachedHfTokenizer

        tokenizer = CachedHfTokenizer.from_pretrained(path_or_repo_id, *args, **options)
        if refusal := encode_with_jeton(tokenizer):
            log = logging.getLogger("vllm.plugins.jeton")
            log.warning("The tokenizer does not encode with jeton: %s", refusal)
        return tokenizer


def register() -> None:
    """Adds the mode to vLLM's tokenizers and, as that of `hf`, to what renders chats.

    vLLM may call this several times in a process.
    """
    from vllm.renderers.registry import RENDERER_REGISTRY
    from vllm.tokenizers.registry import TokenizerRegistry

    if MODE not in TokenizerRegistry.tokenizers:
        TokenizerRegistry.register(MODE, __name__, JetonTokenizer.__name__)
        RENDERER_REGISTRY.register(MODE, "vllm.renderers.hf", "HfRenderer")
