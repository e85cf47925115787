"""`jeton.load`: known names, models, paths, folders, the hub, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import types
from pathlib import Path

import pytest

import jeton
from jeton import _core, samples
from jeton.cache_folder import cache_folder
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    ChecksumError,
    DownloadError,
    FormatError,
    FormatWarning,
    MissingFileError,
    UnknownNameError,
    UnsupportedError,
)
from jeton.loading import download, hub, registry
from shared_data import VOCABULARIES, needs

needs_vocabularies = needs(VOCABULARIES)

BYTES = b"".join(base64.b64encode(bytes([b])) + b" %d\n" % b for b in range(256))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test has an empty cache of its own, and nothing is fetched."""
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JETON_DATA_DIR", raising=False)
    monkeypatch.setenv("JETON_OFFLINE", "1")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> registry.PublishedFile:
    """A known name of a file of 256 ranks."""
    source = registry.PublishedFile(
        "made_up.tiktoken",
        hashlib.sha256(BYTES).hexdigest(),
        "https://example.org/made_up",
    )
    known = dict(registry.KNOWN) | {"made_up": registry.KnownTokenizer((source,))}
    monkeypatch.setattr(registry, "KNOWN", known)
    return source


def test_the_registry_and_the_core_know_the_same_files() -> None:
    core = {name: sha256 for name, sha256, _ in _core.published_encodings()}
    ours = {
        known.encoding: known.files[0].sha256
        for known in registry.KNOWN.values()
        if known.encoding is not None
    }
    assert ours == core
    assert set(registry.MODELS.values()) <= set(registry.KNOWN)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-05-13", "o200k_base"),
        ("gpt-4-32k", "cl100k_base"),
        ("gpt-oss-20b", "o200k_harmony"),
        ("ft:gpt-4o:acme", "o200k_base"),
        ("gpt-40", None),
        ("ada-lovelace", None),
    ],
)
def test_models_have_the_tokenizers_they_were_trained_with(model: str, name: str | None) -> None:
    assert registry.name_for_model(model) == name


def test_models_agree_with_tiktoken() -> None:
    tiktoken_model = pytest.importorskip("tiktoken.model")
    for model, name in tiktoken_model.MODEL_TO_ENCODING.items():
        assert registry.known_name(model) == name, model
    for prefix, name in tiktoken_model.MODEL_PREFIX_TO_ENCODING.items():
        assert registry.known_name(f"{prefix}x" if prefix.endswith("-") else prefix) == name, prefix


@needs_vocabularies
@pytest.mark.parametrize(
    ("name", "special"),
    [
        ("gpt2", 1),
        ("r50k_base", 1),
        ("cl100k_base", 5),
        ("o200k_base", 2),
        ("o200k_harmony", 1091),
        ("llama3", 256),
        ("llama3.1", 256),
        ("gpt-4", 5),
    ],
)
def test_known_names_load_from_a_folder(name: str, special: int) -> None:
    tok = jeton.load(name, folder=VOCABULARIES)
    assert len(tok.special_tokens) == special
    assert tok.decode(tok.encode("Hello world!")) == "Hello world!"


@pytest.mark.large
@needs_vocabularies
def test_encodings_have_the_special_tokens_of_tiktoken() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    tiktoken = pytest.importorskip("tiktoken")
    for name, constructor in public.ENCODING_CONSTRUCTORS.items():
        if name == "gpt2" or name.startswith("p50k"):
            continue
        path = VOCABULARIES / registry.KNOWN[name].files[0].name
        ranks = {
            base64.b64decode(token): int(rank)
            for token, rank in (line.split() for line in path.read_bytes().splitlines())
        }
        globals_of = constructor.__globals__
        original = globals_of["load_tiktoken_bpe"]
        globals_of["load_tiktoken_bpe"] = lambda *_, ranks=ranks, **__: ranks
        try:
            theirs = tiktoken.Encoding(**constructor())
        finally:
            globals_of["load_tiktoken_bpe"] = original
        tok = jeton.load(name, folder=VOCABULARIES)
        assert tok.special_tokens == theirs._special_tokens, name
        text = "Don't <|endoftext|> 12345 naïve 東京 \n\n  x<|endofprompt|><|return|>"
        assert tok.encode(text, special="allow") == theirs.encode(text, allowed_special="all")
        assert tok.encode(text) == theirs.encode_ordinary(text)
        last = [theirs.max_token_value]
        assert tok.decode(last) == theirs.decode(last)
        assert tok.decode([max(theirs._special_tokens.values())])


