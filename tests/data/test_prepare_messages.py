"""Conversations become tokens with their loss mask: in every layout, parted, shuffled."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton.chat import Request
from jeton.data import (
    IGNORED,
    Conversations,
    Manifest,
    TokenDataset,
    layouts,
    pack,
    prepare,
    verify,
)
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    ChatWarning,
    FileError,
    FormatError,
    JetonError,
)
from prepared_chats import CHATML, LAYOUTS, RECORDS, TOK, expected, lines, often, rows_of

pytestmark = pytest.mark.usefixtures(often.__name__)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ids_and_masks_are_those_of_chat(tmp_path: Path, layout: Any) -> None:
    path = lines(tmp_path / "in.jsonl", RECORDS)
    manifest = prepare(path, TOK, tmp_path / "out", layout=layout, messages=CHATML)
    wanted = expected(RECORDS)
    assert rows_of(tmp_path / "out") == wanted
    assert manifest.chats == {
        "learnt_tokens": sum(sum(mask) for _, mask in wanted),
        "truncated": 0,
        "messages_left_out": 0,
        "too_long": 0,
        "bad": 0,
    }
    assert manifest.documents == len(RECORDS)
    assert manifest.end_of_text is None
    assert verify(tmp_path / "out") == []
    assert Manifest.read(tmp_path / "out") == manifest


def test_few_chats_of_one_kind_are_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered, build = list[Any](), Request.build

    def noted(request: Request, *args: Any) -> Any:
        rendered.append(request)
        return build(request, *args)

    monkeypatch.setattr(Request, "build", noted)
    records = [record for record in RECORDS if record["id"] % 3 and record["id"] % 4 == 1]
    prepare(records, TOK, tmp_path / "out", messages=CHATML)
    assert len(records) == 20
    assert len(rendered) < 6
    assert rows_of(tmp_path / "out") == expected(records)


def test_the_manifest_has_the_name_of_the_tokenizer(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", RECORDS)
    manifest = prepare(path, TOK, tmp_path / "out", messages=CHATML, name="mine")
    assert manifest.tokenizer["name"] == "mine"


@pytest.mark.parametrize("layout", sorted(set(layouts.LAYOUTS) - set(LAYOUTS)))
def test_layouts_without_room_for_a_mask_say_which_have(tmp_path: Path, layout: Any) -> None:
    with pytest.raises(ArgumentError, match="jeton, datatrove, parquet and olmo can"):
        prepare(RECORDS, TOK, tmp_path / "out", layout=layout, messages=CHATML)
    assert not (tmp_path / "out").exists()
    with pytest.raises(ArgumentError, match="jeton, datatrove, parquet and olmo can"):
        layouts.create(layout, tmp_path / "out", dtype="uint16", masks=True)


@pytest.mark.large
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_parted_and_shuffled_set_keeps_masks_with_their_tokens(
    tmp_path: Path, layout: Any
) -> None:
    options: dict[str, Any] = {"layout": layout, "messages": CHATML, "shard_tokens": 900}
    wanted = expected(RECORDS)
    by_text = sorted(range(len(RECORDS)), key=lambda at: wanted[at])
    ways: list[dict[str, Any]] = [
        {"validation": 0.3, "split": "hash"},
        {"shuffle": 4},
        {"validation": 0.3, "shuffle": 2},
    ]
    for number, more in enumerate(ways):
        out = tmp_path / str(number)
        manifest = prepare(RECORDS, TOK, out, **options, **more)
        assert any(len(split.shards) > 1 for split in manifest.splits.values())
        found = [row for split in manifest.splits for row in rows_of(out, split)]
        if more.get("split") == "hash" or "validation" not in more:
            assert sorted(found) == [wanted[at] for at in by_text]
        else:
            # A cut may part one conversation.
            assert sum(len(ids) for ids, _ in found) == sum(len(ids) for ids, _ in wanted)
            assert sum(sum(mask) for _, mask in found) == sum(sum(mask) for _, mask in wanted)


def test_a_hash_goes_by_the_text(tmp_path: Path) -> None:
    prepare(RECORDS, TOK, tmp_path, validation=0.4, split="hash", messages=CHATML)
    texts = [TOK.chat(record["messages"], template="chatml").text for record in RECORDS]
    validates = [
        int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") < 0.4 * 2**64
        for text in texts
    ]
    wanted = expected(RECORDS)
    assert rows_of(tmp_path, "val") == [
        row for row, on in zip(wanted, validates, strict=True) if on
    ]


def inputs(folder: Path) -> dict[str, Any]:
    """The records in all forms in which they can come."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    datasets = pytest.importorskip("datasets")
    plain = lines(folder / "plain.jsonl", RECORDS)
    (folder / "zipped.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    with pyarrow.CompressedOutputStream(str(folder / "small.jsonl.zst"), "zstd") as file:
        file.write(plain.read_bytes())
    with_blanks = b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n\r\n").rstrip()
    (folder / "blanks.txt").write_bytes(with_blanks)
    table = pyarrow.Table.from_pylist(RECORDS)
    parquet.write_table(table, folder / "rows.parquet", row_group_size=50)
    as_text = [{"messages": json.dumps(record["messages"])} for record in RECORDS]
    return {
        **{path.name: path for path in sorted(folder.iterdir())},
        "a list": RECORDS,
        "a generator": (record for record in RECORDS),
        "an Arrow table": table,
        "a data set": datasets.Dataset.from_list(RECORDS),
        "messages as JSON text": as_text,
        "a table of JSON text": pyarrow.Table.from_pylist(as_text),
    }


def test_all_inputs_give_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    wanted = expected(RECORDS)
    for number, (name, data) in enumerate(inputs(tmp_path / "in").items()):
        out = tmp_path / str(number)
        prepare(data, TOK, out, messages=CHATML)
        assert rows_of(out) == wanted, name


@pytest.mark.large
def test_labels_are_those_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    plain = [
        {"messages": [{**it, "content": it["content"].replace("<|im_end|>", "")} for it in some]}
        for some in (record["messages"] for record in RECORDS)
    ]
    TOK.save(tmp_path / "tok.json")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tok.json"))
    prepare(plain, TOK, tmp_path / "out", layout="parquet", messages=CHATML)
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "out/train-00000.parquet")
    assert table.column_names == ["input_ids", "labels"]
    for record, row in zip(plain, table.to_pylist(), strict=True):
        given = theirs.apply_chat_template(
            record["messages"],
            chat_template=jeton.chat.TEMPLATES["chatml"],
            tokenize=True,
            return_dict=True,
            return_assistant_tokens_mask=True,
        )
        mask = given["assistant_masks"]
        assert row["input_ids"] == list(given["input_ids"])
        assert row["labels"] == [
            id if on else IGNORED for id, on in zip(given["input_ids"], mask, strict=True)
        ]


