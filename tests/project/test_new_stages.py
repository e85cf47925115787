"""A new stage touches the files that CONTRIBUTING lists, since all others ask for facts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADING = "### A normalizer, a pre-tokenizer or a decoder"
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\([a-z]+\) )?mod \w+ \{.*", re.DOTALL)
KIND = re.compile(r"\b(Normalizer|PreTokenizer|Decoder)::([A-Z]\w*)")

ALLOWED = {
    # The strategy that runs this normalizer itself.
    "fast": {"Normalizer::SentencePiece"},
    # What stands in for a model that makes a token of each character.
    "training": {"PreTokenizer::FixedLength"},
    "core": {"PreTokenizer::FixedLength"},
}
"""The kinds of stages that a crate beside the stages and the formats may name."""


def listed() -> list[Path]:
    """The files and folders of Rust that the list names."""
    _, _, rest = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition(HEADING)
    section, _, _ = rest.partition("\n### ")
    return [Path(path) for path in re.findall(r"`(crates/[\w/.]+)`", section)]


@pytest.mark.parametrize("crate", sorted(ALLOWED))
def test_other_crates_ask_for_facts(crate: str) -> None:
    named = set()
    source = ROOT / "crates" / crate / "src"
    for path in source.rglob("*.rs"):
        # A conversion from one kind of stage to another has to know both.
        if path.name.endswith("tests.rs") or source / "convert" in path.parents:
            continue
        code = re.sub(r"//.*", "", path.read_text("utf-8"))
        named |= {"::".join(kind) for kind in KIND.findall(TESTS.sub("", code))}
    assert named <= ALLOWED[crate]


TOYS = {
    "normalizer": ("Normalizer", "StripAccents"),
    "pre_tokenizer": ("PreTokenizer", "UnicodeScripts"),
    "decoder": ("Decoder", "Fuse"),
}
"""For each module of stages its enum, and the variant that the toy is a copy of."""


@pytest.mark.skipif(
    "JETON_TOY_STAGE" not in os.environ, reason="JETON_TOY_STAGE=1 compiles the core once more"
)
def test_toys_compile_by_the_list(tmp_path: Path) -> None:
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "crates", tmp_path / "crates")
    files: set[Path] = set()
    for path in map(tmp_path.joinpath, listed()):
        files |= {path} if path.is_file() else set(path.rglob("*.rs"))
    for module, (enum, model) in TOYS.items():
        of_enum = tmp_path / "crates/stages/src" / module / "mod.rs"
        assert of_enum in files
        for path in files:
            old = code = path.read_text("utf-8")
            owner = rf"(?:Self|{enum})" if path.parent == of_enum.parent else enum
            code = re.sub(rf"\b({owner}::){model}(?=\s+(?:=>|\|))", rf"\1{model} | \1Toy", code)
            if path == of_enum:
                code = code.replace(
                    f"    {model},\n", f"    {model},\n    /// A toy.\n    Toy,\n", 1
                )
            if code != old:
                path.write_text(code, "utf-8")
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    check = subprocess.run(
        ["cargo", "check", "--quiet", "--offline", "--package", "jeton-core"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert check.returncode == 0, check.stderr
