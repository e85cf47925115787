"""A user who may start few threads (`ulimit -u`): commands use fewer, or say what is missing."""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

import pytest

import jeton
from command_line import shell

COMMANDS = {
    "encode": "encode gpt4.json big.txt -o ids.npy",
    "count": "count gpt4.json big.txt",
    "train": "train big.txt -o new.json --vocab-size 300",
    "prepare": "prepare gpt4.json big.txt -o set --no-end-of-text",
    "compare": "compare gpt4.json --corpus big.txt",
    "sweep": "sweep big.txt --sizes 300,400 -o results",
    "check": "check gpt4.json",
    "learn --grade": "learn --grade mine.py",
}


@pytest.mark.large
@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or shutil.which("setpriv") is None,
    reason="needs root and setpriv, since root itself may start any number",
)
@pytest.mark.parametrize("threads", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_thread_that_cannot_start_is_said(
    command: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.chdir(tmp_path)
    words = random.Random(0).choices(["low", "newest", "widest\n"], k=300_000)
    Path("big.txt").write_text(" ".join(words))
    Path("mine.py").write_text("def decode(tokens):\n    return b''.join(tokens).decode()\n")
    ranks = {bytes([byte]): byte for byte in range(256)}
    jeton.Tokenizer.from_ranks(ranks, pattern="gpt4").save("gpt4.json")
    # Its own user, so that no other process counts, with the right to read everything.
    user = "--reuid 64060 --regid 64060 --clear-groups"
    rights = "--inh-caps=+dac_override --ambient-caps=+dac_override"
    limited = f"ulimit -u {threads}; exec jeton {COMMANDS[command]}"
    code, _, errors = shell(
        f"setpriv {user} {rights} env -u OPENBLAS_NUM_THREADS bash -c '{limited}'"
    )
    for fault in ("mistake in jeton", "Traceback", "OpenBLAS", "out of memory"):
        assert fault not in errors, errors
    if code != 0:
        assert code == 1
        assert "started (ulimit -u, or a container, allows no more)" in errors or (
            command == "learn --grade"
        )
        assert not list(tmp_path.glob(".*"))
