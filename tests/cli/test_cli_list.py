"""`jeton list`: the names that are known."""

from __future__ import annotations

import json

import jeton
from command_line import Run, here, run
from jeton.cli.terminal import width_of
from jeton.loading import registry


def test_jeton_list(run: Run) -> None:
    shown = run("list").stdout
    for name in (*registry.KNOWN, *jeton.patterns(), "text-davinci-003", "gpt-5"):
        assert name in shown
    assert max(map(width_of, shown.splitlines())) <= 80
    models = run("list", "models").stdout
    assert "gpt-4" in models and "whitespace" not in models
    everything = json.loads(run("list", "--format", "json").stdout)
    assert set(everything["tokenizers"]) == set(registry.KNOWN)
    assert everything["models"] == dict(registry.MODELS)
    assert everything["patterns"]["gpt2"]["aliases"]
    assert set(json.loads(run("list", "patterns", "--format", "json").stdout)) == {"patterns"}
    assert "tokenizers" in run("list", "nothing", code=2).stderr