@needs_vocabularies
def test_the_folder_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JETON_DATA_DIR", str(VOCABULARIES))
    assert jeton.load("cl100k_base") == jeton.load(VOCABULARIES / "cl100k_base.tiktoken")


@needs_vocabularies
def test_gpt2_is_found_under_all_its_names(tmp_path: Path) -> None:
    vocab = (VOCABULARIES / "gpt2_vocab.json").read_bytes()
    merges = (VOCABULARIES / "gpt2_merges.txt").read_bytes()
    expected = jeton.load("gpt2", folder=VOCABULARIES)
    for vocab_name, merges_name, first_line in [
        ("encoder.json", "vocab.bpe", b"#version: 0.2\n"),
        ("vocab.json", "merges.txt", b""),
    ]:
        folder = tmp_path / vocab_name.partition(".")[0]
        folder.mkdir()
        (folder / vocab_name).write_bytes(vocab)
        (folder / merges_name).write_bytes(first_line + merges)
        assert jeton.load("gpt2", folder=folder) == expected
        assert jeton.load(folder) == expected


def test_a_known_file_is_fetched_once_and_kept(
    made_up: registry.PublishedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def fetch(url: str, destination: Path, sha256: str, **_: object) -> None:
        fetched.append(url)
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_bytes(BYTES)

    monkeypatch.setattr(download, "fetch", fetch)
    for _ in range(2):
        [path] = registry.files_of("made_up", offline=False)
        assert path == cache_folder() / "made_up.tiktoken"
    assert fetched == ["https://example.org/made_up"]
    assert registry.files_of("made_up", offline=True) == [path]
    path.write_bytes(BYTES[:-1])  # damaged: fetched again, or refused where nothing may be fetched
    with pytest.raises(ChecksumError, match=r"made_up\.tiktoken: damaged: its sha256 is"):
        registry.files_of("made_up", offline=True)
    registry.files_of("made_up", offline=False)
    assert len(fetched) == 2


def test_offline_says_where_to_put_the_file(made_up: registry.PublishedFile) -> None:
    with pytest.raises(DownloadError, match=r"offline.*https://example.org/made_up.*JETON_DATA"):
        jeton.load("made_up")
    with pytest.raises(DownloadError, match="not published openly"):
        jeton.load("llama3", offline=False)


def test_a_folder_is_held_to_the_hash(made_up: registry.PublishedFile, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"made_up needs made_up\.tiktoken"):
        jeton.load("made_up", folder=tmp_path)
    (tmp_path / made_up.name).write_bytes(BYTES + b"QUI= 256\n")
    with pytest.raises(ChecksumError, match="not the published file"):
        jeton.load("made_up", folder=tmp_path)


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"XDG_CACHE_HOME": "/x/cache"}, "/x/cache/jeton"),
        ({}, "HOME/.cache/jeton"),
        ({"JETON_CACHE_DIR": "/mine"}, "/mine"),
        ({"JETON_CACHE_DIR": "~/mine", "XDG_CACHE_HOME": "/x/cache"}, "HOME/mine"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other platforms keep caches elsewhere")
def test_the_cache_is_where_the_platform_keeps_caches(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JETON_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    expected = folder.replace("HOME", Path.home().as_posix())
    assert cache_folder().as_posix() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms keep homes elsewhere")
def test_a_user_without_a_home_is_told_where_to_put_downloads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOME", "JETON_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # as of a number that has no name
    assert jeton.load("jeton-4k").vocab_size == 4096
    assert not registry.is_here("gpt2")
    with pytest.raises(DownloadError, match=r"no home folder .* JETON_CACHE_DIR"):
        jeton.load("gpt2")


def test_unknown_names_are_guessed_at_only_in_the_message() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'cl100k_base'"):
        jeton.load("cl100_base")
    with pytest.raises(UnknownNameError, match="known are jeton-4k, gpt2"):
        jeton.load("frobnicator-of-the-north")
    for path in ("nowhere/tokenizer.json", "./gpt2", "/no/such/folder", "x.tiktoken"):
        with pytest.raises(MissingFileError, match="no such file"):
            jeton.load(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        jeton.load(Path("gpt2"))


def test_arguments_that_do_not_belong_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.tiktoken"
    path.write_bytes(BYTES)
    with pytest.raises(ArgumentError, match="pattern= does not go with the known name"):
        jeton.load("gpt2", pattern="gpt4")
    with pytest.raises(ArgumentError, match="folder= does not go with the path"):
        jeton.load(path, pattern="gpt4", folder=tmp_path)
    with pytest.raises(ArgumentTypeError, match="special_tokens must map"):
        jeton.load(path, pattern="gpt4", special_tokens=["<|end|>"])  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="str to int"):
        jeton.load(path, pattern="gpt4", special_tokens={"<|end|>": "1"})  # type: ignore[dict-item]


def test_ranks_need_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "own.tiktoken"
    path.write_bytes(BYTES)
    with pytest.raises(ArgumentError, match=r'pattern="cl100k"'):
        jeton.load(path)
    tok = jeton.load(path, pattern="gpt4", special_tokens={"<|end|>": 256})
    assert tok.encode("hi<|end|>", special="allow") == [104, 105, 256]
    copy = tmp_path / "copy.tiktoken"
    with pytest.warns(FormatWarning, match=r"copy\.tiktoken does not hold the pattern"):
        tok.save(copy)
    assert copy.read_bytes() == BYTES
    assert jeton.load(copy, pattern="gpt4", special_tokens={"<|end|>": 256}) == tok
    path.write_bytes(BYTES + b"QUI=")
    with pytest.raises(FormatError, match="line 257: no rank"):
        jeton.load(path, pattern="gpt4")


def test_a_vocabulary_and_merges_of_two_tokenizers(tmp_path: Path) -> None:
    for size in (300, 320):
        trainer = jeton.BPETrainer(size, pattern="gpt2", special_tokens=["<s>", "<|endoftext|>"])
        folder = tmp_path / str(size)
        folder.mkdir()
        tok = trainer.train(samples.read_all().values())
        tok.replace(added_tokens=tok.stages.added_tokens[1:]).save(folder / "vocab.json")
        jeton.load(folder)
    with pytest.warns(FormatWarning, match=r"vocab\.json: 20 of the 320 tokens, .* of one token"):
        jeton.load(tmp_path / "320" / "vocab.json", merges=tmp_path / "300" / "merges.txt")
    with pytest.raises(FormatError, match=r"merges\.txt: line .* is not in the vocabulary"):
        jeton.load(tmp_path / "300" / "vocab.json", merges=tmp_path / "320" / "merges.txt")


def test_the_hub_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UnsupportedError, match=r'pip install "jeton\[hub\]"'):
        jeton.load("acme/model")


def test_repositories_come_through_the_hub_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}')
    (tmp_path / "merges.txt").write_text("a b\n")
    calls: list[tuple[str, object, object]] = []

    def snapshot_download(
        repo_id: str,
        *,
        revision: str | None,
        allow_patterns: list[str],
        local_files_only: bool,
    ) -> str:
        assert "tokenizer.json" in allow_patterns
        calls.append((repo_id, revision, local_files_only))
        if repo_id == "acme/private":
            raise OSError("401: gated repository\nlong explanation")
        return str(tmp_path)

    fake = types.ModuleType("huggingface_hub")
    fake.snapshot_download = snapshot_download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    assert jeton.load("acme/model", revision="v2").encode("abb") == [2, 1]
    assert jeton.load("acme/model", offline=False).encode("ab") == [2]
    assert calls == [("acme/model", "v2", True), ("acme/model", None, False)]
    with pytest.raises(DownloadError, match="acme/private: 401: gated repository"):
        jeton.load("acme/private", offline=False)


