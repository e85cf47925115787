"""How each library trains: byte pair encodings, WordPiece and Unigram, with settings that agree.

A training takes the text (a file, or a folder with one for each language), the size of the
vocabulary, where to save, and a pattern (`"gpt2"` or another name, for cl100k's). It gives what
trains, to be timed, and what saves the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

SPECIAL = "<|endoftext|>"
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


def _jeton_bpe(text: Path, size: int, saved: Path, pattern: str, **options: Any) -> Any:
    import jeton

    trainer = jeton.BPETrainer(size, pattern=pattern, special_tokens=[SPECIAL], **options)
    return lambda: trainer.train(text), lambda tok: tok.save(saved)


def _gigatoken(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import gigatoken

    def save(trained: Any) -> None:
        merges = [[left.hex(), right.hex()] for left, right in trained[1]]
        saved.write_text(json.dumps(merges), encoding="utf-8")

    return lambda: gigatoken.train_bpe(text, size, [SPECIAL]), save


def _tokenizers_bpe(text: Path, size: int, saved: Path, pattern: str) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.ByteLevel()
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if pattern != "gpt2":
        split = pre_tokenizers.Split(Regex(CL100K), "isolated")
        plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        byte_level = pre_tokenizers.Sequence([split, plain])
    tokenizer.pre_tokenizer = byte_level
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return lambda: tokenizer.train([str(text)], trainer), lambda _: tokenizer.save(str(saved))


def _gigabpe(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import gigabpe

    def train() -> Any:
        files, options = [str(text)], {"special_tokens": [SPECIAL], "pretokenizer": "bytelevel"}
        return gigabpe.train_bpe(files, size, **options)

    def save(trained: Any) -> None:
        vocab, merges = trained
        stage = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
        content = {
            "model": {"type": "BPE", "vocab": vocab, "merges": merges},
            "pre_tokenizer": stage,
            "decoder": stage,
        }
        saved.write_text(json.dumps(content), encoding="utf-8")

    return train, save


def _rustbpe(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    expression = GPT2 if pattern == "gpt2" else CL100K

    def train() -> None:
        with text.open(encoding="utf-8", newline="\n") as lines:
            tokenizer.train_from_iterator(lines, size - 1, pattern=expression)

    return train, lambda _: None


def _parallel(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The lines to train on and those of development, by language: translations of each other."""
    lines = {
        path.stem: path.read_text(encoding="utf-8").splitlines(keepends=True)
        for path in sorted(folder.iterdir())
    }
    return (
        {name: own[:1000] for name, own in lines.items()},
        {name: own[1000:] for name, own in lines.items()},
    )


def _jeton_fair(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import jeton
    from jeton.components import pre_tokenizers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = jeton.BPETrainer(size, pre_tokenizer=byte_level, languages="base")
    corpora, development = _parallel(text)
    return lambda: trainer.train(corpora, development=development), lambda tok: tok.save(saved)


def _tokenizers_fair(text: Path, size: int, saved: Path, pattern: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.ParityBpeTrainer(
        num_merges=size - 256,
        variant="base",
        global_merges=0,
        min_frequency=0,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpora, development = _parallel(text)

    def train() -> None:
        trainer.train_from_iterator(
            tokenizer,
            train_iterators=[iter(lines) for lines in corpora.values()],
            dev_iterators=[iter(lines) for lines in development.values()],
        )

    return train, lambda _: tokenizer.save(str(saved))


def _jeton_wordpiece(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import jeton

    trainer = jeton.WordPieceTrainer(size)
    return lambda: trainer.train(text), lambda tok: tok.save(saved)


def _tokenizers_wordpiece(text: Path, size: int, saved: Path, pattern: str) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=BERT_SPECIALS, show_progress=False
    )
    return lambda: tokenizer.train([str(text)], trainer), lambda _: tokenizer.save(str(saved))


def _jeton_unigram(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import jeton

    trainer = jeton.UnigramTrainer(size)
    return lambda: trainer.train(text), lambda tok: tok.save(saved)


def _sentencepiece(text: Path, size: int, saved: Path, pattern: str) -> Any:
    import sentencepiece

    def train() -> None:
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(saved.with_suffix("")),
            vocab_size=size,
            model_type="unigram",
            num_threads=2,
            minloglevel=2,
        )

    return train, lambda _: None


def _tokenizers_unigram(text: Path, size: int, saved: Path, pattern: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    return lambda: tokenizer.train([str(text)], trainer), lambda _: tokenizer.save(str(saved))


TRAININGS: dict[str, Callable[[Path, int, Path, str], Any]] = {
    "jeton bpe": _jeton_bpe,
    "jeton residues": partial(_jeton_bpe, drop_residues=0.9),
    "jeton super": partial(_jeton_bpe, superwords="super"),
    "jeton boundless": partial(_jeton_bpe, superwords="boundless"),
    "jeton fair bpe": _jeton_fair,
    "tokenizers fair bpe": _tokenizers_fair,
    "gigatoken bpe": _gigatoken,
    "tokenizers bpe": _tokenizers_bpe,
    "gigabpe bpe": _gigabpe,
    "rustbpe bpe": _rustbpe,
    "jeton wordpiece": _jeton_wordpiece,
    "tokenizers wordpiece": _tokenizers_wordpiece,
    "jeton unigram": _jeton_unigram,
    "sentencepiece unigram": _sentencepiece,
    "tokenizers unigram": _tokenizers_unigram,
}
