"""Small tokenizers of every family, made at random, to edit."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from tempfile import TemporaryDirectory

import jeton
from jeton import edit, samples
from jeton.components import decoders, models, pre_tokenizers
from jeton.results.vocabulary import bytes_by_id
from kinds import LLAMA

TEXT = "\n".join(samples.read_all().values())
LINES = [line for line in TEXT.splitlines() if line.strip()]


def some_lines(seed: int, count: int = 60) -> list[str]:
    """Lines of the sample text."""
    return random.Random(seed).sample(LINES, count)


def bpe(seed: int) -> jeton.Tokenizer:
    return jeton.BPETrainer(
        256 + 40 + 10 * seed, pattern="gpt4", special_tokens=["<|end|>", "<|pad|>"]
    ).train(some_lines(seed))


def ranks(seed: int) -> jeton.Tokenizer:
    merged = jeton.BPETrainer(330 + 10 * seed, pattern="gpt2").train(some_lines(seed))
    return jeton.Tokenizer.from_ranks(
        merged.vocab, pattern="gpt2", special_tokens={"<|end|>": merged.vocab.max_id + 3}
    )


def bpe_of_characters(seed: int) -> jeton.Tokenizer:
    return jeton.BPETrainer(
        400,
        pattern="whitespace",
        alphabet="characters",
        end_of_word_suffix="</w>",
        special_tokens=["<unk>"],
        unk_token="<unk>",
    ).train(some_lines(seed))


def bpe_with_bytes(seed: int) -> jeton.Tokenizer:
    trainer = jeton.BPETrainer(600, **LLAMA)
    return trainer.train(some_lines(seed))


def wordpiece(seed: int) -> jeton.Tokenizer:
    return jeton.WordPieceTrainer(400).train(some_lines(seed))


def unigram(seed: int) -> jeton.Tokenizer:
    return jeton.UnigramTrainer(300, style="huggingface", hard_vocab_limit=False).train(
        some_lines(seed)
    )


def sentencepiece_unigram(seed: int) -> jeton.Tokenizer:
    return jeton.UnigramTrainer(300, hard_vocab_limit=False).train(some_lines(seed))


def words(seed: int) -> jeton.Tokenizer:
    vocab = {"[UNK]": 0}
    for line in some_lines(seed, 20):
        for word in line.split():
            vocab.setdefault(word, len(vocab))
    return jeton.Tokenizer(
        models.WordLevel(vocab),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.WordPiece("", cleanup=False),
    )


FAMILIES: dict[str, Callable[[int], jeton.Tokenizer]] = {
    "bpe": bpe,
    "ranks": ranks,
    "bpe of characters": bpe_of_characters,
    "bpe with bytes": bpe_with_bytes,
    "wordpiece": wordpiece,
    "unigram": unigram,
    "sentencepiece unigram": sentencepiece_unigram,
    "words": words,
}


def unigram_with_bytes(seed: int) -> jeton.Tokenizer:
    return jeton.UnigramTrainer(
        600, style="huggingface", byte_fallback=True, hard_vocab_limit=False
    ).train(some_lines(seed))


def sentencepiece_with_bytes(seed: int) -> jeton.Tokenizer:
    return jeton.UnigramTrainer(
        600, byte_fallback=True, user_defined_symbols=["<sep>"], pad_id=3, hard_vocab_limit=False
    ).train(some_lines(seed))


def sentencepiece_bpe(seed: int) -> jeton.Tokenizer:
    trained = jeton.BPETrainer(600, **LLAMA).train(some_lines(seed))
    with TemporaryDirectory() as folder:
        trained.save(f"{folder}/tokenizer.model", lossy=True)
        return jeton.load(f"{folder}/tokenizer.model")


def lacking_bytes(seed: int) -> jeton.Tokenizer:
    tok = bpe(seed)
    gone = {bytes([byte]) for byte in "zQ0\né".encode()}
    model = tok.stages.model
    assert isinstance(model, models.BPE)
    vocab = {token: id for token, id in model.vocab.items() if token not in gone}
    merges = [pair for pair in tok.vocab.merges if gone.isdisjoint(pair)]
    return tok.replace(model=dataclasses.replace(model, vocab=vocab, merges=merges))


def prefixes(seed: int) -> jeton.Tokenizer:
    return jeton.BPETrainer(
        400,
        pattern="whitespace",
        alphabet="characters",
        continuing_subword_prefix="##",
        special_tokens=["[UNK]"],
        unk_token="[UNK]",
    ).train(some_lines(seed))


def ids_with_gaps(seed: int) -> jeton.Tokenizer:
    tok = bpe(seed)
    return tok.with_added_tokens(
        [
            jeton.AddedToken("<|far|>", id=tok.vocab.max_id + 50, special=True),
            jeton.AddedToken("mid word", id=tok.vocab.max_id + 20),
        ]
    )


def padded(seed: int) -> jeton.Tokenizer:
    return wordpiece(seed).replace(
        padding={
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        }
    )


def twice(seed: int) -> jeton.Tokenizer:
    """As GPT-NeoX: added tokens have the bytes of the model's own, and ids of their own."""
    tok = bpe(seed)
    texts = [
        token.decode() for left, right in tok.vocab.merges if (token := left + right).isascii()
    ]
    added = [
        jeton.AddedToken(text, id=tok.vocab.max_id + 1 + at) for at, text in enumerate(texts[5:9])
    ]
    return tok.with_added_tokens(added)


WITH_MORE: dict[str, Callable[[int], jeton.Tokenizer]] = {
    **FAMILIES,
    "unigram with bytes": unigram_with_bytes,
    "sentencepiece unigram with bytes": sentencepiece_with_bytes,
    "sentencepiece bpe": sentencepiece_bpe,
    "prefixes": prefixes,
    "bytes that are no tokens": lacking_bytes,
    "ids with gaps": ids_with_gaps,
    "padded": padded,
    "twice": twice,
}


def check_promises(old: jeton.Tokenizer, edited: edit.Edited, texts: list[str]) -> None:
    new, id_map = edited.tok, edited.id_map
    before, after = bytes_by_id(old.vocab), bytes_by_id(new.vocab)
    kept = {a: b for a, b in enumerate(id_map.moved) if b != -1}
    assert {before[a] for a in kept} | set(edited.added) == set(after.values())
    assert all(before[a] == after[b] for a, b in kept.items()), "kept tokens keep their bytes"
    gone = set(before) - set(kept)
    assert {before[id] for id in gone} == set(edited.removed)
    unknown = {b"[UNK]", b"<unk>"}
    for text in texts:
        ids = old.encode(text)
        if not gone & set(ids) and not unknown & {before[id] for id in ids}:
            assert new.encode(text) == id_map.apply(ids), text
        if old.decode(ids) == text and not isinstance(
            old.stages.model, jeton.components.models.WordLevel
        ):
            assert new.decode(new.encode(text)) == text


def check_reachable(old: jeton.Tokenizer, edited: edit.Edited) -> None:
    """A token that is the one id of its own text still is."""
    for token, id in old.vocab.items():
        new_id = edited.id_map.moved[id]
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        if new_id != -1 and old.encode(text) == [id]:
            assert edited.tok.encode(text) == [new_id], text
