"""The plugins for vLLM and SGLang: with stand-ins written from the interfaces of these engines.

Where an engine is installed, its own loader is called instead.
"""

from __future__ import annotations

import importlib.metadata
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import jeton
from jeton.serving import sglang, vllm

transformers = pytest.importorskip("transformers")

TEXTS = ["", "low lower", " 図書館 don't 3.14<|end|>"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tok = jeton.BPETrainer(300, special_tokens=["<|end|>"]).train(["low lower lowest"])
    path = tmp_path_factory.mktemp("model")
    tok.as_transformers().save_pretrained(path)
    return path


def install(monkeypatch: pytest.MonkeyPatch, name: str, **content: object) -> None:
    """Makes a module importable, and the packages that it is in."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        if path not in sys.modules:
            monkeypatch.setitem(sys.modules, path, ModuleType(path))
    for key, value in content.items():
        monkeypatch.setattr(sys.modules[name], key, value, raising=False)


class Registry:
    """Of vLLM: a class of a module for each mode."""

    def __init__(self) -> None:
        self.tokenizers: dict[str, tuple[str, str]] = {}

    def register(self, mode: str, module: str, class_name: str) -> None:
        assert mode not in self.tokenizers, "vLLM warns of a mode that is registered twice"
        self.tokenizers[mode] = module, class_name


class CachedHfTokenizer:
    @classmethod
    def from_pretrained(cls, path: Any, *args: Any, **options: Any) -> Any:
        return transformers.AutoTokenizer.from_pretrained(path, *args, **options)


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> tuple[Registry, Registry]:
    tokenizers, renderers = Registry(), Registry()
    install(monkeypatch, "vllm.tokenizers.registry", TokenizerRegistry=tokenizers)
    install(monkeypatch, "vllm.tokenizers.hf", CachedHfTokenizer=CachedHfTokenizer)
    install(monkeypatch, "vllm.renderers.registry", RENDERER_REGISTRY=renderers)
    return tokenizers, renderers


def encodes_with_jeton(tokenizer: Any) -> bool:
    return type(tokenizer._tokenizer).__module__.startswith("jeton.")


def test_vllm_mode_encodes_with_jeton_to_the_same_ids(
    registries: tuple[Registry, Registry], folder: Path
) -> None:
    vllm.register()
    vllm.register()
    tokenizers, renderers = registries
    module, class_name = tokenizers.tokenizers["jeton"]
    tokenizer = getattr(sys.modules[module], class_name).from_pretrained(folder)
    plain = transformers.AutoTokenizer.from_pretrained(folder)
    assert encodes_with_jeton(tokenizer)
    assert not encodes_with_jeton(plain)
    assert [tokenizer.encode(text) for text in TEXTS] == [plain.encode(text) for text in TEXTS]
    assert renderers.tokenizers["jeton"] == ("vllm.renderers.hf", "HfRenderer")


def test_vllm_keeps_a_tokenizer_that_jeton_cannot_follow(
    registries: tuple[Registry, Registry],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = object()
    monkeypatch.setattr(CachedHfTokenizer, "from_pretrained", lambda *args, **options: slow)
    with caplog.at_level(logging.WARNING):
        assert vllm.JetonTokenizer.from_pretrained("a/model") is slow
    assert "it is not a fast tokenizer" in caplog.text


@pytest.mark.parametrize("value", [None, "", "0"])
def test_sglang_plugin_does_nothing_unless_asked(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(sglang.VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(sglang.VARIABLE, value)
    monkeypatch.setitem(sys.modules, "sglang", None)  # importing it would fail
    sglang.register()


def test_sglang_plugin_encodes_with_jeton(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    hooks: dict[str, Callable[..., Any]] = {}

    class HookRegistry:
        @staticmethod
        def register(target: str, hook: Callable[..., Any], kind: str) -> None:
            assert kind == "after"
            hooks[target] = hook

    class HookType:
        AFTER = "after"

    registry = "sglang.srt.plugins.hook_registry"
    install(monkeypatch, registry, HookRegistry=HookRegistry, HookType=HookType)
    monkeypatch.setenv(sglang.VARIABLE, "1")
    sglang.register()
    loaded = transformers.AutoTokenizer.from_pretrained(folder)
    expected = [loaded.encode(text) for text in TEXTS]
    ours = hooks[sglang.LOADER](loaded, str(folder), tokenizer_mode="auto")
    assert encodes_with_jeton(ours)
    assert [ours.encode(text) for text in TEXTS] == expected


def test_vllm_itself_loads_the_mode(folder: Path) -> None:
    registry = pytest.importorskip("vllm.tokenizers.registry")
    vllm.register()
    tokenizer = registry.get_tokenizer(str(folder), tokenizer_mode="jeton")
    plain = registry.get_tokenizer(str(folder), tokenizer_mode="hf")
    assert encodes_with_jeton(tokenizer)
    assert [tokenizer.encode(text) for text in TEXTS] == [plain.encode(text) for text in TEXTS]


@pytest.mark.parametrize(
    ("group", "function"),
    [("vllm.general_plugins", vllm.register), ("sglang.srt.plugins", sglang.register)],
)
def test_engines_find_the_plugins_by_entry_points(group: str, function: object) -> None:
    found = importlib.metadata.entry_points(group=group)
    if not found:
        pytest.skip("jeton was installed before it had entry points: install it again")
    assert function in [entry.load() for entry in found]
