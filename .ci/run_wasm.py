"""Runs what `.ci/wasm` builds, with wasmtime: `run_wasm.py page.wasm first_steps.wasm`."""

from __future__ import annotations

import json
import struct
import sys
from typing import Any

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

# Merges of bytes as GPT-2 writes them; Oniguruma's dialect, which automata run.
SPLIT = r"'s|'t|'re| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
TEXT = "the theme: 12 théâtre\n"


def byte_alphabet() -> list[str]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    spelled = {byte: chr(byte) for byte in printable}
    spelled |= {byte: chr(256 + number) for number, byte in enumerate(others)}
    return [spelled[byte] for byte in range(256)]


def tokenizer_json(pattern: str) -> bytes:
    byte_level = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokens = [*byte_alphabet(), "th", "the", "Ġthe"]
    return json.dumps(
        {
            "model": {
                "type": "BPE",
                "vocab": {token: id for id, token in enumerate(tokens)},
                "merges": ["t h", "th e", "Ġ the"],
            },
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {
                        "type": "Split",
                        "pattern": {"Regex": pattern},
                        "behavior": "Isolated",
                        "invert": False,
                    },
                    {"type": "ByteLevel", **byte_level},
                ],
            },
            "decoder": {"type": "ByteLevel", **byte_level},
        }
    ).encode()


class Page:
    """The calls of `crates/jeton/examples/page.rs`, as JavaScript would make them."""

    def __init__(self, path: str) -> None:
        engine = Engine()
        self.store = Store(engine)
        instance = Linker(engine).instantiate(self.store, Module.from_file(engine, path))
        self.exports: Any = instance.exports(self.store)

    def call(self, name: str, given: bytes) -> bytes:
        memory, store = self.exports["memory"], self.store
        place = self.exports["reserve"](store, len(given))
        memory.write(store, given, place)
        length = self.exports[name](store)
        start = self.exports["output"](store)
        answer = bytes(memory.read(store, start, start + abs(length)))
        if length < 0:
            raise ValueError(answer.decode())
        return answer


def try_page(path: str) -> None:
    page = Page(path)
    for call in ["encode", "decode"]:
        assert refusal(page, call, b"") == "load a tokenizer first"
    page.call("load", tokenizer_json(SPLIT))
    ids = page.call("encode", TEXT.encode())
    assert struct.unpack("<7I", ids[:28])[:2] == (257, 258), ids
    assert page.call("decode", ids).decode() == TEXT
    # A group that is looked up again is beyond automata.
    assert "only Oniguruma runs the pattern" in refusal(page, "load", tokenizer_json(r"(\w)\1"))
    assert "not a tokenizer" in refusal(page, "load", b"no tokenizer")


def refusal(page: Page, call: str, given: bytes) -> str:
    try:
        page.call(call, given)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{call} refuses nothing")


def run_program(path: str) -> None:
    engine = Engine()
    store, linker = Store(engine), Linker(engine)
    linker.define_wasi()
    wasi = WasiConfig()
    wasi.argv = [path]
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    store.set_wasi(wasi)
    instance = linker.instantiate(store, Module.from_file(engine, path))
    try:
        instance.exports(store)["_start"](store)
    except ExitTrap as ended:
        assert ended.code == 0, ended.code


def main() -> None:
    page, program = sys.argv[1:]
    try_page(page)
    run_program(program)
    print("WebAssembly: passed")


if __name__ == "__main__":
    main()
