"""jeton in environments that hold only its core dependencies, or those and one extra.

The environment in which tests run has every optional package, and a user's has few. Each of these
here holds jeton and what it declares, no more: packages are linked from the environment of the
tests, so nothing is downloaded. `JETON_WHEEL` names a built wheel, which pip then installs if its
requirements are there (`make bare`); without it the files of the package are copied.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

tomllib = pytest.importorskip("tomllib")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WHEEL = os.environ.get("JETON_WHEEL")
PROBE = ROOT / "tests" / "support" / "probe_install.py"

USES = {
    "edit": """
import json, pathlib
import numpy as np
from safetensors.numpy import save_file
from jeton import edit
tok = jeton.BPETrainer(258, pattern="gpt4").train(["hello hello help"])
pathlib.Path("model").mkdir()
pathlib.Path("model/config.json").write_text(json.dumps({"vocab_size": 258}))
tables = {"model.embed_tokens.weight": np.zeros((258, 2), np.float32)}
save_file(tables, "model/model.safetensors")
edit.rewrite_checkpoint("model", edit.truncate(tok, 257), "smaller")
""",
    "hub": """
from jeton.errors import JetonError
try:
    jeton.load("nobody/nothing")
except JetonError as error:
    assert "pip install" not in str(error), error
""",
    "learn": """
from jeton.display.views import screen
assert screen.__doc__
""",
    "parquet": """
import pyarrow as pa, pyarrow.parquet
pa.parquet.write_table(pa.table({"text": ["low", "lower"]}), "a.parquet")
from pathlib import Path
assert jeton.CharTrainer().train([Path("a.parquet")]).encode("we")
""",
    "play": """
import urllib.request
tok = jeton.load("jeton-4k")
with tok.play("a text") as page:
    with urllib.request.urlopen(page.url) as answer:
        assert b"<title" in answer.read()
assert tok.chat([{"role": "user", "content": "Hi"}], template="chatml").ids
""",
    "plots": "import sklearn.manifold  # what jeton.nn.embedding_map imports",
    "ray": "import ray.data; from jeton import ray; assert ray.count and ray.prepare",
    "stores": """
import aiohttp, fsspec, gcsfs, huggingface_hub, s3fs
from jeton import data
fsspec.filesystem("memory").pipe("/b/a.txt", b"a text")
tok = jeton.load("jeton-4k")
assert data.prepare("memory://b/a.txt", tok, "memory://b/set").documents == 1
assert tok.decode(data.TokenDataset("memory://b/set")[:-1]) == "a text"
""",
    "torch": """
from jeton import nn
tok = jeton.load("jeton-4k")
ids = tok(["a text"], return_tensors="pt")["input_ids"]
assert nn.TokenEmbedding(tok.vocab_size, 4)(ids).shape[-1] == 4
""",
}
"""What each extra is for, used once."""


COMPLETION = """
import os, jeton.cli
os.environ |= {"_JETON_COMPLETE": "bash_complete", "COMP_WORDS": "jeton c", "COMP_CWORD": "1"}
jeton.cli.main.main(prog_name="jeton")
"""

PLUGINS = """
from importlib.metadata import entry_points
for group in sorted(entry_points().groups):
    for plugin in entry_points(group=group):
        if plugin.value.startswith("jeton.serving."):
            print(group)
            assert callable(plugin.load())
