"""SentencePiece models as the nearest `tokenizer.json` and back: tokenizers agrees, few texts differ.

Look here for what `Tokenizer.approximation` promises.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from absent import judge_without_specials
from jeton.errors import ArgumentError, FormatWarning, UnsupportedError
from kinds import LLAMA
from nasty import strings
from test_sentencepiece import LINES, OPTIONS, nasty_strings, train

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

FIRST = {name: values[0] for name, values in OPTIONS.items()}


def _made(tmp_path: Path, **options: Any) -> jeton.Tokenizer:
    path = tmp_path / "made.model"
    path.write_bytes(train({**FIRST, **options}))
    return jeton.load(path)


def _difference(ours: Any, theirs: Any, texts: list[str]) -> int:
    return sum(ours.encode(text) != theirs.encode(text) for text in texts)


@pytest.mark.large
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity"])
def test_there_and_back(model_type: str, byte_fallback: bool, rule: str, tmp_path: Path) -> None:
    tok = _made(
        tmp_path,
        model_type=model_type,
        byte_fallback=byte_fallback,
        normalization_rule_name=rule,
    )
    near = tok.approximation("tokenizer.json")
    assert type(near.stages.model).__name__ == {"unigram": "Unigram", "bpe": "BPE"}[model_type]
    plain = [*LINES[:10], *(" ".join(random.Random(1).sample(LINES, 9)) for _ in range(50))]
    assert _difference(tok, near, plain) == 0
    assert [near.decode(near.encode(text)) for text in LINES[:2]] == LINES[:2]

    hard = [*strings(400, seed=3), *nasty_strings(400, seed=4)]
    judge = judge_without_specials(near.to_json())
    for text in plain + hard:
        assert judge.encode(text).ids == near.encode(text), text
    hard = [text for text in hard if not any(name in text for name in ("<unk>", "<0x"))]
    assert _difference(tok, near, hard) <= len(hard) // 50

    if model_type == "unigram":
        again = near.approximation(".model")
        again.save(tmp_path / "again.model")
        judge = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
        for text in plain + hard:
            assert again.encode(text) == tok.encode(text) == judge.encode(text), text


def _hugging_face(file: Path, shape: str) -> Any:
    """A Unigram `.model` file as transformers makes a `tokenizer.json` of it, for T5 or XLM-R."""
    judge = sentencepiece.SentencePieceProcessor(model_file=str(file))
    charsmap = jeton.load(file).stages.normalizer.charsmap  # type: ignore[union-attr]
    pieces = [(judge.id_to_piece(id), judge.get_score(id)) for id in range(len(judge))]
    first, last = {
        "T5": (["<pad>", "</s>", "<unk>"], ["<extra_id_1>", "<extra_id_0>"]),
        "XLM-R": (["<s>", "<pad>", "</s>", "<unk>"], ["<mask>"]),
    }[shape]
    vocab = [(name, 0.0) for name in first] + pieces[3:] + [(name, 0.0) for name in last]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(vocab, first.index("<unk>"), False))
    precompiled = tokenizers.normalizers.Precompiled(charsmap)
    metaspace = tokenizers.pre_tokenizers.Metaspace()
    if shape == "T5":
        made.normalizer = precompiled
        split = tokenizers.pre_tokenizers.WhitespaceSplit()
        made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, metaspace])
    else:
        strip = tokenizers.normalizers.Strip(left=False, right=True)
        spaces = tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), "▁")
        made.normalizer = tokenizers.normalizers.Sequence([precompiled, strip, spaces])
        made.pre_tokenizer = metaspace
    made.decoder = tokenizers.decoders.Metaspace()
    made.add_special_tokens([tokenizers.AddedToken(name, normalized=False) for name in first])
    made.add_special_tokens([tokenizers.AddedToken(name, lstrip=True) for name in last])
    end = made.token_to_id("</s>")
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", end)]
    )
    made.encode_special_tokens = True
    return made


@pytest.mark.parametrize("shape", ["T5", "XLM-R"])
def test_published_shapes(shape: str, tmp_path: Path) -> None:
    """They become a `.model` whose ids and text are theirs, but for what the documentation names."""
    file = tmp_path / "made.model"
    file.write_bytes(train({**FIRST, "model_type": "unigram"}))
    judge = _hugging_face(file, shape)
    judge.save(str(tmp_path / "tokenizer.json"))
    tok = jeton.load(tmp_path / "tokenizer.json")
    with pytest.raises(UnsupportedError, match=r"a Unigram model .*Tokenizer\.approximation"):
        tok.save(tmp_path / "near.model")
    near = tok.approximation(".model")
    with pytest.warns(FormatWarning, match=r"not hold the spaces after special tokens in text"):
        near.save(tmp_path / "near.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "near.model"))

    texts = [*LINES[:10], "a\nb", " a b ", "a \t b", "Ｈ①㍿ﷺ"]
    texts += [" ".join(random.Random(1).sample(LINES, 9)) for _ in range(50)]
    for text in texts:
        ids = judge.encode(text, add_special_tokens=False).ids
        assert near.encode(text) == pieces.encode(text) == ids, text
        decoded = judge.decode(ids, skip_special_tokens=False)
        assert near.decode(ids) == pieces.decode(ids) == decoded, text
    hard = [*strings(400, seed=3), *nasty_strings(400, seed=4)]
    assert all(near.encode(text) == pieces.encode(text) for text in hard)
    assert 0 < _difference(tok, near, hard) < len(hard) // 5
    for text in ("the ①\u0301 the", *(["a\x85the"] if shape == "T5" else [])):
        assert tok.encode(text) != near.encode(text), text
    for name in tok.special_tokens:
        text = f"the {name} and the{name}the"
        assert tok.encode(text) == near.encode(text) == pieces.encode(text), text


@pytest.mark.parametrize(
    ("rules", "refusal"),
    [
        # Case, composition and one character become the same on both sides, or differ as is said.
        ("41\t61\n65 301\tE9\nFF76 FF9E\t30AC\n", None),
        ("65 73\t45\n", 'makes "E" of "es"'),
        ("68\t48\n74 68\t74 48\n", None),
        ("1F44D 1F3FD\t1F44D\n", 'makes "👍" of "👍🏽"'),
        ("2E 2E 2E\t2026\n", None),
        ("2D 2D\t2014\n", 'makes "—" of "--"'),
    ],
)
def test_rules_for_several_characters(rules: str, refusal: str | None, tmp_path: Path) -> None:
    """A character map that does more than compose is refused: it would show in ordinary text."""
    tsv = tmp_path / "rules.tsv"
    tsv.write_text(rules, encoding="utf-8")
    file = train({**FIRST, "model_type": "unigram"}, normalization_rule_tsv=str(tsv))
    (tmp_path / "made.model").write_bytes(file)
    tok = jeton.load(tmp_path / "made.model")
    if refusal is None:
        near = tok.approximation("tokenizer.json")
        assert _difference(tok, near, LINES[:10]) == 0
    else:
        with pytest.raises(UnsupportedError, match=refusal):
            tok.approximation("tokenizer.json")


def test_a_tokenizer_that_fits_is_its_own_approximation(tmp_path: Path) -> None:
    trained = jeton.BPETrainer(vocab_size=360, **LLAMA).train(LINES)
    tok = jeton.Tokenizer.from_json(trained.to_json())
    assert tok.approximation("tokenizer.json") == tok
    near = tok.approximation(".model")
    near.save(tmp_path / "near.model")
    assert near.approximation(".model") == near
    assert _difference(tok, near, LINES[:10]) == 0


def test_tokenizers_without_an_approximation_are_refused(tmp_path: Path) -> None:
    tok = _made(tmp_path, model_type="word")
    with pytest.raises(UnsupportedError, match="a model of whole words"):
        tok.approximation("tokenizer.json")
    tok = _made(tmp_path, treat_whitespace_as_suffix=True)
    with pytest.raises(UnsupportedError, match="a space that is put at the end"):
        tok.approximation("tokenizer.json")
    with pytest.raises(UnsupportedError, match="cannot hold a WordPiece model"):
        jeton.WordPieceTrainer(vocab_size=200).train(LINES).approximation(".model")
    with pytest.raises(ArgumentError, match=r'must be one of "tokenizer\.json", "\.model"'):
        tok.approximation("vocab.txt")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="this Unigram model"):
        _made(tmp_path, normalization_rule_name="identity").save(tmp_path / "tokenizer.json")
