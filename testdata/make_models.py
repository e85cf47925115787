"""Makes models.toml: what Hugging Face tokenizers' models make of odd pieces.

Look here to add a row. Each case is the `model` section of a tokenizer.json and pieces to tokenize;
the library fills in the tokens, or that it refuses. Run `python testdata/make_models.py` and commit both.
"""

import json
from pathlib import Path
from typing import Any

import tokenizers


def bpe(tokens: str, merges: str = "", **options: Any) -> dict[str, Any]:
    vocab = {token: i for i, token in enumerate(tokens.split(" "))}
    pairs = [merge.split("+") for merge in merges.split()]
    return {"type": "BPE", "vocab": vocab, "merges": pairs} | options


def word_level(tokens: str, unk: str) -> dict[str, Any]:
    vocab = {token: i for i, token in enumerate(tokens.split(" "))}
    return {"type": "WordLevel", "vocab": vocab, "unk_token": unk}


def wordpiece(tokens: str, **options: Any) -> dict[str, Any]:
    vocab = {token: i for i, token in enumerate(tokens.split(" "))}
    default = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    return default | {"vocab": vocab} | options


def unigram(pieces: str, unk_id: int | None, byte_fallback: bool = False) -> dict[str, Any]:
    vocab = [
        (token, float(score)) for token, score in (piece.split("=") for piece in pieces.split())
    ]
    return {"type": "Unigram", "vocab": vocab, "unk_id": unk_id, "byte_fallback": byte_fallback}


LOWER = "a b c d e ab abc bc abcd cd de"
BYTES = " ".join(f"<0x{byte:02X}>" for byte in range(256))
UNK = {"unk_token": "<unk>"}

CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("no merges", bpe("a b"), ["", "a", "abba"]),
    ("first merge first", bpe(LOWER, "a+b b+c c+d"), ["abcd", "bcd", "abcbc"]),
    ("leftmost on ties", bpe("a aa aaa", "a+a a+aa"), ["aaa", "aaaa", "aaaaa", "aaaaaaa"]),
    ("right part first", bpe(LOWER, "b+c a+bc"), ["abc", "bcabc"]),
    ("two ways to one token", bpe(LOWER, "a+b b+c ab+c a+bc abc+d"), ["abc", "abcd", "ababcd"]),
    ("a token that no merge makes", bpe(LOWER, "a+b"), ["abc", "de"]),
    ("a merge listed twice", bpe(LOWER, "b+c a+b b+c"), ["abc", "bc"]),
    ("a long piece", bpe("a b aa aaaa ab", "a+a aa+aa a+b"), ["a" * 131 + "b", "ab" * 70]),
    ("ignore_merges", bpe(LOWER, "b+c", ignore_merges=True), ["abcd", "abc", "abcde"]),
    ("ignore_merges, unknown word", bpe(LOWER, "b+c", ignore_merges=True, **UNK), ["abcd"]),
    ("unknown dropped", bpe("a b ab", "a+b"), ["xab", "axb", "abx", "x", "aéb"]),
    ("unknown", bpe("<unk> a b ab", "a+b", **UNK), ["xab", "axxb", "abxx", "xx", "é€a"]),
    (
        "unknown fused",
        bpe("<unk> a b ab", "a+b", fuse_unk=True, **UNK),
        ["xab", "axxb", "abxx", "xyxa", "é€a"],
    ),
    ("unknown token unknown", bpe("a b", **UNK), ["ab", "ax", "x"]),
    ("a merge of unknown", bpe("<unk> a a<unk>", "a+<unk>", **UNK), ["axx", "xxa", "axa"]),
    ("byte fallback", bpe(f"a {BYTES}", byte_fallback=True), ["aé", "€", "\0\n", "😀a"]),
    (
        "byte fallback, a byte missing",
        bpe("<unk> a <0xC3>", byte_fallback=True, **UNK),
        ["aéa", "é"],
    ),
    (
        "byte fallback while unknown waits",
        bpe("<unk> a <0xC3> <0xA9>", byte_fallback=True, **UNK),
        ["xéa", "xxé", "éxé", "xéxa"],
    ),
    (
        "byte fallback while fused unknown waits",
        bpe("<unk> a <0xC3> <0xA9>", byte_fallback=True, fuse_unk=True, **UNK),
        ["xéa", "xxé", "éxxé", "xéxa"],
    ),
    (
        "bytes merged",
        bpe("é <0xC3> <0xA9> <0xC3><0xA9>", "<0xC3>+<0xA9>", byte_fallback=True),
        ["é", "é\xc3", "\xe9"],
    ),
    (
        "prefix",
        bpe("a b ##a ##b ab ##ab aba", "a+##b ##a+##b ab+##a", continuing_subword_prefix="##"),
        ["a", "ab", "aba", "bab", "bbab"],
    ),
    (
        "prefix and byte fallback",
        bpe(f"a ##a {BYTES}", byte_fallback=True, continuing_subword_prefix="##"),
        ["aba", "ba", "aé"],
    ),
    (
        "suffix",
        bpe("a b a</w> b</w> ab</w> ba", "a+b</w> b+a", end_of_word_suffix="</w>"),
        ["a", "ab", "bab", "ba", "bba"],
    ),
    (
        "prefix and suffix",
        bpe(
            "a b ##a ##b ##b. ab. a.",
            "a+##b.",
            continuing_subword_prefix="##",
            end_of_word_suffix=".",
        ),
        ["ab", "a", "aab"],
    ),
    ("suffix missing", bpe("a b", end_of_word_suffix="</w>", **UNK), ["", "a"]),
    (
        "suffix missing, unknown",
        bpe("<unk> a b", end_of_word_suffix="</w>", **UNK),
        ["ab", "aab"],
    ),
    ("word", word_level("<unk> hello", "<unk>"), ["hello", "hell", "é"]),
    ("word, unknown token unknown", word_level("hello", "<unk>"), ["hello", "hell"]),
    (
        "wordpiece",
        wordpiece("[UNK] un ##aff ##able ##a ##b u"),
        ["unaffable", "unab", "unx", "xun", "un", "##able", "u"],
    ),
    (
        "wordpiece, longest first is not always a way through",
        wordpiece("[UNK] ab abc ##c ##d ##cd"),
        ["abcd", "abcx", "abd"],
    ),
    (
        "wordpiece, long word",
        wordpiece("[UNK] a ##a", max_input_chars_per_word=5),
        ["aaaaa", "aaaaaa", "ééééé", "a"],
    ),
    ("wordpiece, unknown token unknown", wordpiece("a"), ["a", "b", "ab"]),
    ("wordpiece, no prefix", wordpiece("[UNK] a ab b", continuing_subword_prefix=""), ["abab"]),
    (
        "wordpiece, other prefix",
        wordpiece("[UNK] a @@b b", continuing_subword_prefix="@@"),
        ["abb", "ba"],
    ),
    ("wordpiece, more than ASCII", wordpiece("[UNK] é ##é ##éé 日"), ["éééé", "日é", "é日"]),
    (
        "unigram",
        unigram("<unk>=0 a=0 b=0 c=0 d=0 cd=1 ab=2 abc=5 abcd=10", 0),
        ["abcd", "abcdacdxx", "abc", "xabx"],
    ),
    (
        "unigram, first found wins a tie",
        unigram("<unk>=0 a=-1 b=-1 c=-1 ab=-1 bc=-1", 0),
        ["abc", "abcabc"],
    ),
    (
        "unigram, unknown fused",
        unigram("<unk>=-5 a=-1 ▁=-2", 0),
        ["xxa", "axxyya", "xax", "éé€"],
    ),
    ("unigram, the unknown token itself", unigram("<unk>=-1 a=-1", 0), ["<unk>", "x<unk>a"]),
    (
        "unigram, fused unknown that is a token",
        unigram("<unk>=0 a=0 xy=-100", 0),
        ["xy", "axya", "xyxy"],
    ),
    (
        "unigram, byte fallback",
        unigram("<unk>=0 a=-1 <0xC3>=-9 <0xA9>=-9 <0x78>=-9", 0, True),
        ["é", "aéxa", "ééy", "<0xC3>"],
    ),
    ("unigram, no unknown token", unigram("a=-1 b=-1", None), ["ab", "ax", "x"]),
    (
        "unigram, no unknown token but bytes",
        unigram("a=-1 <0x78>=-9", None, True),
        ["a", "x"],
    ),
    (
        "unigram, long sums of small differences",
        unigram("<unk>=0 a=-0.1 aa=-0.2 aaa=-0.3 aaaa=-0.4", 0),
        ["a" * 50],
    ),
]


def tokens_of(model: dict[str, Any], piece: str) -> list[list[int]] | None:
    """Rows of id, start, end in bytes of the piece; None where the library refuses."""
    document = {"version": "1.0", "added_tokens": [], "model": model}
    loaded = tokenizers.Tokenizer.from_str(json.dumps(document)).model
    try:
        return [[token.id, *token.offsets] for token in loaded.tokenize(piece)]
    except Exception:
        return None


def main() -> None:
    """Writes the table beside this file."""
    quote = lambda text: json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # noqa: E731
    lines = [f"# Made by make_models.py with tokenizers {tokenizers.__version__}; do not edit."]
    for name, model, pieces in CASES:
        lines += ["", "[[case]]", f"name = {quote(name)}", f"model = '{json.dumps(model)}'"]
        for piece in pieces:
            tokens = tokens_of(model, piece)
            outcome = "refused = true" if tokens is None else f"tokens = {json.dumps(tokens)}"
            lines += ["[[case.pieces]]", f"piece = {quote(piece)}", outcome]
    Path(__file__).with_suffix(".toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
