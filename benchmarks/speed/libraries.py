"""The libraries, each at its best interface: how it loads a family, encodes, decodes.

Look here for why a library is not in a table: what it cannot load raises `Skipped`.
"""

from __future__ import annotations

import base64
import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import jeton

from .families import Family

Encode = Callable[[str], Any]


@dataclass(frozen=True)
class Documents:
    """Many documents, as each library takes them best."""

    texts: list[str]
    whole: str
    """All of them as one text."""
    path: Path
    """A file of that text."""


class Skipped(Exception):
    """A library does not do this, and why."""


class Library:
    """A library under its name on PyPI."""

    name = ""

    def version(self) -> str:
        return importlib.metadata.version(self.name)

    def load(self, family: Family) -> Any:
        """The library's tokenizer of a family."""
        raise Skipped(f"{self.name} does not read {family.kind} files")

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        """How a document is encoded, by the kind of output."""
        raise NotImplementedError

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        """How many documents are encoded on all cores, by the name of the way."""
        return {}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        """How ids become text, by the kind of input."""
        return {}

    def ids(self, encoded: Any) -> list[int]:
        """What an encoder gave, as a list."""
        return list(map(int, encoded))


class Jeton(Library):
    name = "jeton"

    def version(self) -> str:
        return jeton.__version__

    def load(self, family: Family) -> Any:
        return family.load()

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {
            "numpy": tokenizer.encode_array,
            "list": tokenizer.encode,
            "count": tokenizer.count,
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {
            "batch": lambda given: tokenizer.encode_batch(given.texts),
            "one text": lambda given: tokenizer.encode_array(given.whole),
            "count": lambda given: tokenizer.count_batch(given.texts),
        }

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"numpy": tokenizer.decode, "list": tokenizer.decode}