"""

CHAT = """
import jeton
messages = [{"role": "user", "content": "Hi"}]
print(jeton.load("jeton-4k").chat(messages, template="chatml").text)
"""


def required(requirements: list[str]) -> set[str]:
    """The distributions that these requirements bring, and those that they bring in turn."""
    found: set[str] = set()
    open_ones = [(Requirement(it), frozenset[str]()) for it in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while open_ones:
        requirement, extras_of_owner = open_ones.pop()
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": it}) for it in extras_of_owner or {""}):
            continue
        asked = (requirement.name, frozenset(requirement.extras))
        if asked not in seen:
            seen.add(asked)
            found.add(requirement.name)
            inner = distribution(requirement.name).requires or []
            open_ones += [(Requirement(it), asked[1]) for it in inner]
    return found


def link_packages(requirements: list[str], folder: Path) -> None:
    for name in required(requirements):
        package = distribution(name)
        tops = {file.parts[0] for file in package.files or () if file.parts[0] != ".."}
        for top in tops - {"__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(package.locate_file(top))))


def install_jeton(extra: str | None, python: Path, packages: Path) -> None:
    if WHEEL is None:
        source = ROOT / "python" / "jeton"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, packages / "jeton", ignore=ignored)
        return
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    wheel = f"{Path(WHEEL).resolve()}[{extra}]" if extra else str(Path(WHEEL).resolve())
    done = subprocess.run([*pip, "--no-index", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


class Environment:
    """A virtual environment with jeton and what it declares."""

    def __init__(self, extra: str | None, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        venv.create(folder / "venv", symlinks=True)
        self.python = folder / "venv" / "bin" / "python"
        (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        link_packages([*PROJECT["dependencies"], *(EXTRAS[extra] if extra else ())], packages)
        install_jeton(extra, self.python, packages)

    def run(self, *arguments: str) -> str:
        return self.call(str(self.python), "-W", "error", *arguments)

    def call(self, program: str, *arguments: str) -> str:
        kept = {it: os.environ[it] for it in ("PATH", "HOME", "LANG") if it in os.environ}
        done = subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            env={**kept, "JETON_CACHE_DIR": str(self.folder / "cache"), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    def probe(self) -> None:
        assert "all of it works" in self.run(str(PROBE))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    folder = tmp_path_factory.mktemp("bare")
    yield Environment(None, folder)
    shutil.rmtree(folder)


@pytest.mark.large
class TestBareInstall:
    """With the core dependencies alone, all works but what an extra is for."""

    def test_everything_can_be_imported_and_documented(self, bare: Environment) -> None:
        bare.probe()

    def test_the_code_of_the_readme_runs(self, bare: Environment) -> None:
        readme = (ROOT / "README.md").read_text("utf-8")
        for code in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
            bare.run("-c", code)

    def test_the_demo_runs(self, bare: Environment) -> None:
        assert "jeton" in bare.run("-m", "jeton", "demo", "--force")

    def test_commands_and_completion_run_without_arguments(self, bare: Environment) -> None:
        assert "Usage" in bare.run("-m", "jeton", "--help")
        assert "jeton-4k" in bare.run("-m", "jeton", "list")
        assert "compare" in bare.run("-c", COMPLETION)

    def test_a_chat_is_rendered(self, bare: Environment) -> None:
        assert "Hi<|im_end|>" in bare.run("-c", CHAT)

    @pytest.mark.skipif(WHEEL is None, reason="JETON_WHEEL names no wheel (`make bare` builds one)")
    def test_the_command_its_manual_and_the_plugins_are_installed(self, bare: Environment) -> None:
        command = str(bare.python.with_name("jeton"))
        assert "Usage" in bare.call(command, "--help")
        assert (bare.python.parents[1] / "share/man/man1/jeton.1").is_file()
        assert "2" in bare.call(command, "count", "jeton-4k", "--text", "Hi")
        assert bare.run("-c", PLUGINS).split() == ["sglang.srt.plugins", "vllm.general_plugins"]

    @pytest.mark.parametrize("extra", ["torch", "play"])
    def test_a_feature_without_its_extra_names_the_extra(
        self, bare: Environment, extra: str
    ) -> None:
        use = {"torch": "jeton.nn.TokenEmbedding", "play": "jeton.load('jeton-4k').play()"}[extra]
        code = (
            f"import jeton\ntry: {use}\nexcept jeton.errors.UnsupportedError as error: print(error)"
        )
        assert f"pip install 'jeton[{extra}]'" in bare.run("-c", code)


@pytest.mark.large
@pytest.mark.parametrize("extra", EXTRAS)
def test_a_single_extra_suffices_for_its_purpose(extra: str, tmp_path: Path) -> None:
    try:
        environment = Environment(extra, tmp_path)
    except PackageNotFoundError as missing:
        pytest.skip(f"could not import {str(missing.name)!r}")
    environment.probe()
    environment.run("-W", "default", "-c", f"import jeton\n{USES[extra]}")


def test_every_extra_is_tried() -> None:
    assert set(USES) == set(EXTRAS)
