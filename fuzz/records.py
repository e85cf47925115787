"""Fuzzes records: a sound one, changed in its structure, is read or is an error of jeton.

    python fuzz/records.py [OPTION OF LIBFUZZER | FOLDER OF INPUTS]...

Records are what jeton reads besides texts: a tokenizer with the files beside it, a `.model`, a
model's checkpoint, a map of ids, saved results. The first byte of an input says which one;
the others say what is changed where, so that what comes of it is as deep as what was sound.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import shutil
import struct
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import atheris

with atheris.instrument_imports(include=["jeton"]):
    import jeton
    import jeton.analysis
    import jeton.edit
    from jeton.edit.checkpoint import rewrite_checkpoint
    from jeton.errors import JetonError

TEXT = "  a ab\u3000①<s>▁ab é\u200d\0🙂 low lower  b "
CORPUS = ["low lower lowest low", "a b ab abab", "the new newest wide widest"]
FOLDER = Path(tempfile.mkdtemp())

VAST = "a number of five thousand digits"
"""Stands for it until a record is written, for Python writes none."""
DEEP = "[" * 900 + "]" * 900

VALUES = [
    "null", "true", "false", "0", "1", "-1", "2", "255", "2147483648", "4294967295",
    "9007199254740992", "9223372036854775808", "18446744073709551616", "-9223372036854775808",
    "0.5", "1e308", "1e999", "NaN", json.dumps(VAST), '""', '"a"', '"\\ud800"', '"\\u0000"',
    '"▁"', '"<s>"', '"../x"', '"/"', json.dumps("a" * 300), "[]", "{}", "[0]", "[null]", "[[]]",
    '{"a": 1}', '{"type": "Sequence"}', '{"Fixed": -1}', "[0, 1, 1099511627776]", DEEP,
]  # fmt: skip
"""What is put in the place of a value, as JSON."""

NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 9, 127, 2**31, 2**32 - 1, 2**32 + 3, 2**63, 2**64 - 1]

Change: TypeAlias = Callable[[Any], Any]


class Choices:
    """What an input says."""

    def __init__(self, data: bytes) -> None:
        self._data = atheris.FuzzedDataProvider(data)

    def of(self, items: Any) -> Any:
        return items[self._data.ConsumeIntInRange(0, len(items) - 1)]

    def more(self) -> bool:
        return self._data.remaining_bytes() > 0

    def text(self) -> str:
        text: str = self._data.ConsumeUnicode(8)
        return text


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a record with each of its keys."""
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left and len(found) < 4000:
        container = left.pop()
        keys: Any = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], (dict, list)):
                left.append(container[key])
    return found


def changed(value: Any, choices: Choices) -> Any:
    """A record with a few of its values replaced, dropped, doubled, renamed or moved."""
    value = copy.deepcopy(value)
    for _ in range(choices.of((1, 1, 2, 4))):
        found = places(value)
        if not found or not choices.more():
            break
        container, key = choices.of(found)
        match choices.of(("replace", "replace", "text", "drop", "double", "rename", "move")):
            case "replace":
                container[key] = json.loads(choices.of(VALUES))
            case "text":
                container[key] = choices.text()
            case "drop":
                del container[key]
            case "double" if isinstance(container, list):
                with contextlib.suppress(RecursionError):
                    container.insert(key, copy.deepcopy(container[key]))
            case "rename" if isinstance(container, dict):
                container[choices.text()] = container.pop(key)
            case "move":
                other, its_key = choices.of(found)
                # It may have gone with what it stood in, and what is too deep is not copied.
                with contextlib.suppress(LookupError, RecursionError):
                    container[key] = copy.deepcopy(other[its_key])
    return value


def written(value: Any) -> bytes:
    try:
        return json.dumps(value).replace(json.dumps(VAST), "9" * 5000).encode()
    except RecursionError:  # of several in one another
        return DEEP.encode() * 9