class Gigatoken(Library):
    name = "gigatoken"

    def load(self, family: Family) -> Any:
        import gigatoken

        if family.kind == "sentencepiece":
            return gigatoken.Tokenizer.from_sentencepiece(str(family.path))
        if family.kind == "ranks" and family.path.suffix == ".tiktoken":
            return gigatoken.Tokenizer.from_tiktoken(str(family.path))
        if family.kind == "wordpiece":
            raise Skipped("gigatoken has no WordPiece")
        return gigatoken.Tokenizer(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        encode = tokenizer.encode
        return {"numpy": encode, "list": lambda text: encode(text).tolist()}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {
            "batch": lambda given: tokenizer.encode_batch(given.texts),
            "file": lambda given: tokenizer.encode_files(str(given.path)),
        }

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {
            "numpy": lambda ids: tokenizer.decode(ids).decode("utf-8", "replace"),
            "list": lambda ids: tokenizer.decode(ids).decode("utf-8", "replace"),
        }


class Tiktoken(Library):
    name = "tiktoken"

    def load(self, family: Family) -> Any:
        import tiktoken

        if family.kind != "ranks":
            return super().load(family)
        lines = (line.split() for line in family.path.read_bytes().splitlines() if line)
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        tokenizer = family.load()
        return tiktoken.Encoding(
            family.name,
            pat_str=tokenizer.stages.pre_tokenizer.pattern.source,
            mergeable_ranks=ranks,
            special_tokens=tokenizer.special_tokens,
        )

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": tokenizer.encode_ordinary}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode_ordinary_batch(given.texts, num_threads=2)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class Riptoken(Library):
    name = "riptoken"

    def load(self, family: Family) -> Any:
        import riptoken

        if family.kind != "ranks":
            return super().load(family)
        tokenizer = family.load()
        return riptoken.CoreBPE(
            riptoken.load_tiktoken_bpe(family.path),
            tokenizer.special_tokens,
            tokenizer.stages.pre_tokenizer.pattern.source,
        )

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": tokenizer.encode_ordinary}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode_ordinary_batch(given.texts)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class Tokenizers(Library):
    name = "tokenizers"

    def load(self, family: Family) -> Any:
        import tokenizers

        if family.kind == "sentencepiece":
            raise Skipped("tokenizers does not read .model files")
        return tokenizers.Tokenizer.from_file(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch_fast
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class NextTokenizers(Tokenizers):
    """The newest release or candidate, in a folder of its own: `make peers` fills it."""

    name = "next-tokenizers"
    folder: ClassVar = Path(sys.prefix) / "next-tokenizers"

    def version(self) -> str:
        [found] = importlib.metadata.distributions(name="tokenizers", path=[str(self.folder)])
        return found.version

    def load(self, family: Family) -> Any:
        if family.kind == "sentencepiece":
            return super().load(family)
        if not self.folder.is_dir():
            raise Skipped(f"{self.name} is not installed: `make peers` does it")
        return _next_tokenizers(self.folder).Tokenizer.from_file(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        encode = tokenizer.encode
        return {
            "numpy": lambda text: encode(text, add_special_tokens=False).ids_array,
            "list": lambda text: encode(text, add_special_tokens=False).ids,
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}


@functools.cache
def _next_tokenizers(folder: Path) -> Any:
    """The package tokenizers in a folder, beside the installed one, which keeps its name."""

    def loaded() -> dict[str, Any]:
        return {name: it for name, it in sys.modules.items() if name.split(".")[0] == "tokenizers"}

    installed = loaded()
    for name in installed:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("tokenizers")
    finally:
        sys.path.remove(str(folder))
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(installed)


class SentencePiece(Library):
    name = "sentencepiece"

    def load(self, family: Family) -> Any:
        import sentencepiece

        if family.kind != "sentencepiece":
            return super().load(family)
        return sentencepiece.SentencePieceProcessor(model_file=str(family.path))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": tokenizer.encode}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode(given.texts, num_threads=2)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class Kitoken(Library):
    name = "kitoken"

    def load(self, family: Family) -> Any:
        import kitoken

        match family.kind:
            case "ranks":
                return kitoken.Kitoken.from_tiktoken_file(str(family.path))
            case "sentencepiece":
                return kitoken.Kitoken.from_sentencepiece_file(str(family.path))
            case _:
                return kitoken.Kitoken.from_tokenizers_file(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": lambda text: tokenizer.encode(text, False)}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode_all(given.texts, False)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": lambda ids: tokenizer.decode(ids, True).decode("utf-8", "replace")}


class Tokie(Library):
    name = "tokie"

    def load(self, family: Family) -> Any:
        import tokie

        if family.kind == "sentencepiece":
            raise Skipped("tokie does not read .model files")
        return tokie.Tokenizer.from_json(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {
            "list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
            "count": tokenizer.count_tokens,
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch_flat
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class Quicktok(Library):
    """Its encodings are built in, by name; the package `quicktok` is another project."""

    name = "quicktok-v1"
    known: ClassVar = {"cl100k": "cl100k_base", "o200k": "o200k_base", "Llama 3": "llama3"}

    def load(self, family: Family) -> Any:
        import quicktok

        if family.name not in self.known:
            raise Skipped(f"quicktok has no {family.name} of its own")
        return quicktok.Tokenizer(self.known[family.name], "")  # `get_encoding` keeps the first

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": tokenizer.encode_ordinary, "count": tokenizer.count}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode_batch(given.texts)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class OfJson(Library):
    """A library that reads `tokenizer.json`, and whose calls are those of tokenizers."""

    def read(self, path: str) -> Any:
        """The library's tokenizer in a file."""
        raise NotImplementedError

    def load(self, family: Family) -> Any:
        if family.kind == "sentencepiece":
            return super().load(family)
        return self.read(str(family.json()))

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"list": lambda text: tokenizer.encode(text, add_special_tokens=False).ids}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch_flat
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"list": tokenizer.decode}


class Fastokens(OfJson):
    name = "fastokens"

    def load(self, family: Family) -> Any:
        import fastokens

        if family.name in ("cl100k", "o200k"):  # its readers of JSON refuse such files
            encoding = f"{family.name}_base"
            return fastokens.Tokenizer.from_tiktoken(str(family.path), encoding=encoding)
        return super().load(family)

    def read(self, path: str) -> Any:
        import fastokens

        return fastokens.Tokenizer.from_file(path)


class Snaptokens(OfJson):
    name = "snaptokens"

    def read(self, path: str) -> Any:
        import snaptokens

        return snaptokens.Tokenizer.from_file(path)


class Morpheme(OfJson):
    name = "morpheme"

    def read(self, path: str) -> Any:
        import morpheme

        return morpheme.Tokenizer.from_file(path)

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}


class Iree(OfJson):
    name = "iree-tokenizer"

    def read(self, path: str) -> Any:
        from iree.tokenizer import Tokenizer

        return Tokenizer.from_file(path)

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        numpy, plain = tokenizer.encode_to_array, tokenizer.encode
        return {
            "numpy": lambda text: numpy(text, add_special_tokens=False),
            "list": lambda text: plain(text, add_special_tokens=False),
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        encode = tokenizer.encode_batch_to_array
        return {"batch": lambda given: encode(given.texts, add_special_tokens=False)}


class Splintr(OfJson):
    name = "splintr-rs"

    def read(self, path: str) -> Any:
        import splintr

        return splintr.from_json(path)

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        flat = tokenizer.encode_flat
        return {
            "numpy": lambda text: np.frombuffer(flat(text), np.uint32),
            "list": tokenizer.encode_ordinary,
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"batch": lambda given: tokenizer.encode_batch_flat(given.texts)}


class Tuetoken(OfJson):
    name = "tuetoken"

    def read(self, path: str) -> Any:
        import tuetoken

        return tuetoken.Tokenizer(path)

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        to_bytes = tokenizer.encode_to_bytes
        return {
            "numpy": lambda text: np.frombuffer(to_bytes(text), np.uint32),
            "list": tokenizer.encode_ordinary,
            "count": tokenizer.count_tokens,
        }

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {
            "batch": lambda given: tokenizer.encode_ordinary_to_buffer(given.texts),
            "count": lambda given: tokenizer.count_tokens_batch(given.texts),
        }

    def decoders(self, tokenizer: Any) -> dict[str, Callable[[Any], Any]]:
        return {"numpy": tokenizer.decode_array, "list": tokenizer.decode}


class Toktok(Library):
    """It counts only, with encodings that are built in."""

    name = "toktok-rs"

    def load(self, family: Family) -> Any:
        import toktok

        if family.name not in ("cl100k", "o200k"):
            raise Skipped(f"toktok has no {family.name}")
        count = partial(toktok.batch_count, encoding=f"{family.name}_base", threads=1)
        count([""])  # it reads the encoding at its first call
        return count

    def encoders(self, tokenizer: Any) -> dict[str, Encode]:
        return {"count": lambda text: tokenizer([text])[0]}

    def batches(self, tokenizer: Any) -> dict[str, Callable[[Documents], Any]]:
        return {"count": lambda given: tokenizer(given.texts, threads=0)}


LIBRARIES: Sequence[Library] = (
    Jeton(),
    Gigatoken(),
    Tiktoken(),
    Riptoken(),
    Quicktok(),
    Tokenizers(),
    NextTokenizers(),
    SentencePiece(),
    Kitoken(),
    Tokie(),
    Fastokens(),
    Snaptokens(),
    Splintr(),
    Morpheme(),
    Iree(),
    Tuetoken(),
    Toktok(),
)


def as_input(kind: str, ids: list[int]) -> Any:
    """Ids as a decoder takes them."""
    return np.array(ids, np.uint32) if kind == "numpy" else ids
