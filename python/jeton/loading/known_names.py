"""Known names: the tokenizers that `load` knows.

Look here for `jeton.names()`, and for the suggestion for an unknown name.
"""

from __future__ import annotations

import re

import jeton._core as _core
from jeton.loading import registry

_HUB = {
    "FacebookAI": ("roberta-", "xlm-roberta-", "xlm-mlm-", "xlm-clm-"),
    "albert": ("albert-",),
    "almanach": ("camembert-",),
    "distilbert": ("distilbert-", "distilgpt2", "distilroberta-"),
    "google-bert": ("bert-",),
    "google-t5": ("t5-",),
    "openai-community": ("gpt2-", "openai-gpt"),
    "xlnet": ("xlnet-",),
}
"""Beginnings of repository names that once had no organisation, by the organisation of today."""

_FAMILIES = {
    r"bert": "google-bert/bert-base-uncased",
    r"chat[-_ ]?gpt": "gpt-4o",
    r"deepseek.*": "deepseek-ai/DeepSeek-V3",
    r"gpt[-_ ]?3": "r50k_base",
    r"gpt[-_ ]?neox.*|pythia.*": "EleutherAI/gpt-neox-20b",
    r"llama[-_ ]?2.*": "meta-llama/Llama-2-7b-hf",
    r"mistral.*": "mistralai/Mistral-7B-v0.1",
    r"qwen.*": "Qwen/Qwen2.5-7B",
    r"roberta": "FacebookAI/roberta-base",
    r"t5": "google-t5/t5-small",
}
"""Names of model families, and the tokenizer of one model of each."""


def names() -> dict[str, str]:
    """The names that `load` knows, each with a description: tokenizers first, then models.

    The name of a model version, such as `gpt-4o-2024-05-13`, is recognised by its beginning. The
    files of a name are downloaded once, unless they are on this machine.

    Example:
        >>> import jeton
        >>> jeton.names()["gpt2"], jeton.names()["gpt-4"]
        ('GPT-2, 50,257 tokens', 'a model, with cl100k_base')
    """
    tokenizers = {name: tokenizer.what for name, tokenizer in registry.KNOWN.items()}
    models = {name: f"a model, with {encoding}" for name, encoding in registry.MODELS.items()}
    return tokenizers | {name: what for name, what in models.items() if name not in tokenizers}


def suggestion(name: str) -> str | None:
    """A suggestion for an unknown name: a known name, or a repository."""
    for organisation, beginnings in _HUB.items():
        if name.lower().startswith(beginnings):
            return f"{organisation}/{name}"
    version = re.sub(r"^gpt[-_ ]?(?=\d)", "gpt-", name.lower())
    if registry.known_name(version):
        return version
    for family, tokenizer in _FAMILIES.items():
        if re.fullmatch(family, name.lower()):
            return tokenizer
    return _core.did_you_mean(name, [*registry.KNOWN, *registry.MODELS])
