"""A vocabulary that learns a language: `jeton.edit.extend` beside scripts for `tokenizers`.

Run it by hand: `python benchmarks/edit.py --data ../shared/data`. GPT-2's vocabulary gets more
tokens for a language that it hardly knows, learned from nine paragraphs of ten; the tenth is
measured. The two ways to compare with both train a vocabulary of their own on the new text:

- `add_tokens`: its most frequent tokens become added tokens, cut out of any text before merging;
- `appended`: its tokens and merges are put after the old ones, as if one training had found both.

A token is unreachable if merging its own bytes does not end in it, by `tokenizers`' own BPE for
all. `English` is the share of English paragraphs, translations of the same, that are cut
otherwise than before. Nothing is asserted; seconds are of the clock, from the text to the new
tokenizer in `tokenizers`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import jeton
from jeton import edit

Built = tuple[Tokenizer, int]
"""An extended tokenizer, and how many of its tokens are cut out before merging."""


def gpt2(folder: Path) -> jeton.Tokenizer:
    """GPT-2's tokenizer, from its own two files."""
    return jeton.load(folder / "gpt2_vocab.json", merges=folder / "gpt2_merges.txt")


def as_peer(tok: jeton.Tokenizer) -> Tokenizer:
    """The same tokenizer in the library `tokenizers`."""
    with TemporaryDirectory() as folder:
        tok.save(f"{folder}/tokenizer.json", lossy=True)
        return Tokenizer.from_file(f"{folder}/tokenizer.json")


def trained(peer: Tokenizer, texts: Iterable[str], n: int) -> dict[str, object]:
    """The model of a vocabulary of `n` merges on the new text alone."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = peer.pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=256 + n,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    own.train_from_iterator(texts, trainer)
    model: dict[str, object] = json.loads(own.to_str())["model"]
    return model


def added(peer: Tokenizer, texts: list[str], n: int) -> Built:
    """The first `n` new tokens of a training for twice as many, as added tokens."""
    from_bytes = {character: byte for byte, character in byte_alphabet().items()}
    model = trained(peer, texts, 2 * n)
    known = peer.get_vocab()
    found: list[str] = []
    vocab: dict[str, int] = model["vocab"]  # type: ignore[assignment]
    for token in sorted(vocab, key=vocab.__getitem__):
        text = bytes(from_bytes[character] for character in token).decode("utf-8", "replace")
        if token not in known and "\ufffd" not in text and len(found) < n:
            found.append(text)
    peer.add_tokens(found)
    return peer, len(found)


def appended(peer: Tokenizer, texts: list[str], n: int) -> Built:
    """The first `n` new tokens of a training for twice as many, with their merges."""
    content = json.loads(peer.to_str())
    own, model = content["model"], trained(peer, texts, 2 * n)
    vocab: dict[str, int] = own["vocab"]
    merges = {tuple(pair) for pair in own["merges"]}
    start = len(vocab)
    for pair in model["merges"]:  # type: ignore[attr-defined]
        left, right = pair
        if len(vocab) == start + n:
            break
        if left in vocab and right in vocab and (left, right) not in merges:
            vocab.setdefault(left + right, len(vocab))
            own["merges"].append([left, right])
    return Tokenizer.from_str(json.dumps(content)), 0


def byte_alphabet() -> dict[int, str]:
    """GPT-2's printable character for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {
        byte: chr(256 + number) for number, byte in enumerate(others)
    }


def unreachable(peer: Tokenizer, before: int) -> int:
    """How many tokens of the model from the id `before` on do not arise from their own bytes."""
    vocab = json.loads(peer.to_str())["model"]["vocab"]
    return sum(
        [found.id for found in peer.model.tokenize(token)] != [id]
        for token, id in vocab.items()
        if id >= before
    )


def measure(tok: jeton.Tokenizer, language: Path, n: int) -> list[str]:
    """The rows of one language."""
    english = [
        line for line in language.with_name("en.txt").read_text("utf-8").splitlines() if line
    ]
    as_before = [it.ids for it in as_peer(tok).encode_batch(english)]
    lines = [line for line in language.read_text(encoding="utf-8").splitlines() if line]
    training = [line for at, line in enumerate(lines) if at % 10]
    held_out = [line for at, line in enumerate(lines) if not at % 10]
    size = sum(len(line.encode()) for line in held_out)

    def bytes_per_token(peer: Tokenizer) -> float:
        return size / sum(len(it.ids) for it in peer.encode_batch(held_out))

    def ours(peer: Tokenizer, texts: list[str], n: int) -> Built:
        return as_peer(edit.extend(tok, texts, n).tok), 0

    rows = [f"| {language.stem} | GPT-2 as it is | 0 | {bytes_per_token(as_peer(tok)):.3f} | | | |"]
    ways: dict[str, Callable[[Tokenizer, list[str], int], Built]] = {
        "`jeton.edit.extend`": ours,
        "`tokenizers`, appended": appended,
        "`tokenizers`, `add_tokens`": added,
    }
    for name, way in ways.items():
        peer = as_peer(tok)
        started = time.perf_counter()
        new, outside = way(peer, training, n)
        seconds = time.perf_counter() - started
        gained = new.get_vocab_size() - tok.vocab_size
        lost = 0 if outside else unreachable(new, tok.vocab.max_id + 1)
        cut_otherwise = sum(
            it.ids != ids for it, ids in zip(new.encode_batch(english), as_before, strict=True)
        )
        rows.append(
            f"| {language.stem} | {name} | {gained:,} | {bytes_per_token(new):.3f} | {lost:,} | "
            f"{cut_otherwise / len(english):.1%} | {seconds:.1f} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--languages", nargs="+", default=["ru", "fa", "id"])
    parser.add_argument("-n", type=int, default=2_000, help="tokens to add")
    options = parser.parse_args()
    tok = gpt2(options.data / "vocab")
    print("| language | how | tokens added | bytes per token | unreachable | English | seconds |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for language in options.languages:
        path = options.data / "text" / "parallel" / f"{language}.txt"
        print("\n".join(measure(tok, path, options.n)), flush=True)


if __name__ == "__main__":
    main()
