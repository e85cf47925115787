"""A process that may take no more memory: calls raise MemoryError, and the process goes on."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import jeton
from command_line import shell
from shared_data import VOCABULARIES, needed

pytest.importorskip("resource")

PROGRAM = """
import resource, sys
import numpy, jeton
from jeton.components import models, normalizers

call, more = sys.argv[1], int(sys.argv[2])
text = "the weather there, ne 🙂 " * 200_000
ranks = {bytes([byte]): byte for byte in range(256)}
tok = jeton.Tokenizer.from_ranks(ranks, pattern="gpt4")
staged = tok.replace(normalizer=normalizers.Replace("q", "qq"))
ids = tok.encode_array("the weather " * 300_000)
marked = tok.with_added_tokens([jeton.AddedToken("<e>", special=True)])
marks = numpy.append(ids, marked.vocab["<e>"])
few = "the weather, " * 10
calls = {
    "encode": lambda: tok.encode(text),
    "encode_array": lambda: tok.encode_array(text),
    "encode_with_spans": lambda: tok.encode_with_spans(text),
    "encode_array, spans": lambda: tok.encode_array(text, spans="characters"),
    "encode_batch": lambda: tok.encode_batch([text, text]),
    "spans of a batch": lambda: tok.encode_batch([text, text], spans="characters"),
    "by the stages": lambda: staged.encode_with_spans(text),
    "count": lambda: staged.count(text),
    "count_batch": lambda: staged.count_batch([text, text]),
    "decode": lambda: tok.decode(ids),
    "decode_bytes": lambda: tok.decode_bytes(ids),
    "decode_batch": lambda: tok.decode_batch([ids, ids]),
    "decode without special tokens": lambda: marked.decode(marks, skip_special_tokens=True),
    "spans_of": lambda: tok.spans_of(ids),
    "counted_text": lambda: tok.counted_text(text).count(),
}
tok.decode(tok.encode(few))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (more << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    calls[call]()
    print("done")
except MemoryError:
    print("MemoryError")
assert tok.decode(tok.encode(few)) == few
"""

CALLS = [
    "encode",
    "encode_array",
    "encode_with_spans",
    "encode_array, spans",
    "encode_batch",
    "spans of a batch",
    "by the stages",
    "count",
    "count_batch",
    "decode",
    "decode_bytes",
    "decode_batch",
    "decode without special tokens",
    "spans_of",
    "counted_text",
]


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to such a limit")
@pytest.mark.parametrize("more", [4, 32, 128])
@pytest.mark.parametrize("call", CALLS)
def test_without_memory_a_call_is_an_error(call: str, more: int) -> None:
    command = [sys.executable, "-c", PROGRAM, call, str(more)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert done.stdout.strip() in ("done", "MemoryError")
    if more == 4 and call not in ("count", "count_batch", "decode_bytes", "counted_text"):
        assert done.stdout.strip() == "MemoryError"


COMMANDS = {
    "train": "train big.txt -o new.json --vocab-size 3000",
    "prepare": "prepare gpt4.json big.txt -o set --no-end-of-text",
    "compare": "compare gpt4.json --corpus big.txt",
    "count": "count gpt4.json big.txt",
}


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to such a limit")
@pytest.mark.parametrize("kilobytes", [300_000, 400_000, 500_000])
@pytest.mark.parametrize("command", COMMANDS)
def test_without_memory_a_command_is_an_error(
    command: str, kilobytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 9))) for _ in range(200_000)]
    Path("big.txt").write_text(" ".join(rng.choices(words, k=2_000_000)))
    ranks = {bytes([byte]): byte for byte in range(256)}
    jeton.Tokenizer.from_ranks(ranks, pattern="gpt4").save("gpt4.json")
    code, _, errors = shell(f"ulimit -v {kilobytes}; jeton {COMMANDS[command]}")
    assert code in (0, 1), errors
    assert "mistake in jeton" not in errors and "memory allocation" not in errors


CONVERSIONS = [
    ("llama2_sentencepiece_bpe.model", "x.json"),
    ("llama2_sentencepiece_bpe.model", "x.gguf"),
    ("llama2_sentencepiece_bpe.model", "folder"),
    ("t5_style_unigram.model", "x.model"),
    ("o200k_base.tiktoken", "x.json"),
    ("llama3_ranks.model", "x.gguf"),
    ("r50k_base.tiktoken", "vocab.json"),
    ("neox/tokenizer.json", "folder"),
    ("bert_uncased_vocab.txt", "x.json"),
]


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to such a limit")
@pytest.mark.parametrize("kilobytes", [202_752, 224_000, 260_000, 300_000])
@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_without_memory_a_conversion_leaves_nothing(
    source: str, target: str, kilobytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = needed(VOCABULARIES / source)
    code, _, errors = shell(f"ulimit -v {kilobytes}; jeton convert {file} {target}")
    assert code in (0, 1), errors
    if code == 1:
        assert errors.splitlines()[-1] == "Error: out of memory"
        assert not list(tmp_path.iterdir())
    for fault in ("mistake in jeton", "memory allocation", "Exception ignored", "Traceback"):
        assert fault not in errors


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to such a limit")
@pytest.mark.parametrize(
    ("limit", "error"),
    [
        ("-v 140000", "out of memory: ulimit -v must be 196608 or more"),
        ("-v 180000", "out of memory: ulimit -v must be 196608 or more"),
        ("-v 200000", "none: no such file"),
        ("-d 30000", "out of memory: ulimit -d must be 65536 or more"),
        ("-d 66000", "none: no such file"),
    ],
)
def test_a_command_starts_or_says_that_memory_is_missing(limit: str, error: str) -> None:
    command = f"unset OPENBLAS_NUM_THREADS; ulimit {limit}; jeton decode gpt2 none"
    assert shell(command) == (1, "", f"Error: {error}\n")