def test_datatrove_writes_and_reads_such_masks(tmp_path: Path) -> None:
    pytest.importorskip("datatrove")
    from datatrove.io import get_datafolder
    from datatrove.pipeline.tokens.tokenizer import TokenizedFile

    prepare(RECORDS, TOK, tmp_path / "ours", layout="datatrove", messages=CHATML)
    theirs = TokenizedFile(
        get_datafolder(str(tmp_path / "theirs")), "00000.ds", save_loss_metadata=True, token_size=2
    )
    for ids, mask in expected(RECORDS):
        theirs.write(ids, np.array(mask))
    theirs.close()
    for name in ("00000.ds", "00000.ds.index", "00000.ds.loss"):
        ours = (tmp_path / "ours" / "train" / name).read_bytes()
        assert ours == (tmp_path / "theirs" / name).read_bytes()


def test_batches_have_labels_where_the_mask_is(tmp_path: Path) -> None:
    prepare(RECORDS, TOK, tmp_path, shard_tokens=500, messages=CHATML)
    tokens = TokenDataset(tmp_path)
    assert tokens.mask is not None and len(tokens.mask) == len(tokens)
    labels = np.where(tokens.mask[:], tokens[:].astype(np.int64), IGNORED)
    for start in (0, 7, len(tokens) - 41):
        batch = tokens.windows_at(np.array([start]), 40)
        assert batch.x[0].tolist() == tokens[start : start + 40].tolist()
        assert batch.y[0].tolist() == labels[start + 1 : start + 41].tolist()
    wanted = expected(RECORDS)
    length = max(len(ids) for ids, _ in wanted)
    packing = pack(tokens, length, "bins", shift_labels=False)
    rows = packing[:]
    for number, (ids, mask) in enumerate(wanted):
        here = rows.document_ids == number
        assert rows.ids[here].tolist() == ids
        assert rows.labels[here].tolist() == [
            id if on else IGNORED for id, on in zip(ids, mask, strict=True)
        ]
    assert packing.report.cropped == packing.report.dropped == 0
    explicit = pack(tokens, length, "bins", masks=tokens.mask, shift_labels=False)[:]
    assert (explicit.labels == rows.labels).all()
    packed = next(iter(pack(tokens, length, "bins").loader(4, seed=1)))
    assert ((packed.labels >= 0) | (packed.labels == IGNORED)).all()


