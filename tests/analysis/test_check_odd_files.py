"""`jeton check` where a file is not whole: no decoder, bytes left out, stages that do not fit.

Look here for what must not be said: that no text gives a token which some text gives.
"""

from __future__ import annotations

import itertools
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton import samples
from jeton.analysis import Finding, Health, check
from jeton.analysis.health.spellings import Spelling
from jeton.analysis.health.unreachable_tokens import _CLOSED, _KEPT
from jeton.components import decoders, models, normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.learn.reference.byte_level import printed
from kinds import word_piece

PRINTED = [printed(bytes([byte])) for byte in range(256)]
LINES = [line for text in samples.read_all().values() for line in text.splitlines()]
NO_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}


def ranked(words: list[str], merges: list[tuple[str, str]]) -> dict[str, int]:
    """A vocabulary of words and of what the merges make of them."""
    return {
        word: id for id, word in enumerate(dict.fromkeys([*words, *("".join(m) for m in merges)]))
    }


def printed_bpe(
    missing: str = "", more: list[tuple[str, str]] | None = None, **options: Any
) -> jeton.Tokenizer:
    """A BPE over bytes that a ByteLevel stage spells as characters."""
    stages = {
        name: options.pop(name, default)
        for name, default in [
            ("normalizer", None),
            ("pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=False)),
            ("decoder", decoders.ByteLevel()),
        ]
    }
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ã", "©")] if more is None else more
    words = [*options.pop("extra", []), *(c for c in PRINTED if c not in missing)]
    model = models.BPE(ranked(words, merges), merges, "characters", **options)
    return jeton.Tokenizer(model, **stages)


def marked_bpe(decoder: decoders.Decoder | None, **marks: str) -> jeton.Tokenizer:
    """A BPE over letters, with marks of where words begin or end."""
    prefix, suffix = marks.get("continuing_subword_prefix", ""), marks.get("end_of_word_suffix", "")
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["<unk>"]
    for c in letters:
        words += dict.fromkeys([c, prefix + c, c + suffix, prefix + c + suffix])
    merges = [("t", prefix + "h"), ("th", prefix + "e" + suffix), ("i", prefix + "n" + suffix)]
    joined = [left + right.removeprefix(prefix) for left, right in merges]
    vocab = {word: id for id, word in enumerate(dict.fromkeys([*words, *joined]))}
    return jeton.Tokenizer(
        models.BPE(vocab, merges, "characters", unk_token="<unk>", **marks),  # type: ignore[arg-type]
        normalizer=normalizers.Lowercase(),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoder,
    )


def pieces(decoder: decoders.Decoder | None) -> jeton.Tokenizer:
    rows = [("<unk>", 0.0), ("▁", -2.0), ("▁the", -3.0), *((c, -4.0) for c in "abcdefghilmnorstu")]
    return jeton.Tokenizer(
        models.Unigram(rows, unk_id=0),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoder,
    )


def wordpieces(decoder: decoders.Decoder | None) -> jeton.Tokenizer:
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = ["[UNK]", *letters, *(f"##{c}" for c in letters), "the", "##in"]
    return jeton.Tokenizer(
        models.WordPiece({token: id for id, token in enumerate(tokens)}),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoder,
    )


WHOLE = {
    "bytes as characters": lambda: printed_bpe(),
    "bytes behind NFKC and an expression": lambda: printed_bpe(
        normalizer=normalizers.NFKC(),
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(jeton.components.Regex(r"\s?\p{L}+|."), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    ),
    "bytes from the normalizer": lambda: printed_bpe(
        normalizer=normalizers.ByteLevel(), pre_tokenizer=None, more=[("t", "h"), ("Ã", "©")]
    ),
    "a space in front": lambda: printed_bpe(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        more=[("Ġ", c) for c in PRINTED[0xC2:0xF5]],
    ),
    "##": lambda: marked_bpe(decoders.WordPiece(), continuing_subword_prefix="##"),
    "</w>": lambda: marked_bpe(decoders.BPEDecoder("</w>"), end_of_word_suffix="</w>"),
    "▁": lambda: pieces(decoders.Metaspace()),
    "WordPiece": lambda: wordpieces(decoders.WordPiece(cleanup=False)),
}


def claimed(health: Health) -> dict[int, Finding]:
    rules = [finding for finding in health if finding.rule.startswith("unreach")]
    return {id: finding for finding in rules for id in finding.ids}


@pytest.mark.parametrize("make", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("has_decoder", [True, False], ids=["decoder", "no decoder"])
def test_no_token_that_text_gives_is_called_unreachable(make: Any, has_decoder: bool) -> None:
    tok = make()
    if not has_decoder:
        tok = jeton.Tokenizer(
            tok.stages.model,
            normalizer=tok.stages.normalizer,
            pre_tokenizer=tok.stages.pre_tokenizer,
        )
    health = check(tok)
    # No text has these bytes; all else is given by some text.
    assert {tok.vocab.spelling(id) for id in claimed(health)} <= {
        token.encode() if tok.stages.model.alphabet == "characters" else bytes([byte])
        for byte, token in enumerate(PRINTED)
        if byte in NO_UTF8 and isinstance(tok.stages.model, models.BPE)
    }
    assert "dropped-text" not in health and "missing-bytes" not in health
    assert ("decoder" in health) is not has_decoder
    finding = health["decoder"]
    if finding is not None:
        assert finding.message.startswith("there is no decoder: ")
        assert finding.severity == "error" and finding.evidence == "observed"
        for case in finding.cases:
            assert case.tried is not None and tuple(tok.encode(case.tried)) == case.gave
            assert case.told == f"decode gives {tok.decode(list(case.gave or ()))!r}"


def test_a_decoder_that_does_not_fit_is_named() -> None:
    finding = check(printed_bpe(decoder=decoders.Metaspace()))["decoder"]
    assert finding is not None and finding.message.startswith("the decoder Metaspace: ")


def test_words_that_come_back_in_parts() -> None:
    words = "abcdefghijklmnopqrstuvwxyz"
    tok = jeton.Tokenizer(
        models.BPE({c: id for id, c in enumerate(words)}, [], "characters"),
        normalizer=normalizers.Lowercase(),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    )
    health = check(tok)
    finding = health["split-words"]
    assert finding is not None and finding.severity == "warning"
    assert "decoder" not in health
    whole = jeton.Tokenizer(
        models.WordLevel({word: id for id, word in enumerate(["the", "[UNK]", "a"])}),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    )
    assert "split-words" not in check(whole)


def test_spellings_are_undone_without_a_decoder(tmp_path: Path) -> None:
    spelled = Spelling(printed_bpe(decoder=None))
    assert spelled.has_bytes and spelled.plain("ĠcafÃ©".encode()) == " café".encode()
    printed_bpe("Ñ", more=[]).save(tmp_path / "raw.json")
    raw = Spelling(jeton.load(tmp_path / "raw.json"))
    assert raw.plain("Ġ".encode()) == "Ġ".encode(), "a raw token is what it says"
    assert raw.of_pieces("ĠcafÃ©") == " café", "but its pieces are spelled"
    marked = Spelling(word_piece())
    assert (marked.bare(b"##er"), marked.bare(b"er"), marked.bare(b"##")) == (b"er", b"er", b"##")


class TestBytes:
    def test_a_byte_that_is_left_out_is_found(self) -> None:
        tok = printed_bpe("Ñ", more=[])
        finding = check(tok)["missing-bytes"]
        assert finding is not None and [case.name for case in finding.cases] == ["byte D1"]
        (case,) = finding.cases
        assert case.tried is not None and b"\xd1" in case.tried.encode() and case.told == "dropped"
        assert finding.severity == "error"

    @pytest.mark.parametrize("left_out", ["Ñ", "ÑĠZ"])
    def test_missing_bytes_are_found_in_loaded_files(self, left_out: str, tmp_path: Path) -> None:
        printed_bpe(left_out, more=[]).save(tmp_path / "tokenizer.json")
        tok = jeton.load(tmp_path / "tokenizer.json")
        assert isinstance(tok.stages.model, models.BPE) and tok.stages.model.alphabet == "bytes"
        names = {case.name for case in found(tok).cases}
        assert names == {f"byte {PRINTED.index(character):02X}" for character in left_out}

    def test_an_alphabet_of_ascii_with_an_unknown_token(self) -> None:
        beyond = "".join(PRINTED[0x80:])
        tok = printed_bpe(beyond, more=[], unk_token="<unk>", extra=["<unk>"])
        health = check(tok)
        finding = health["missing-bytes"]
        assert finding is not None and "unknown-text" not in health
        assert len(finding.cases) == 128 - 13
        assert {case.told for case in finding.cases} == {"unknown"}

    def test_those_that_utf_8_never_has_are_not_missed(self) -> None:
        tok = printed_bpe("".join(PRINTED[byte] for byte in NO_UTF8), more=[])
        assert "missing-bytes" not in check(tok)

    def test_those_that_never_reach_the_model_are_not_missed(self) -> None:
        capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        assert len(found(printed_bpe(capitals, more=[])).cases) == 26
        tok = printed_bpe(capitals, more=[], normalizer=normalizers.Lowercase())
        assert "missing-bytes" not in check(tok)

    @pytest.mark.parametrize("letter", ["a", "A"])
    def test_byte_fallback_whose_character_is_a_token(self, letter: str) -> None:
        left_out = f"<0x{ord(letter):02X}>"
        names = [f"<0x{byte:02X}>" for byte in range(256)]
        words = ["<unk>", "a", *(name for name in names if name != left_out)]
        vocab = {word: id for id, word in enumerate(words)}
        model = models.BPE(vocab, [], "characters", unk_token="<unk>", byte_fallback=True)
        health = check(jeton.Tokenizer(model, decoder=decoders.ByteFallback()))
        assert ("missing-bytes" in health) is (letter == "A")

    def test_byte_fallback_without_bytes(self) -> None:
        vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3}
        model = models.BPE(vocab, [("a", "b")], "characters", unk_token="<unk>", byte_fallback=True)
        finding = found(jeton.Tokenizer(model))
        assert len(finding.cases) == 256 - 13 - len("ab")

    def test_bytes_that_are_special_do_not_leak(self) -> None:
        names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
        vocab = {name: id for id, name in enumerate(names)}
        model = models.BPE(vocab, [], "characters", unk_token="<unk>", byte_fallback=True)
        special = [jeton.AddedToken(name, special=True) for name in names]
        tok = jeton.Tokenizer(model, decoder=decoders.ByteFallback(), added_tokens=special)
        assert "special-leaks" not in check(tok)


def found(tok: jeton.Tokenizer) -> Finding:
    finding = check(tok)["missing-bytes"]
    assert finding is not None
    return finding


def bytes_and(*tokens: bytes, **stages: Any) -> jeton.Tokenizer:
    """Bytes and tokens that are looked up whole."""
    rows = [bytes([byte]) for byte in range(256)] + list(tokens)
    vocab = {token: id for id, token in enumerate(rows)}
    return jeton.Tokenizer(
        models.BPE(vocab, [], ignore_merges=True), decoder=decoders.ByteLevel(), **stages
    )


class TestNotProved:
    """What some text gives is claimed of no token, however likely it looks."""

    def test_a_later_step_undoes_the_normalizer(self) -> None:
        steps = [normalizers.StripAccents(), normalizers.NFD()]
        tok = bytes_and("e\u0301".encode(), normalizer=normalizers.Sequence(steps))
        assert tok.encode("é") == [256]
        assert 256 not in claimed(check(tok))

    def test_a_later_step_keeps_what_the_normalizer_did(self) -> None:
        steps = [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
        tok = bytes_and("é".encode(), b"Ab", normalizer=normalizers.Sequence(steps))
        finding = check(tok)["unreachable-normalizer"]
        assert finding is not None and {256, 257} <= set(finding.ids)
        assert finding.evidence == "proved"

    def test_an_added_token_that_is_looked_for_before_the_normalizer(self) -> None:
        tok = bytes_and(
            b"xyz",
            normalizer=normalizers.Lowercase(),
            added_tokens=[jeton.AddedToken("y", 257, normalized=False)],
        )
        assert tok.encode("XYZ") == [256]
        assert 256 not in claimed(check(tok))

    def test_the_space_that_the_pre_tokenizer_puts_in_front(self) -> None:
        tok = printed_bpe(
            pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
            more=[("Ġ", "a")],
        )
        tok = tok.with_added_tokens([jeton.AddedToken(" a")])
        id = tok.vocab["Ġa"]
        assert id in tok.encode("a") and id not in claimed(check(tok))

    def test_text_that_spells_the_mark_of_a_continued_word(self) -> None:
        model = models.WordPiece({"[UNK]": 0, "##b": 1})
        tok = jeton.Tokenizer(model, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
        assert tok.encode("##b") == [1]
        assert 1 not in claimed(check(tok))

    def test_a_corpus_that_gives_the_token(self) -> None:
        rows = [("<unk>", 0.0), *((f"<0x{byte:02X}>", -9.0) for byte in range(256))]
        rows += [(chr(number), -1.0) for number in range(0xC0, 0x100) if number != 0xFE]
        tok = jeton.Tokenizer(models.Unigram(rows, unk_id=0, byte_fallback=True))
        assert 1 + 0xC3 not in claimed(check(tok, corpus=["þ"]))


def test_observed_cases_are_notes() -> None:
    model = models.WordPiece({"[UNK]": 0, "a": 1, "a-b": 2})
    tok = jeton.Tokenizer(model, pre_tokenizer=pre_tokenizers.Split("-", "isolated"))
    health = check(tok)
    finding = health["unreached"]
    assert finding is not None and finding.ids == [2]
    assert (finding.severity, finding.evidence) == ("note", "observed")
    assert finding.cases[0].told.endswith(
        "texts were tried; the pre-tokenizer splits it into a│-│b"
    )
    assert "unreachable-cut" not in health


@pytest.mark.large
@pytest.mark.parametrize(("first", "later"), [(f, later) for f in _KEPT for later in _KEPT[f]])
def test_steps_that_keep_what_a_normalizer_did(first: Any, later: Any) -> None:
    """By character, which these decide by, and in runs, where marks are put in order."""
    assert first in _CLOSED
    rest = [number for number in range(sys.maxunicode + 1) if not 0xD800 <= number < 0xE000]
    text = "".join(map(chr, rest))
    marks = [c for c in text if unicodedata.combining(c)]
    in_runs = "".join(f"aA\u0130{one}{other}" for one, other in itertools.pairwise(marks))
    for joined in ("\n".join(text), in_runs, in_runs[::-1]):
        kept = later()(first()(joined))
        assert first()(kept) == kept


class TestFindingsByName:
    def test_a_rule_is_in_it_if_it_found_something(self) -> None:
        health = check(printed_bpe("Ñ", more=[]))
        assert "missing-bytes" in health and health["missing-bytes"] in health
        assert "dropped-text" not in health and health["dropped-text"] is None
        assert [finding.rule for finding in health] == [it.rule for it in health.findings]
        assert len(health) == len(health.findings) and None not in health

    def test_a_name_of_no_rule_is_an_error_that_lists_them(self) -> None:
        health = check(printed_bpe())
        told = (
            "no rule 'missing-byte' .did you mean 'missing-bytes'.*dropped-text.*unused-direction"
        )
        with pytest.raises(ArgumentError, match=told):
            health["missing-byte"]
        with pytest.raises(ArgumentError, match=told):
            _ = "missing-byte" in health
        with pytest.raises(ArgumentTypeError, match="must be a str, not int"):
            health[0]  # type: ignore[index]


@pytest.mark.parametrize("command", ["check", "inspect"])
def test_a_corpus_that_is_not_utf_8(run: Run, here: Any, command: str) -> None:  # noqa: F811
    printed_bpe().save("tok.json")
    (here / "bad.txt").write_bytes(b"\xff\xfebad")
    told = error_of(run(command, "tok.json", "--corpus", "bad.txt", code=1))
    assert "bad.txt: this is text in UTF-16" in told
    (here / "bad.txt").write_bytes(b"bad \xff")
    told = error_of(run(command, "tok.json", "--corpus", "bad.txt", code=1))
    assert "bad.txt: not UTF-8 at byte" in told
    assert "--invalid" in told
    run(command, "tok.json", "--corpus", "bad.txt", "--invalid", "replace")