def fields(message: bytes) -> Iterator[tuple[int, int, Any]]:
    """The fields of a message of protocol buffers."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        match key & 7:
            case 0:
                yield key >> 3, 0, number()
            case 2:
                length = number()
                yield key >> 3, 2, message[at : at + length]
                at += length
            case wire:
                size = 8 if wire == 1 else 4
                yield key >> 3, wire, message[at : at + size]
                at += size


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def spelled(field: tuple[int, int, Any]) -> bytes:
    number, wire, value = field
    head = varint(number << 3 | wire)
    if wire == 0:
        return head + varint(value)
    return head + (varint(len(value)) if wire == 2 else b"") + value


def changed_message(message: bytes, choices: Choices, depth: int = 0) -> bytes:
    """A message with a few fields replaced, dropped, doubled, or changed within."""
    found = list(fields(message))
    for _ in range(4 - depth):
        if not found or not choices.more():
            break
        at = choices.of(range(len(found)))
        number, wire, value = found[at]
        match choices.of(("value", "value", "drop", "double", "number", "wire", "new")):
            case "value" if wire == 0:
                found[at] = number, wire, choices.of(NUMBERS)
            case "value" if wire == 5:
                found[at] = number, wire, struct.pack("<f", choices.of((0.0, -1e38, 1e38, 3.5)))
            case "value" if wire == 2 and depth < 2 and number in (1, 2, 3, 5):
                try:
                    inner = changed_message(value, choices, depth + 1)
                except IndexError:
                    inner = choices.text().encode("utf-8", "surrogatepass")
                found[at] = number, wire, inner
            case "drop":
                del found[at]
            case "double":
                found.insert(at, found[at])
            case "number":
                found[at] = choices.of(range(1, 45)), wire, value
            case "wire":
                found[at] = number, 0, choices.of(NUMBERS)
            case "new":
                found.append((choices.of(range(1, 45)), 0, choices.of(NUMBERS)))
    return b"".join(map(spelled, found))


def is_let_through(calls: list[Callable[[], Any]]) -> bool:
    """Makes calls one after another; whether all went well. Errors of jeton are expected."""
    well = True
    for call in calls:
        try:
            call()
        except JetonError:
            well = False
    return well


MESSAGES = [{"role": "user", "content": "low <s>"}, {"role": "assistant", "content": "lower"}]


def use(tok: jeton.Tokenizer) -> None:
    """Asks a tokenizer for what reads its records."""
    out = FOLDER / "out"
    shutil.rmtree(out, ignore_errors=True)
    size = max(1, tok.vocab_size - 2)
    is_let_through(
        [
            lambda: tok(TEXT),
            lambda: tok([TEXT, "a"], padding=True, truncation=True, max_length=4),
            lambda: tok.decode(tok.encode(TEXT), skip_special_tokens=True),
            lambda: tok.explain(TEXT).steps,
            lambda: (
                tok.settings.config,
                tok.roles,
                tok.settings.chat_template,
                tok.special_tokens,
            ),
            lambda: tok.chat(MESSAGES, add_generation_prompt=True).ids,
            lambda: jeton.analysis.check(tok),
            lambda: jeton.edit.prune(tok, size=size, corpus=CORPUS),
            lambda: jeton.edit.truncate(tok, size),
            lambda: jeton.edit.add_special_tokens(tok, ["<new>"]),
            lambda: tok.save(out, lossy=True),
        ]
    )


def sound_tokenizers() -> list[dict[str, Any]]:
    """Folders of tokenizers, each file as a value."""
    special = ["<s>", "</s>", "<unk>", "<pad>"]
    trained = [
        jeton.BPETrainer(300, special_tokens=special).train(CORPUS),
        jeton.WordPieceTrainer(60, special_tokens=["[UNK]", "[CLS]", "[SEP]"]).train(CORPUS),
        jeton.UnigramTrainer(28, style="huggingface", special_tokens=["<pad>"]).train(CORPUS),
    ]
    found = []
    for tok in trained:
        folder = FOLDER / "sound"
        shutil.rmtree(folder, ignore_errors=True)
        template = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}"
        tok = tok.replace(
            chat_template=template,
            model_max_length=64,
            padding={
                "strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": 4,
                "pad_id": 3, "pad_type_id": 0, "pad_token": "<pad>",
            },
            truncation={
                "direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 2,
            },
        )  # fmt: skip
        tok.save(folder, lossy=True)
        files = {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}
        found.append(files)
    return found


def read_tokenizer(files: dict[str, Any], choices: Choices) -> None:
    folder = FOLDER / "tokenizer"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = sorted(files)
    chosen = {choices.of([*names, "tokenizer.json"]), choices.of(names)}
    for name, value in files.items():
        value = changed(value, choices) if name in chosen else value
        (folder / name).write_bytes(written(value))
    is_let_through([lambda: use(jeton.load(folder))])


def sound_models() -> list[bytes]:
    folder = Path(__file__).parent / "corpus" / "readers"
    return [path.read_bytes()[1:] for path in sorted(folder.glob("*.model"))]


def read_model(message: bytes, choices: Choices) -> None:
    path = FOLDER / "x.model"
    path.write_bytes(changed_message(message, choices))
    is_let_through([lambda: use(jeton.load(path))])


def tensors(header: Any, size: int, choices: Choices) -> bytes:
    head = written(changed(header, choices))
    return struct.pack("<Q", len(head)) + head + bytes(size)


def read_checkpoint(files: dict[str, Any], choices: Choices) -> None:
    tok, edited = pruned()
    folder, out = FOLDER / "model", FOLDER / "smaller"
    for left in (folder, out):
        shutil.rmtree(left, ignore_errors=True)
    tok.save(folder)
    chosen = choices.of([*files, "tensors"])
    for name, value in files.items():
        value = changed(value, choices) if name == chosen else value
        (folder / name).write_bytes(written(value))
    rows = tok.vocab.max_id + 1
    header = {
        "__metadata__": {"format": "pt"},
        "model.embed_tokens.weight": {
            "dtype": "F16", "shape": [rows, 2], "data_offsets": [0, rows * 4],
        },
        "norm.weight": {"dtype": "F32", "shape": [2], "data_offsets": [rows * 4, rows * 4 + 8]},
        "lm_head.weight": {
            "dtype": "F16", "shape": [rows, 2], "data_offsets": [rows * 4 + 8, rows * 8 + 8],
        },
    }  # fmt: skip
    path = folder / "model.safetensors"
    if chosen == "tensors":
        path.write_bytes(tensors(header, rows * 8 + 8, choices))
    else:
        head = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(head)) + head + bytes(rows * 8 + 8))
    is_let_through(
        [
            lambda: rewrite_checkpoint(folder, edited, out),
            lambda: jeton.analysis.check(tok, embeddings=path),
        ]
    )
    assert not list(FOLDER.glob(".smaller.*")), "something was left behind"


@functools.cache
def pruned() -> tuple[jeton.Tokenizer, Any]:
    tok = jeton.BPETrainer(300, special_tokens=["<s>"]).train(CORPUS)
    return tok, jeton.edit.truncate(tok, 280)


def sound_checkpoints() -> list[dict[str, Any]]:
    tok, _ = pruned()
    config = {
        "model_type": "llama", "vocab_size": tok.vocab.max_id + 1, "hidden_size": 2,
        "bos_token_id": 0, "eos_token_id": [0, 299],
        "pad_token_id": None, "text_config": {"pad_index": 1},
        "forced_decoder_ids": [[1, 2]], "bad_words_ids": [[3, 299], [4]],
        "sequence_bias": [[[1, 2], 0.5]], "lang_to_id": {"<|en|>": 5},
    }  # fmt: skip
    index = {
        "metadata": {"total_size": 1, "total_parameters": 4},
        "weight_map": {"norm.weight": "model.safetensors", "lm_head.weight": "model.safetensors"},
    }
    single = {"config.json": config, "generation_config.json": {"eos_token_id": [0, 5]}}
    return [single, {**single, "model.safetensors.index.json": index}]


def sound_results() -> list[tuple[type[Any], dict[str, Any]]]:
    """Saved results, each with what loads it."""
    tok, edited = pruned()
    other = jeton.BPETrainer(280).train(CORPUS)
    results = [
        jeton.analysis.compare({"a": tok, "b": other}, {"x": CORPUS}),
        jeton.analysis.check(tok),
        jeton.analysis.sweep(CORPUS * 9, sizes=[262, 266], families=["bpe"], held_out=CORPUS),
        tok.usage(CORPUS),
        edited.id_map,
    ]
    found = []
    for result in results:
        path = FOLDER / "result.json"
        result.save(path)
        found.append((type(result), json.loads(path.read_text())))
    return found


def read_result(sound: tuple[type[Any], dict[str, Any]], choices: Choices) -> None:
    kind, record = sound
    path = FOLDER / "changed.json"
    path.write_bytes(written(changed(record, choices)))

    def load() -> None:
        result = kind.load(path)
        calls: list[Callable[[], Any]] = [lambda: repr(result), lambda: str(result)]
        if hasattr(result, "save"):
            calls.append(lambda: result.save(FOLDER / "again.json"))
        if isinstance(result, jeton.analysis.Comparison):
            calls.append(lambda: result.html("a title"))
        if isinstance(result, jeton.edit.IdMap):
            calls += [lambda: result.inverse, lambda: result.apply([0, 1], missing="drop")]
        is_let_through(calls)

    is_let_through([load])


@functools.cache
def records() -> list[tuple[Callable[[Any, Choices], None], Any]]:
    """All sound records, each with what reads it when it is changed."""
    return [
        *((read_tokenizer, it) for it in sound_tokenizers()),
        *((read_model, it) for it in sound_models()),
        *((read_checkpoint, it) for it in sound_checkpoints()),
        *((read_result, it) for it in sound_results()),
    ]


def try_one(data: bytes) -> None:
    if not data:
        return
    reader, sound = records()[data[0] % len(records())]
    reader(sound, Choices(data[1:]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    records()
    atheris.Setup(sys.argv, try_one)
    atheris.Fuzz()
