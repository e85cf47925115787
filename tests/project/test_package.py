"""What `import jeton` brings and costs, and which names are public."""

from __future__ import annotations

import doctest
import inspect
import json
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import jeton

PUBLIC = [
    "AddedToken",
    "BPETrainer",
    "BatchEncoding",
    "CharTrainer",
    "Chunk",
    "CountedText",
    "DecodeStream",
    "Encoding",
    "JetonError",
    "PaddedBatch",
    "Progress",
    "TokenBatch",
    "Tokenizer",
    "Truncated",
    "UnigramTrainer",
    "WordCounts",
    "WordLevelTrainer",
    "WordPieceTrainer",
    "__version__",
    "align",
    "analysis",
    "cache_limit",
    "chat",
    "components",
    "cost",
    "data",
    "edit",
    "errors",
    "learn",
    "load",
    "names",
    "nn",
    "patch_transformers",
    "patterns",
    "samples",
    "sentencepiece",
    "set_cache_limit",
    "shared_tokens",
    "split",
    "textbook",
    "tiktoken",
]


def test_public_names() -> None:
    assert sorted(jeton.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(jeton, name) is not None


def test_public_names_of_a_tokenizer() -> None:
    assert [name for name in dir(jeton.Tokenizer) if not name.startswith("_")] == [
        "approximation",
        "as_llguidance",
        "as_sentencepiece",
        "as_tiktoken",
        "as_transformers",
        "as_xgrammar",
        "chat",
        "chunk",
        "chunk_batch",
        "count",
        "count_batch",
        "count_messages",
        "counted_text",
        "decode",
        "decode_batch",
        "decode_bytes",
        "decode_stream",
        "digest",
        "encode",
        "encode_array",
        "encode_batch",
        "encode_stream",
        "encode_with_spans",
        "exceeds",
        "explain",
        "fit_messages",
        "from_json",
        "from_ranks",
        "gotchas",
        "heal",
        "nbest",
        "parse",
        "parse_stream",
        "play",
        "replace",
        "roles",
        "save",
        "settings",
        "spans_of",
        "special_tokens",
        "stages",
        "to_json",
        "tokens",
        "truncate",
        "usage",
        "vocab",
        "vocab_size",
        "with_added_tokens",
    ]


def test_the_help_of_a_tokenizer_opens_with_all_its_names_in_groups() -> None:
    (table,) = re.findall(r"==\n(.*?)\n *==", jeton.Tokenizer.__doc__ or "", re.DOTALL)
    listed = re.findall(r"`(?:token in )?(\w+)`", table)
    names = {name for name in dir(jeton.Tokenizer) if not name.startswith("_")}
    assert set(listed) - {"tok"} == names
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", ["encode", "count"])
def test_help_shows_the_types_of_the_core_s_own_methods(name: str) -> None:
    shown = pydoc.render_doc(getattr(jeton.Tokenizer, name))
    assert "text (str)" in shown and "add_special_tokens (bool)" in shown
    assert "Returns:" in shown


def test_everything_public_is_documented() -> None:
    for name in PUBLIC:
        thing = getattr(jeton, name)
        assert name == "__version__" or thing.__doc__, name
    for name in dir(jeton.Tokenizer):
        assert name.startswith("_") or getattr(jeton.Tokenizer, name).__doc__, name


def examples_of(owner: type) -> Iterator[tuple[type, str]]:
    """The members of a class whose docstrings hold examples."""
    for name in dir(owner):
        told = inspect.getdoc(inspect.getattr_static(owner, name)) or ""
        if ">>> " in told and (name == "__call__" or not name.startswith("_")):
            yield owner, name


# `--doctest-modules` leaves out methods that are named as of another module, as those of
# `Tokenizer` are, and cached properties.
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        *examples_of(jeton.Tokenizer),
        *examples_of(jeton.chat.Chat),
        *examples_of(jeton.chat.ParseStream),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_examples_of_methods(owner: type, name: str) -> None:
    if name in ("as_transformers", "as_llguidance", "as_xgrammar"):
        pytest.importorskip(name.removeprefix("as_"))
    text = inspect.getdoc(inspect.getattr_static(owner, name)) or ""
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert result.attempted and not result.failed


def test_a_tokenizer_without_init_is_no_crash() -> None:
    tokenizer = jeton.Tokenizer.__new__(jeton.Tokenizer)
    with pytest.raises(AttributeError, match="__init__"):
        tokenizer.encode("text")


def test_errors_name_the_tokenizer() -> None:
    with pytest.raises(TypeError, match=r"Tokenizer\.encode\(\) missing 1"):
        jeton.CharTrainer().train("abc").encode()  # type: ignore[call-arg]


def test_a_tokenizer_is_made_once() -> None:
    tokenizer = jeton.CharTrainer().train("abc")
    with pytest.raises(TypeError, match="never changes"):
        tokenizer.__init__(tokenizer.stages.model)  # type: ignore[misc]
    assert tokenizer.decode(tokenizer.encode("cab")) == "cab"


def test_import_is_light() -> None:
    script = """
import sys
from collections.abc import Iterator
before = set(sys.modules)
import jeton, json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-S", "-c", _with_path(script)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    loaded = set(json.loads(done.stdout))
    heavy = {
        "asyncio", "http", "multiprocessing", "socket", "ssl", "subprocess", "tempfile",
        "unittest", "urllib.request",
    }  # fmt: skip
    assert loaded & heavy == set()
    assert {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) == {"jeton"}
    assert {name for name in loaded if name.startswith("jeton.")} == {
        "jeton._core",
        "jeton.argument_types",
        "jeton.arguments",
        "jeton.at_start",
        "jeton.components",
        "jeton.components.assembly",
        "jeton.components.component",
        "jeton.encoding",
        "jeton.encoding.base_tokenizer",
        "jeton.encoding.base_tokenizer.change",
        "jeton.encoding.base_tokenizer.core",
        "jeton.encoding.base_tokenizer.decode",
        "jeton.encoding.base_tokenizer.encode",
        "jeton.encoding.base_tokenizer.once",
        "jeton.encoding.base_tokenizer.save",
        "jeton.encoding.base_tokenizer.settings",
        "jeton.encoding.base_tokenizer.stages",
        "jeton.encoding.other_names",
        "jeton.errors",
        "jeton.files",
        "jeton.forks",
        "jeton.loading",
        "jeton.loading.settings",
        "jeton.loading.sources",
        "jeton.results",
        "jeton.results.encoding",
        "jeton.results.pad_batch",
        "jeton.results.vocabulary",
        "jeton.stores",
        "jeton.stores.urls",
        "jeton.tokenizer",
        "jeton.tokenizer.call",
        "jeton.tokenizer.chat",
        "jeton.tokenizer.chunk",
        "jeton.tokenizer.explain",
        "jeton.tokenizer.loading",
        "jeton.tokenizer.other_libraries",
        "jeton.tokenizer.play",
    }


def test_data_and_edits_import_no_chats() -> None:
    """Importing chats takes as long as all of data, which seldom needs them."""
    script = """
import sys
import jeton.data, jeton.edit, jeton.samples
print([name for name in sys.modules if name.startswith(("jeton.chat", "jinja2", "pyarrow"))])
"""
    done = subprocess.run([sys.executable, "-c", _with_path(script)], capture_output=True)
    assert (done.returncode, done.stdout.strip()) == (0, b"[]"), done.stderr.decode()


def _with_path(script: str) -> str:
    return f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n{script}"


def test_heavy_packages_are_imported_at_first_use() -> None:
    script = """
import jeton
assert set(jeton.__all__) <= set(dir(jeton))
assert jeton.components.models.BPE and jeton.BPETrainer
assert jeton.CharTrainer().train("abc").stages.decoder == jeton.components.decoders.Fuse()
for module in (jeton, jeton.components):
    try:
        module.nothing
    except AttributeError as error:
        assert "nothing" in str(error)
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["encode", "decode", "count"])
def test_wrong_keywords_are_refused(name: str) -> None:
    tok = jeton.CharTrainer().train("abc")
    with pytest.raises(TypeError, match="skip_special"):
        getattr(tok, name)("abc", skip_special=True)