# Roles, tools, lengths


def test_roles_and_tools_and_variables(tmp_path: Path) -> None:
    template = (
        "{{ day }}{% for t in tools or [] %}<{{ t.function.name }}>{% endfor %}"
        "{% for m in messages %}{{ m.role }}:{{ m.content }}<|im_end|>{% endfor %}"
    )
    tool = {"type": "function", "function": {"name": "f"}}
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    records = [
        {"chat": turns, "functions": [tool]},
        {"chat": turns, "functions": json.dumps([tool])},
        {"chat": turns, "functions": None},
        {"chat": turns},
    ]
    asked = Conversations(
        "chat", tools="functions", template=template, roles=["user"], variables={"day": "Mon "}
    )
    prepare(records, TOK, tmp_path, messages=asked)
    tokens = TokenDataset(tmp_path)
    texts = [tokens.decode(ids) for ids in tokens.documents]
    assert texts == [
        f"Mon {'<f>' * used}user:a<|im_end|>assistant:b<|im_end|>" for used in (1, 1, 0, 0)
    ]
    assert tokens.mask is not None
    assert tokens.decode(tokens[:][tokens.mask[:]]) == "a<|im_end|>" * 4


def test_messages_that_the_template_leaves_out_are_warned_of_once(tmp_path: Path) -> None:
    turn = [{"role": "user", "content": "a"}, {"role": "robot", "content": "c"}]
    answer = {"role": "assistant", "content": "b"}
    records = [{"messages": [*turn * times, answer]} for times in (1, 2, 3, 4)]
    template = (
        "{% for m in messages if m.role != 'robot' %}{{ m.content + '<|im_end|>' }}{% endfor %}"
    )
    path = lines(tmp_path / "in.jsonl", records)
    with pytest.warns(ChatWarning) as caught:
        prepare(path, TOK, tmp_path / "out", messages=Conversations(template=template))
    said = [str(it.message) for it in caught]
    assert (
        said[0] == "the chat template does not print messages[1] (this warning comes once per kind)"
    )
    assert len(said) == 2  # of one such message, of several


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_the_same_call_is_no_more_work(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", RECORDS)
    asked = Conversations(template="chatml", variables={"a": (1, {"b": None})})
    first = prepare(path, TOK, tmp_path / "out", messages=asked)
    steps: list[object] = []
    assert prepare(path, TOK, tmp_path / "out", messages=asked, watch=steps.append) == first
    assert not steps


def test_the_day_is_given(tmp_path: Path) -> None:
    template = "{{ strftime_now('%d %B') }}: {{ messages[0].content }}"
    record = {"messages": [{"role": "assistant", "content": "a"}]}
    with pytest.raises(ArgumentError, match="pass date"):
        prepare([record], TOK, tmp_path / "a", messages=Conversations(template=template))
    asked = Conversations(template=template, date="2026-02-01")
    prepare([record], TOK, tmp_path / "a", messages=asked)
    assert TokenDataset(tmp_path / "a").decode(slice(None)) == "01 February: a"
    with pytest.raises(FileError, match="another messages"):
        other = Conversations(template=template, date="2026-02-02")
        prepare([record], TOK, tmp_path / "a", messages=other)


@pytest.mark.large
def test_long_conversations_are_truncated_or_dropped_and_counted(tmp_path: Path) -> None:
    most = 60
    wanted: list[tuple[list[int], list[bool]]] = []
    truncated = left_out = too_long = 0
    for record in RECORDS:
        chat = TOK.chat(record["messages"], template="chatml")
        try:
            short = chat.truncate(most)
        except ArgumentError:
            too_long += 1
            continue
        truncated += short is not chat
        left_out += len(short.dropped)
        wanted.append((short.ids, list(map(bool, short.loss_mask()))))
    assert truncated and too_long
    out = tmp_path / "truncated"
    asked = Conversations(template="chatml", max_tokens=most)
    manifest = prepare(RECORDS, TOK, out, messages=asked)
    assert rows_of(out) == wanted
    assert manifest.chats is not None
    assert manifest.chats["truncated"] == truncated
    assert manifest.chats["messages_left_out"] == left_out
    assert manifest.chats["too_long"] == too_long
    assert manifest.documents == len(RECORDS) - too_long

    whole = [row for row in expected(RECORDS) if len(row[0]) <= most]
    asked = Conversations(template="chatml", max_tokens=most, too_long="drop")
    manifest = prepare(RECORDS, TOK, tmp_path / "dropped", messages=asked)
    assert rows_of(tmp_path / "dropped") == whole
    assert manifest.chats is not None
    assert manifest.chats["too_long"] == len(RECORDS) - len(whole)

    asked = Conversations(template="chatml", max_tokens=most, too_long="error")
    with pytest.raises(ArgumentError, match=r"record \d+: .* more than max_tokens=60"):
        prepare(RECORDS, TOK, tmp_path / "none", messages=asked)


def test_a_question_that_stays_alone_is_dropped(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b" * 60},
        {"role": "user", "content": "c"},
    ]
    short = {"messages": [*turns[:1], {"role": "assistant", "content": "b"}]}
    asked = Conversations(template="chatml", max_tokens=25)
    manifest = prepare([{"messages": turns}, short], TOK, tmp_path, messages=asked)
    assert manifest.chats is not None
    assert (manifest.chats["too_long"], manifest.documents) == (1, 1)


# What is no conversation

GOOD = RECORDS[1]
BAD: dict[str, tuple[str, str]] = {
    "no JSON": ('{"messages', r"not a JSON object: .*\(each line must be a whole object\)"),
    "a list": ("[1]", "not a JSON object, but a value of type list"),
    "another field": ('{"mesages": []}', "there is no field 'messages' .did you mean 'mesages'.*"),
    "null": ('{"messages": null}', "the messages must be a list, not a value of type NoneType"),
    "an object": ('{"messages": {"role": "user"}}', "the messages must be a list"),
    "text": ('{"messages": "hello"}', "field 'messages' is a text, not JSON"),
    "empty": ('{"messages": []}', "messages is empty"),
    "a message of text": ('{"messages": ["hi"]}', r"messages\[0\] is not an object with a role"),
    "no role": ('{"messages": [{"content": "a"}]}', r"messages\[0\] has no role$"),
    "a role of another type": (
        '{"messages": [{"role": 5, "content": "a"}]}',
        r"messages\[0\].role must be text, not a value of type int",
    ),
    "ShareGPT": (
        '{"messages": [{"from": "human", "value": "a"}]}',
        "rename these to 'role' and 'content'",
    ),
    "a content of another name": (
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "contents": "b"}]}',
        r"messages\[1\] has no content, .* .it has 'contents'; is 'contents' its content\?",
    ),
    "calls that the template does not write": (
        '{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "a"}]}]}',
        r"jeton's chat template 'chatml' does not print messages\[0\]\.tool_calls",
    ),
    "no content": ('{"messages": [{"role": "user"}]}', "would be all zero"),
    "no answer": ('{"messages": [{"role": "user", "content": "a"}]}', "would be all zero"),
    "half a pair": (
        '{"messages": [{"role": "assistant", "content": "\\ud800"}]}',
        "escaped surrogate without its other half",
    ),
    "half a pair as a name": ('{"\\ud800": []}', "there is no field 'messages'"),
    "endless": ('{"messages": ' + "[" * 100_000, "not a JSON object"),
    "a great number": ('{"messages": ' + "9" * 5_000 + "}", "not a JSON object"),
    "deep": (
        '{"messages": [{"role": "assistant", "content": ' + "[" * 300 + "]" * 300 + "}]}",
        "nested too deep|template",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_record_that_is_no_conversation(tmp_path: Path, name: str) -> None:
    text, told = BAD[name]
    path = tmp_path / "in.jsonl"
    good = json.dumps(GOOD)
    path.write_text(f"{good}\n\n{text}\n{good}\n")
    with pytest.raises(JetonError, match=told) as caught:
        prepare(path, TOK, tmp_path / "out", messages=CHATML)
    assert str(caught.value).startswith(f"{path}: line 3: "), str(caught.value)
    assert not (tmp_path / "out").exists()
    dropping = Conversations(template="chatml", bad_records="drop")
    manifest = prepare(path, TOK, tmp_path / "out", messages=dropping)
    assert manifest.chats is not None
    assert (manifest.documents, manifest.chats["bad"]) == (2, 1)
    assert rows_of(tmp_path / "out") == expected([GOOD, GOOD])


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(json.dumps(GOOD).encode().replace(b"short", b"sh\xffrt") + b"\n")
    with pytest.raises(FormatError, match=r"in.jsonl: line 1: not UTF-8: .* errors=\"replace\""):
        prepare(path, TOK, tmp_path / "out", messages=CHATML)
    prepare(path, TOK, tmp_path / "out", messages=CHATML, errors="replace")
    assert "sh�rt" in TokenDataset(tmp_path / "out").decode(slice(None))


def test_files_that_are_damaged(tmp_path: Path) -> None:
    whole = gzip.compress(lines(tmp_path / "in.jsonl", RECORDS).read_bytes())
    for number, data in enumerate((whole[:-20], whole[:90] + b"\0\0\0" + whole[93:])):
        path = tmp_path / f"{number}.jsonl.gz"
        path.write_bytes(data)
        with pytest.raises(FileError, match="gz: cannot be read"):
            prepare(path, TOK, tmp_path / f"out-{number}", messages=CHATML)
        (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError, match="not a Parquet file"):
        prepare(tmp_path / "bad.parquet", TOK, tmp_path / "out2", messages=CHATML)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"text": ["a"], "massages": ["b"]})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "in.parquet")
    for data in (table, tmp_path / "in.parquet"):
        with pytest.raises(FormatError, match=r"no column 'messages' .did you mean 'massages'"):
            prepare(data, TOK, tmp_path / "out", messages=CHATML)
    with pytest.raises(ArgumentError, match="a single column"):
        prepare(table.column(0), TOK, tmp_path / "out", messages=CHATML)


