"""Fuzzes token sets: a damaged one is an error of jeton, damaged work makes the right set or none.
Damaged corpora of records are encoded or are an error of jeton.

    python fuzz/token_sets.py [-max_total_time=SECONDS] [-artifact_prefix=PATH] [FILE | FOLDER]...

An input chooses a set, a folder that was left by a run, or a corpus, one of its files, and what
becomes of it:
bytes that change, go or come, and in JSON values of other types in places of the structure. A
process of its own reads the set, or goes on with the run; the one that watches it sees from outside
whether it ends. A file is tried by itself, and its name is that of what was found.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds that an input may take."""
MEMORY = 6 << 30
"""Bytes of addresses that it may take."""

VARIANTS: list[dict[str, Any]] = [
    {},
    {"shuffle": 7},
    {"validation": 0.3},
    {"validation": 0.3, "split": "hash"},
    {"validation": 0.3, "shuffle": 7},
    {"part": (1, 1), "shuffle": 7},
    {"layout": "nanogpt", "validation": 0.3},
    {"layout": "llm.c", "shard_tokens": 900},
    {"layout": "megatron"},
    {"layout": "datatrove", "shard_tokens": 900},
    {"layout": "parquet", "shard_tokens": 900},
    {"layout": "parquet", "messages": "messages"},
    {"messages": "messages"},
]


class Sets:
    """Whole sets and begun ones, made once."""

    def __init__(self, folder: Path) -> None:
        import jeton
        from jeton.corpora.token_blocks import rows
        from jeton.data import Conversations, prepare
        from jeton.data.preparing import pipeline, queue

        pipeline.CHECKPOINT_SECONDS = 0
        pipeline.TELL_SECONDS = 0
        rows._CHARACTERS = 500
        queue._IN_MEMORY = 2_000
        self.folder = folder
        words = "the weather is fine and so it stays to be or not".split()
        chance = random.Random(1)
        self.texts = [" ".join(chance.choices(words, k=chance.randrange(1, 40))) for _ in range(90)]
        special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        self.tok = jeton.BPETrainer(290, special_tokens=special).train(self.texts)
        self.calls: list[Callable[[Path], Any]] = []
        for number, options in enumerate(VARIANTS):
            data: Any = self.texts
            if "messages" in options:
                asked = Conversations("messages", template="chatml")
                options = {**options, "messages": asked}
                data = [{"messages": _turns(text)} for text in self.texts]

            def call(
                out: Path, data: Any = data, options: dict[str, Any] = options, watch: Any = None
            ) -> Any:
                return prepare(data, self.tok, out, watch=watch, **options)

            self.calls.append(call)
            call(folder / f"whole-{number}")
            for steps in (2, 5, 9):
                left = iter(range(steps))

                def stop(_: Any, left: Any = left) -> None:
                    if next(left, None) is None:
                        raise _Stopped

                try:
                    call(folder / f"begun-{number}-{steps}", watch=stop)
                except _Stopped:
                    continue
                shutil.rmtree(folder / f"begun-{number}-{steps}")

    @functools.cached_property
    def corpora(self) -> list[Path]:
        """Files of records, with texts and with conversations."""
        import pyarrow as pa
        from pyarrow import parquet

        folder = self.folder / "corpora"
        folder.mkdir()
        records = [{"text": text, "messages": _turns(text)} for text in self.texts]
        lines = "".join(json.dumps(record) + "\n" for record in records).encode()
        (folder / "plain.jsonl").write_bytes(lines)
        (folder / "packed.jsonl.gz").write_bytes(gzip.compress(lines))
        for compression in ("none", "snappy", "zstd"):
            table = pa.Table.from_pylist(records)
            for is_dictionary in (False, True):
                path = folder / f"{compression}-{is_dictionary}.parquet"
                parquet.write_table(
                    table, path, 40, compression=compression, use_dictionary=is_dictionary
                )
        return sorted(folder.iterdir())

    def try_input(self, data: bytes) -> str | None:
        """What is wrong, if anything is."""
        chance = random.Random(data)
        if chance.random() < 0.3:
            self._encode(chance)
            return None
        number = chance.randrange(len(VARIANTS))
        begun = sorted(self.folder.glob(f"begun-{number}-*"))
        source = chance.choice([self.folder / f"whole-{number}", *begun])
        target = self.folder / "tried"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        changed = _change(chance, target)
        whole = self.folder / f"whole-{number}"
        if source == whole:
            return self._read(target, whole, changed)
        return self._go_on(target, whole, number, changed)

    def _encode(self, chance: random.Random) -> None:
        """Encodes a damaged corpus."""
        from jeton.data import Conversations, prepare
        from jeton.errors import JetonError

        source = chance.choice(self.corpora)
        path = self.folder / f"changed{''.join(source.suffixes)}"
        content = source.read_bytes()
        if path.suffix == ".jsonl" and chance.random() < 0.7:
            lines = content.split(b"\n")
            at = chance.randrange(len(lines))
            lines[at] = _changed_json(chance, lines[at])
            content = b"\n".join(lines)
        else:
            content = _changed_bytes(chance, content)
        path.write_bytes(content)
        bad = chance.choice(("error", "drop"))
        asked = Conversations("messages", template="chatml", bad_records=bad)
        for options in ({"bad_records": bad}, {"messages": asked}):
            shutil.rmtree(self.folder / "tried", ignore_errors=True)
            with contextlib.suppress(JetonError):
                prepare(path, self.tok, self.folder / "tried", **options)
            with contextlib.suppress(JetonError):
                self.tok.usage(path)

    def _read(self, folder: Path, whole: Path, changed: str) -> str | None:
        from jeton.data import TokenDataset, merge, verify
        from jeton.errors import JetonError

        def read() -> None:
            for split in ("train", "val"):
                tokens = TokenDataset(folder, split=split)
                assert len(tokens[:]) == len(tokens)
                _ = [len(document) for document in tokens.documents]
                tokens.decode(slice(0, 20))
                if tokens.mask is not None:
                    _ = tokens.mask[:]

        for call in (read, lambda: merge([folder], self.folder / "merged", tokenizer=self.tok)):
            try:
                call()
            except JetonError:
                continue
            finally:
                shutil.rmtree(self.folder / "merged", ignore_errors=True)
        try:
            damages = verify(folder)
        except JetonError:
            return None
        if not damages and changed != "manifest.json" and not _same(folder, whole):
            return f"verify does not see that {changed} has changed"
        return None

    def _go_on(self, folder: Path, whole: Path, number: int, changed: str) -> str | None:
        from jeton.errors import JetonError

        try:
            self.calls[number](folder)
        except JetonError:
            return None
        if not _same(folder, whole):
            return f"another set is published when {changed} has changed"
        return None


