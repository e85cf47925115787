"""`analysis.sweep` and `jeton sweep`: costs by hand, the bend by its rule, and going on."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jeton
from command_line import Run, error_of, here, run  # noqa: F401
from jeton import samples
from jeton.analysis import Sweep, bend, sweep
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, TrainingWarning

LINES = samples.read("tales").splitlines()


@pytest.fixture(scope="module")
def swept() -> Sweep:
    return sweep(LINES, sizes=[900, 400], width=10, depth=3, context=100, bytes_per_parameter=2)


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
def test_sizes_that_give_the_same_tokenizer_are_shown_once() -> None:
    found = sweep(LINES, sizes=[20, 30, 400, 100_000, 200_000], families=["wordpiece", "bpe"])
    for family in ("bpe", "wordpiece"):
        sizes = [point.vocab_size for point in found.points if point.family == family]
        assert sizes == sorted({*sizes}) and sizes[0] == 400 and len(sizes) == 2
        reasons = {it.size: it.reason for it in found.skipped if it.family == family}
        assert sorted(reasons) == [20, 30, 200_000]
        assert f"no more than {sizes[-1]:,} tokens" in reasons[200_000]
    assert "alphabet and special tokens alone are" in reasons[30]


def test_points_are_what_they_say(swept: Sweep) -> None:
    families = [(point.family, point.size) for point in swept.points]
    assert families == [(f, s) for f in ("bpe", "unigram", "wordpiece") for s in (400, 900)]
    for point in swept.points:
        each = point.bytes_per_token
        assert each is not None and each == swept.held_out_bytes / point.tokens
        # By hand: 400 tokens of 10 numbers of 2 bytes are 8,000 bytes.
        assert point.embedding_bytes == point.vocab_size * 20
        assert point.context_bytes == 100 * each
        assert point.attention == 3 * 4 * 100 * 10 / each
        assert point.cache == 3 * 2 * 10 * 2 / each
        # A row of the output layer is 10 multiply-and-adds; a layer has 12 · 10² parameters.
        assert point.output == 2 * point.vocab_size * 10 / each
        token = 3 * 2 * 12 * 100 + 3 * 4 * 100 * 10 + 2 * point.vocab_size * 10
        assert point.operations == token / each
        assert point.share == point.vocab_size * 10 / (point.vocab_size * 10 + 3 * 12 * 100)
    assert [point.inexact for point in swept.points][:4] == [0, 0, 0, 0]


def test_bpe_and_unigram_give_text_back() -> None:
    odd = ["  two  spaces ", "ﬁ Ⅷ é", "\ttab", "🙂"] * 3
    found = sweep([*LINES, *odd], sizes=[400], held_out=odd)
    # WordPiece gives back only the line of one character, which was trained on, too.
    assert [point.inexact for point in found.points] == [0, 0, 9]


def test_the_textbook_size_of_an_embedding() -> None:
    """30,000 tokens of 768 numbers of 4 bytes are 87.89 MiB."""
    assert round(30_000 * 768 * 4 / 2**20, 2) == 87.89
    point = sweep(LINES, sizes=[300], families=["bpe"]).points[0]
    assert point.embedding_bytes / point.vocab_size == 768 * 4


def test_an_output_layer_of_its_own_is_parameters_and_no_operations() -> None:
    tied, untied = (sweep(LINES, sizes=[400], families=["bpe"], tied=it) for it in (True, False))
    [one], [other] = tied.points, untied.points
    table, layers = 400 * 768, 12 * 12 * 768**2
    assert one.share == table / (table + layers)
    assert other.share == 2 * table / (2 * table + layers)
    assert one.operations == other.operations and one.embedding_bytes == other.embedding_bytes


def test_the_fewest_operations_are_with_the_output_layer() -> None:
    """Attention alone is always least for the largest vocabulary; the whole model is not."""
    found = sweep(LINES, sizes=[300, 600, 1200], families=["bpe"], width=64, depth=1, context=16)
    attention = [(point.attention or 0, point.vocab_size) for point in found.points]
    assert min(attention)[1] == 1200
    operations = [(point.operations or 0, point.vocab_size) for point in found.points]
    assert found.cheapest == {"bpe": min(operations)[1]} != {"bpe": 1200}


IMPOSSIBLE: list[tuple[str, int, str]] = [
    ("bpe", 100, "alphabet of 256"),
    ("unigram", 50, "the 259 special tokens, symbols and bytes"),
]


@pytest.mark.parametrize(("family", "size", "told"), IMPOSSIBLE)
def test_an_impossible_size_is_skipped_and_said(
    family: str, size: int, told: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"families": [family], "folder": tmp_path}
    for _ in range(2):  # the second time it goes on where it was
        with pytest.warns(TrainingWarning) as caught:
            found = sweep(LINES, sizes=[size, 400], **options)
        [message] = [str(it.message) for it in caught]
        assert message.startswith(f"{family} of {size} tokens is skipped: ") and told in message
        assert caught[0].filename == __file__
        assert [point.size for point in found.points] == [400]
        [skipped] = found.skipped
        assert (skipped.family, skipped.size) == (family, size) and told in skipped.reason
        assert Sweep.load(tmp_path / "sweep.json").to_dict() == found.to_dict()
    with pytest.raises(ArgumentError, match=told):
        sweep(LINES, sizes=[size], families=[family])


def test_rare_tokens_are_counted_in_the_training_text() -> None:
    """Of the text, "ab", "cd" and " ab" are learned; the bytes are not."""
    text = ["ab ab ab ab cd cd cd"]
    for rare, rare_tokens in ((1, 0), (2, 1), (3, 1), (4, 3)):
        [point] = sweep(text, sizes=[259], families=["bpe"], held_out=["ab"], rare=rare).points
        # The tokens "cd" and " ab" occur 3 times, and "ab" by itself once.
        assert (point.learned, point.rare) == (3, rare_tokens)
        assert point.rare_share == rare_tokens / 3


def test_rare_tokens_are_those_of_usage(tmp_path: Path) -> None:
    families = {"bpe": "json", "unigram": "model", "wordpiece": "json"}
    found = sweep(LINES, sizes=[400, 900], held_out=["the sea"], rare=9, folder=tmp_path)
    for point in found.points:
        tok = jeton.load(tmp_path / f"{point.family}-{point.size}.{families[point.family]}")
        usage = tok.usage(LINES)
        special = {*tok.special_tokens.values(), *tok.roles.ids.values()}
        learned = [id for id in usage.ids.tolist() if len(tok.vocab.token_bytes(id)) > 1]
        learned = [id for id in learned if id not in special]
        assert point.learned == len(learned) > 0
        assert point.rare == sum(usage[id] < 9 for id in learned)


@pytest.mark.parametrize(
    ("rare", "supported"), [((5, 10, 60), 600), ((6, 10, 60), 600), ((6, 18, 60), None)]
)
def test_the_largest_size_with_few_rare_tokens(
    swept: Sweep, rare: tuple[int, ...], supported: int | None
) -> None:
    """Of 100, 200 and 400 learned tokens, at most 5, 10 and 20 may be rare."""
    points = tuple(
        replace(swept.points[0], vocab_size=300 * 2**at, learned=100 * 2**at, rare=number)
        for at, number in enumerate(rare)
    )
    assert replace(swept, points=points).supported == {"bpe": supported}


def test_each_part_of_a_corpus_is_measured(tmp_path: Path) -> None:
    loud = [line.upper() for line in LINES]
    options: dict[str, Any] = {"sizes": [400, 600], "folder": tmp_path}
    found = sweep({"soft": iter(LINES), "loud": loud, "none": []}, **options)
    assert sum(found.parts.values()) == found.held_out_bytes and found.parts["none"] == 0
    for point in found.points:
        tokens = [found.parts[name] / (point.parts[name] or 0) for name in ("soft", "loud")]
        assert sum(tokens) == pytest.approx(point.tokens)
        assert point.parts["none"] is None
    whole = sweep([*LINES, *loud], sizes=[400, 600])
    assert [it.bytes_per_token for it in whole.points] == [
        it.bytes_per_token for it in found.points
    ]
    assert whole.parts == {} and whole.points[0].parts == {}
    alone = sweep([*LINES, *loud], sizes=[600], families=["bpe"], held_out={"x": ["THE SEA"]})
    assert alone.points[0].parts == {"x": alone.points[0].bytes_per_token}
    assert Sweep.load(tmp_path / "sweep.json") == found
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["bytes_per_token[loud]"]) for row in rows] == [
        point.parts["loud"] for point in found.points
    ]
    with pytest.raises(FormatError, match="another corpus"):
        sweep({"soft": LINES, "LOUD": loud, "none": []}, **options)


def test_held_out_lines_are_not_trained_on() -> None:
    marked = [*LINES, *["zyzzyva qoph"] * 50]
    found = sweep(marked, sizes=[600], families=["bpe"], held_out=["zyzzyva qoph"])
    other = sweep(LINES, sizes=[600], families=["bpe"], held_out=["zyzzyva qoph"])
    assert found.points[0].tokens < other.points[0].tokens
    assert found.held_out_bytes == 12 and found.held_out == other.held_out
    assert found.corpus != other.corpus


def test_line_ends_are_text_as_in_training(tmp_path: Path) -> None:
    """By default a file is one document, as for trainers and `prepare`."""
    text = "".join(f"{line}\n\n" for line in LINES)
    (tmp_path / "a.txt").write_text(f"\n \n{text}", encoding="utf-8")
    found = {}
    for documents in ("file", "line"):
        kept = tmp_path / documents
        found[documents] = sweep(
            tmp_path / "a.txt", sizes=[600], families=["bpe"], documents=documents, folder=kept
        )
        tok = jeton.load(kept / "bpe-600.json")
        tokens = {tok.vocab.spelling(id) for id in range(tok.vocab_size)}
        assert (b"\n\n" in tokens) == (documents == "file")
    ends = found["file"].held_out_lines * 2
    in_lines = sum(len(it.encode()) for it in LINES) * found["file"].held_out_lines / len(LINES)
    assert found["file"].held_out_bytes > ends + in_lines / 3
    as_texts = sweep([text], sizes=[600], families=["bpe"])
    assert as_texts.points == found["file"].points
    assert as_texts.settings == {**found["line"].settings, "documents": "file"}
    with pytest.raises(FormatError, match="another settings"):
        sweep(tmp_path / "a.txt", sizes=[600], documents="line", folder=tmp_path / "file")


@pytest.mark.parametrize(
    ("points", "at"),
    [
        ([], None),
        ([(1, 1), (2, 2)], None),
        ([(1, 1), (2, 2), (3, 3)], None),
        ([(1, 3), (2, 2), (3, 1)], None),
        ([(1, 1), (2, 1.2), (3, 3)], None),  # it bends the other way
        ([(0, 0), (1, 6), (2, 8), (3, 9), (4, 10)], 1),
        ([(4, 10), (0, 0), (3, 9), (1, 1), (2, 8)], 2),
        ([(1, 0), (1, 0), (1, 0)], None),
        ([(0.1, 0), (0.5, 6), (1, 8)], 0.5),
    ],
)
def test_bends(points: list[tuple[float, float]], at: float | None) -> None:
    assert bend(points) == at


def test_where_it_bends_scales_with_the_axes() -> None:
    points = [(2.0**n, 5 - 4 / n) for n in range(1, 9)]
    at = bend(points)
    assert at is not None
    assert bend([(10 * x, 3 * y - 7) for x, y in points]) == 10 * at


def test_a_sweep_resumes(tmp_path: Path) -> None:
    class Interrupt(Exception):
        pass

    seen: list[str] = []

    def watch(label: str, step: object) -> None:
        seen.append(label)
        if label == "wordpiece 900":
            raise Interrupt

    options: dict[str, object] = {"sizes": [400, 900], "folder": tmp_path}
    with pytest.raises(Interrupt):
        sweep(LINES, watch=watch, **options)  # type: ignore[arg-type]
    before = Sweep.load(tmp_path / "sweep.json")
    assert [point.family for point in before.points] == ["bpe"] * 2 + ["unigram"] * 2 + [
        "wordpiece"
    ]
    seen.clear()
    found = sweep(LINES, watch=lambda label, _: seen.append(label), **options)  # type: ignore[arg-type]
    assert {*seen} == {"wordpiece", "wordpiece 900"}
    assert found.to_dict() == sweep(LINES, sizes=[400, 900]).to_dict()
    assert found.to_dict() == Sweep.load(tmp_path / "sweep.json").to_dict()
    with pytest.raises(FormatError, match="another settings"):
        sweep(LINES, width=9, **options)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="another corpus"):
        sweep(LINES[1:], **options)  # type: ignore[arg-type]
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(FormatError, match="not a saved sweep"):
        sweep(LINES, **options)  # type: ignore[arg-type]


def test_an_iterator_is_read_once() -> None:
    once = sweep(iter(LINES), sizes=[400], families=["bpe", "wordpiece"])
    assert once.to_dict() == sweep(LINES, sizes=[400], families=["bpe", "wordpiece"]).to_dict()


@pytest.mark.large
@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"sizes": []}, ArgumentError, "sizes"),
        ({"sizes": [0]}, ArgumentError, "sizes"),
        ({"sizes": 5}, ArgumentTypeError, "sizes"),
        ({"families": ["bpf"]}, ArgumentError, "bpf"),
        ({"families": "bpe"}, ArgumentTypeError, "families"),
        ({"families": []}, ArgumentError, "families"),
        ({"held_out": 0}, ArgumentError, "held_out"),
        ({"held_out": 1.0}, ArgumentError, "held_out"),
        ({"held_out": None}, ArgumentTypeError, "held_out"),
        ({"held_out": ["", "\n"]}, ArgumentError, "held_out"),
        ({"held_out": 0.999999}, ArgumentError, "selects all lines of the corpus"),
        ({"errors": "ingore"}, ArgumentError, "did you mean 'ignore'"),
        ({"documents": "lines"}, ArgumentError, 'must be "file", "line"'),
        ({"documents": "\n\n"}, ArgumentError, 'must be "file" or "line" in a sweep'),
        ({"rare": 0}, ArgumentError, "rare"),
        ({"held_out": {}}, ArgumentError, "held_out is a mapping without a part"),
        ({"held_out": {3: LINES}}, ArgumentTypeError, "each name of held_out"),
        ({"width": 0}, ArgumentError, "width"),
        ({"tied": 1}, ArgumentTypeError, "tied"),
        ({"watch": 5}, ArgumentTypeError, "watch"),
    ],
)
def test_wrong_values(options: dict[str, object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        sweep(LINES, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "odd"),
    [
        (("held_out_bytes",), None),
        (("held_out_lines",), "many"),
        (("settings",), {"width": []}),
        (("jeton",), 5),
        (("points", 0), [1]),
        (("points", 0, "family"), ["bpe"]),
        (("points", 0, "inexact"), None),
        (("points", 0, "vocab_size"), -1),
        (("points", 0, "bytes_per_token"), "2"),
        (("points", 0, "attention"), 10**400),
        (("points", 0, "cache"), float("nan")),
        (("points", 0, "share"), None),
        (("skipped",), [{"family": "bpe"}]),
        (("points", 0, "rare"), None),
        (("points", 0, "parts"), {"de": "2"}),
        (("parts",), {"de": -1}),
    ],
)
def test_edited_files_are_refused(
    swept: Sweep, tmp_path: Path, place: tuple[str | int, ...], odd: object
) -> None:
    record = holder = json.loads(json.dumps(swept.to_dict()))
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    (tmp_path / "edited.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(FormatError, match="not a saved sweep"):
        Sweep.load(tmp_path / "edited.json")


class TestCommand:
    def test_forms(self, run: Run, here: Path) -> None:  # noqa: F811
        (here / "x.txt").write_text("\n".join(LINES))
        line = ["sweep", "x.txt", "--sizes", "300,500,900", "--family", "bpe", "--folder", "kept"]
        ran = run(*line)
        assert "each file of text is a document (--documents line: each line is)" in ran.stderr
        output = ran.stdout
        assert "bends at" in output and "Kneedle" in output and "←" in output
        assert "has the fewest operations at" in output and "≠" not in output
        assert output.count("operations/byte") == 1 and "width 768, 12 layers" in output
        assert "rare (<100)" in output and "fewer tokens are rare" in output
        assert "more than 5% of the learned tokens are rare at each size" in output
        often = run("sweep", "x.txt", "--sizes", "300,900", "--family", "bpe", "--rare", "2").stdout
        assert "at most 5% of the learned tokens are rare up to 300" in often
        lossy = ["sweep", "x.txt", "--sizes", "100,400", "--family", "bpe", "--family", "wordpiece"]
        output = run(*lossy).stdout
        assert "bpe of 100 tokens is skipped: " in output
        [bars] = [line for line in output.splitlines() if " ≠ " in line and "MFLOP" in line][-1:]
        assert "█" in bars and "≠ lines that are not restored" in output
        rows = list(csv.DictReader(io.StringIO(run(*line, "--format", "csv").stdout)))
        assert [int(row["vocab_size"]) for row in rows] == [300, 500, 900]
        run(*line, "--format", "json", "-o", "s.json")
        assert json.loads((here / "s.json").read_text())["settings"]["width"] == 768
        assert (here / "kept" / "bpe-900.json").exists()

    def test_a_row_for_each_corpus(self, run: Run, here: Path) -> None:  # noqa: F811
        (here / "x.txt").write_text("\n".join(LINES))
        (here / "y.txt").write_text("\n".join(LINES).upper())
        line = ["sweep", "low=x.txt", "y.txt", "--sizes", "300,500", "--family", "bpe"]
        found = json.loads(run(*line, "--format", "json").stdout)
        rows = {row.split()[0]: row.split()[1:] for row in run(*line).stdout.splitlines() if row}
        for name in ("low", "y.txt"):
            assert rows[name] == [f"{point['parts'][name]:.3f}" for point in found["points"]]
        assert "bytes/token of" not in run("sweep", "./x.txt", *line[3:]).stdout
        measured = run("sweep", "x.txt", "--held-out", "up=y.txt", *line[3:]).stdout
        assert "bytes/token of" in measured and "\n  up " in measured
        twice = run("sweep", "x.txt", "x.txt", code=2)
        assert "CORPUS: 'x.txt' is there twice" in twice.stderr
        missing = run("sweep", "de=z.txt", "x.txt", code=1)
        assert "z.txt" in error_of(missing)

    def test_wrong_lines(self, run: Run, here: Path) -> None:  # noqa: F811
        run("sweep", code=2)
        run("sweep", "x.txt", "--sizes", "3,x", code=2)
        assert "--split-on" in run("sweep", "x.txt", "--split-on", "\\n\\n", code=2).stderr
        assert "x.txt" in error_of(run("sweep", "x.txt", code=1))