def test_a_repository_that_was_fetched_before_loads_offline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library = pytest.importorskip("huggingface_hub")
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--acme--model"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    (snapshot / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}')
    (snapshot / "merges.txt").write_text("a b\n")
    real = library.snapshot_download
    monkeypatch.setattr(
        library, "snapshot_download", lambda *a, **k: real(*a, **k, cache_dir=tmp_path)
    )
    assert jeton.load("acme/model").encode("ab") == [2]
    with pytest.raises(DownloadError, match=r"offline \(fetch it .*`jeton fetch [\w/-]+`"):
        jeton.load("acme/other")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("acme/model", True),
        ("meta-llama/Llama-3.1-8B", True),
        ("gpt2", False),
        ("a/b/c", False),
    ],
)
def test_repositories_have_two_parts(name: str, expected: bool) -> None:
    assert hub.is_repository(name) is expected


def test_nothing_of_this_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, jeton; "
        "print([m for m in ('urllib.request', 'http.client', 'ssl', 'huggingface_hub', "
        "'jeton.loading.registry', 'jeton.loading.download', 'jeton.loading.hub') "
        "if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_file_that_git_lfs_has_not_fetched(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 499723\n")
    told = r"tokenizer\.json: this is a Git LFS pointer.*git lfs pull"
    with pytest.raises(FormatError, match=told):
        jeton.load(path)