def test_errors_of_the_template_are_no_bad_records(tmp_path: Path) -> None:
    for template, told in (
        ("{% if %}", "not valid Jinja"),
        ("{{ ''.__class__ }}{{ messages.append(1) }}", "may not do that"),
        ("chatnl", "no chat template 'chatnl'"),
        (None, "has no chat template"),
    ):
        asked = Conversations(template=template, bad_records="drop")
        with pytest.raises(JetonError, match=told):
            prepare(RECORDS, TOK, tmp_path / "out", messages=asked)


def test_arguments(tmp_path: Path) -> None:
    with_messages: list[tuple[dict[str, Any], str]] = [
        ({"field": "text"}, "field is for documents that hold a text"),
        ({"documents": "line"}, "documents is for documents that hold a text"),
        ({"end_of_text": "<|im_end|>"}, "leave end_of_text out"),
        ({"messages": 3}, "messages must be the name of a field or"),
    ]
    for options, told in with_messages:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
            prepare(RECORDS, TOK, tmp_path / "out", **{"messages": "messages", **options})
    of_conversations: list[tuple[dict[str, Any], str]] = [
        ({"field": ""}, "field is empty"),
        ({"field": None}, "field must be a str"),
        ({"roles": "assistant"}, "roles must be an iterable of str"),
        ({"roles": []}, "roles is empty"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"too_long": "cut"}, 'too_long must be one of "truncate", "drop", "error"'),
        ({"bad_records": "ignore"}, 'bad_records must be one of "error", "drop"'),
        ({"bad_records": None}, "bad_records must be one of"),
        ({"date": "tomorrow"}, "date must be a date such as '2026-11-23'"),
        ({"variables": {"tools": []}}, "'tools' is an argument of chat"),
        ({"variables": {"a": object()}}, "values that JSON can hold"),
        ({"variables": {1: "a"}}, "each name of variables must be a str"),
        ({"variables": [1]}, "variables must be a mapping"),
    ]
    for options, told in of_conversations:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
            Conversations(**options)