class _Stopped(BaseException):
    pass


def _turns(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text[:20]}, {"role": "assistant", "content": text}]


def _same(left: Path, right: Path) -> bool:
    def files(folder: Path) -> dict[str, bytes]:
        found = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    return files(left) == files(right)


def _change(chance: random.Random, folder: Path) -> str:
    """Changes one file, and says which."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    path = chance.choice(files)
    name = path.relative_to(folder).as_posix()
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl") and chance.random() < 0.7:
        path.write_bytes(_changed_json(chance, data))
    elif chance.random() < 0.05:
        path.unlink()
    else:
        path.write_bytes(_changed_bytes(chance, data))
    return name


def _changed_bytes(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    some = chance.randbytes(chance.choice((1, 1, 2, 8, 40)))
    way = chance.randrange(5)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + some + data[at:]
    if way == 2:
        return data[:at] + data[at + len(some) :]
    if way == 3 and data:
        at = min(at, len(data) - 1)
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    return data[:at] + some + data[at + len(some) :]


def _changed_json(chance: random.Random, data: bytes) -> bytes:
    """JSON in which one value is another, with what follows its line as it was."""
    line, newline, rest = (data, b"", b"") if data[:2] == b"{\n" else data.partition(b"\n")
    try:
        record = json.loads(line)
    except ValueError:
        return _changed_bytes(chance, data)
    places = list(_places(record))
    if not places:
        return b"[]"
    holder, key = chance.choice(places)
    kind = chance.random()
    if kind < 0.2:
        del holder[key]
    elif kind < 0.3 and isinstance(holder, dict):
        holder[chance.choice(["\ud800", "a\0", "", "..", "/", "x"])] = holder.pop(key)
    else:
        values = [None, True, 0, -1, 1, 2**31, 2**63, 2**70, 0.5, "", "x", "\ud800", [], {}, [1]]
        values += ["../x", "train-00000.bin", "/", "after", "1/0", "0.5", [[]], {"by": "cut"}]
        holder[key] = chance.choice(values)
    return json.dumps(record).encode() + newline + rest


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items: Any = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def work() -> None:
    """Tries the inputs that come as lines, and says of each what was found."""
    import faulthandler
    import resource
    import traceback

    faulthandler.enable()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sets = Sets(Path(folder))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        print("ready", flush=True)
        for line in sys.stdin:
            try:
                found = sets.try_input(bytes.fromhex(line))
            except BaseException:
                found = traceback.format_exc()
            print(json.dumps(found), flush=True)


class Watched:
    """A process that tries inputs, begun again when one ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def tried(self, data: bytes) -> str | None:
        """What is wrong with an input, if anything is."""
        if self._process is None:
            command = [sys.executable, __file__, "-work"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self._line(120)
        assert self._process.stdin is not None
        self._process.stdin.write(data.hex() + "\n")
        self._process.stdin.flush()
        line = self._line(PATIENCE)
        if line:
            found: str | None = json.loads(line)
            return found
        self._process.kill()
        code = self._process.wait()
        self._process = None
        return f"it takes more than {PATIENCE} s, or ends the process ({code})"

    def _line(self, seconds: float) -> str:
        assert self._process is not None and self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        return self._process.stdout.readline() if ready else ""

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def main() -> int:
    options = dict(it[1:].split("=", 1) for it in sys.argv[1:] if it[0] == "-" and "=" in it)
    paths = [Path(it) for it in sys.argv[1:] if it[0] != "-"]
    files = [path for path in paths if path.is_file()]
    prefix = options.get("artifact_prefix", "")
    watched = Watched()
    try:
        for file in files:
            print(watched.tried(file.read_bytes()))
        if files:
            return 0
        chance = random.Random()
        until = time.monotonic() + float(options.get("max_total_time", 60))
        count, found = 0, 0
        while time.monotonic() < until:
            data = chance.randbytes(8)
            said = watched.tried(data)
            count += 1
            if said is not None:
                found += 1
                Path(f"{prefix}{data.hex()}").write_bytes(data)
                print(f"{data.hex()}: {said}", flush=True)
        print(f"stat::number_of_executed_units: {count}")
        return min(found, 1)
    finally:
        watched.close()


if __name__ == "__main__":
    if "-work" in sys.argv:
        work()
    else:
        sys.exit(main())
