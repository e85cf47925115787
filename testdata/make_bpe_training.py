"""Makes bpe_training.toml: what Hugging Face tokenizers' BpeTrainer trains on small corpora.

Look here to add a row. Run `python testdata/make_bpe_training.py` and commit both. Prefix and suffix are
not here: with them the library's ids change from run to run.
"""

import json
import random
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer


def random_words(seed: int, letters: str, count: int, longest: int) -> list[tuple[str, int]]:
    numbers = random.Random(seed)
    lengths = [numbers.randint(1, longest) for _ in range(count)]
    words = ["".join(numbers.choices(letters, k=length)) for length in lengths]
    return [(word, numbers.randint(1, 9)) for word in dict.fromkeys(words)]


LOW = [("low", 5), ("lower", 2), ("newest", 6), ("widest", 3)]
RUNS = [("a" * n, n) for n in range(1, 12)] + [("aab" * 5, 3), ("baa", 2)]

CASES: list[tuple[str, list[tuple[str, int]], dict[str, Any]]] = [
    ("low lower newest widest", LOW, {"vocab_size": 24}),
    ("runs of one letter", RUNS, {"vocab_size": 14}),
    ("until nothing is left", LOW, {"vocab_size": 500}),
    ("min_frequency", LOW, {"vocab_size": 500, "min_frequency": 6}),
    ("special tokens first", LOW, {"vocab_size": 24, "special_tokens": ["<s>", "</s>"]}),
    ("a special token of one letter", LOW, {"vocab_size": 24, "special_tokens": ["w", "<s>"]}),
    ("a special token that merges make", LOW, {"vocab_size": 24, "special_tokens": ["est"]}),
    ("initial alphabet", LOW, {"vocab_size": 30, "initial_alphabet": ["z", "é", "a"]}),
    (
        "limited alphabet",
        [("aaaabbbcc", 1), ("abcd", 1)],
        {"vocab_size": 20, "limit_alphabet": 2},
    ),
    ("max_token_length 1", LOW, {"vocab_size": 40, "max_token_length": 1}),
    ("max_token_length 2", LOW, {"vocab_size": 40, "max_token_length": 2}),
    ("max_token_length 3", LOW, {"vocab_size": 40, "max_token_length": 3}),
    ("max_token_length 4", LOW, {"vocab_size": 40, "max_token_length": 4}),
    ("two ways to one token", random_words(1, "ab", 60, 8), {"vocab_size": 60}),
    ("many ties", random_words(2, "abcdef", 80, 5), {"vocab_size": 120}),
    ("more than ASCII", random_words(3, "aéß日本", 60, 6), {"vocab_size": 70}),
    ("long words", random_words(4, "abc", 10, 60), {"vocab_size": 80}),
    (
        "long words, short tokens",
        random_words(5, "ab", 30, 30),
        {"vocab_size": 50, "max_token_length": 5},
    ),
]


def train(words: list[tuple[str, int]], options: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """The vocabulary in the order of ids, and the merges."""
    tokenizer = tokenizers.Tokenizer(BPE())
    tokenizer.pre_tokenizer = WhitespaceSplit()
    trainer = BpeTrainer(show_progress=False, **options)
    tokenizer.train_from_iterator([" ".join([word] * count) for word, count in words], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    vocab = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return vocab, model["merges"]


def main() -> None:
    """Writes the table beside this file."""
    lines = [
        f"# Made by make_bpe_training.py with tokenizers {tokenizers.__version__}; do not edit."
    ]
    for name, words, options in CASES:
        vocab, merges = train(words, options)
        if any(train(words, options) != (vocab, merges) for _ in range(4)):
            raise SystemExit(f"{name}: the library is not deterministic here")
        rows = {"name": name, "words": words} | options | {"vocab": vocab, "merges": merges}
        lines += ["", "[[case]]"]
        lines += [f"{key} = {json.dumps(row, ensure_ascii=False)}" for key, row in rows.items()]
    Path(__file__).with_suffix(".toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
