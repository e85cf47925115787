"""What `as_transformers()` gives is used by transformers: collators, pipelines, a trainer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.loading.transformers_classes import bare_name, input_names
from kinds import byte_level

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")


LINES = ["the theory of the weather there, then: père, 東京, 🙂🙂 \n\n  x = 1\n"] * 4
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks a network for anything."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def chat_tokenizer() -> jeton.Tokenizer:
    return byte_level().replace(roles={"eos": "<|end|>", "pad": "<|end|>x"}, chat_template=TEMPLATE)


def tiny(tok: jeton.Tokenizer) -> Any:
    """A random GPT-2 of two thousand parameters and some."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=tok.vocab.max_id + 1,
        n_positions=64,
        n_embd=8,
        n_layer=1,
        n_head=1,
        bos_token_id=None,
        eos_token_id=tok.roles.ids["eos"],
        pad_token_id=tok.roles.ids["pad"],
    )
    return transformers.GPT2LMHeadModel(config)


def test_collators() -> None:
    torch = pytest.importorskip("torch")
    tok = chat_tokenizer()
    fast = tok.as_transformers()
    rows = [{"input_ids": tok.encode(text)} for text in ("the weather", "the", LINES[0])]
    padded = transformers.DataCollatorWithPadding(fast)(rows)
    expected = tok.encode_batch(["the weather", "the", LINES[0]]).pad(pad_id=tok.roles.ids["pad"])
    assert padded["input_ids"].tolist() == expected.ids.tolist()
    assert padded["attention_mask"].tolist() == expected.mask.tolist()
    labelled = [{**row, "labels": row["input_ids"]} for row in rows]
    for collator in ("DataCollatorForTokenClassification", "DataCollatorForSeq2Seq"):
        shape = getattr(transformers, collator)(fast)(labelled)["labels"].shape
        assert shape == expected.ids.shape
    causal = transformers.DataCollatorForLanguageModeling(fast, mlm=False)(rows)
    assert [[id for id in row if id != -100] for row in causal["labels"].tolist()] == [
        row["input_ids"] for row in rows
    ]
    bert = jeton.WordPieceTrainer(80).train(LINES)
    torch.manual_seed(0)
    # Special tokens, those without a role too, are never masked.
    more = bert.with_added_tokens(["[X]"])
    masked = transformers.DataCollatorForLanguageModeling(
        more.as_transformers(), mlm_probability=0.9
    )
    ids = more.encode("the weather [X] there", special="allow", add_special_tokens=True)
    labels = masked([{"input_ids": ids}] * 8)["labels"].tolist()
    special = set(more.special_tokens.values())
    assert any(label != -100 for row in labels for label in row)
    assert all(label == -100 or label not in special for row in labels for label in row)


def test_a_pipeline_writes(tmp_path: Path) -> None:
    tok = chat_tokenizer()
    fast = tok.as_transformers()
    writes = transformers.pipeline("text-generation", model=tiny(tok), tokenizer=fast, device="cpu")
    (written,) = writes("the weather", max_new_tokens=5, do_sample=False)
    assert written["generated_text"].startswith("the weather")
    (written,) = writes([{"role": "user", "content": "the"}], max_new_tokens=5, do_sample=False)
    assert written["generated_text"][0] == {"role": "user", "content": "the"}
    features = transformers.pipeline(
        "feature-extraction", model=tiny(tok).transformer, tokenizer=fast, device="cpu"
    )
    assert len(features("the weather")[0]) == tok.count("the weather")


def test_pipelines_read() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    tok = jeton.WordPieceTrainer(80).train(LINES)
    config = transformers.BertConfig(
        vocab_size=tok.vocab.max_id + 1,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=64,
        pad_token_id=tok.roles.ids["pad"],
    )

    def pipeline(task: str, model: Any) -> Any:
        fast = tok.as_transformers()
        return transformers.pipeline(task, model=model(config), tokenizer=fast, device="cpu")

    fill = pipeline("fill-mask", transformers.BertForMaskedLM)
    assert all(row["token"] <= tok.vocab.max_id for row in fill("the [MASK] there"))
    words = pipeline("token-classification", transformers.BertForTokenClassification)
    spans = [(row["start"], row["end"]) for row in words("the weather there")]
    assert spans == tok.encode_with_spans("the weather there").spans
    classify = pipeline("text-classification", transformers.BertForSequenceClassification)
    assert classify({"text": "the", "text_pair": "weather"})["label"].startswith("LABEL")


def test_a_trainer_takes_it(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    tok = chat_tokenizer()
    fast = tok.as_transformers()
    rows = [{"input_ids": tok.encode(text)[:32]} for text in (*LINES, "the weather")]
    trainer = transformers.Trainer(
        model=tiny(tok),
        args=transformers.TrainingArguments(
            tmp_path / "run", max_steps=2, per_device_train_batch_size=2, report_to=[], use_cpu=True
        ),
        train_dataset=rows,
        data_collator=transformers.DataCollatorForLanguageModeling(fast, mlm=False),
        processing_class=fast,
    )
    assert trainer.train().global_step == 2
    trainer.save_model(tmp_path / "model")
    saved = jeton.load(tmp_path / "model")
    assert saved.roles == tok.roles and saved.settings.chat_template == TEMPLATE
    assert saved.encode(LINES[0]) == tok.encode(LINES[0])


def test_templates_render_the_same() -> None:
    tok = chat_tokenizer()
    fast = tok.as_transformers()
    messages = [{"role": "user", "content": "the weather"}, {"role": "bot", "content": "there"}]
    ids = fast.apply_chat_template(messages, return_dict=False)
    assert ids == tok.chat(messages).ids
    # A control token that a user spells is one there, unless transformers is asked to look.
    forged = [{"role": "user", "content": "the<|end|>"}]
    assert tok.roles.ids["eos"] in fast.apply_chat_template(forged, return_dict=False)
    assert tok.roles.ids["eos"] not in tok.chat(forged).ids


def test_the_columns_that_models_of_a_class_take() -> None:
    mapping = pytest.importorskip("transformers.models.auto.tokenization_auto")
    listed = [*mapping.TOKENIZER_MAPPING_NAMES.values(), *_NOT_CHOSEN_BY_AUTO]
    names = {name for name in listed if isinstance(name, str)}
    compared = 0
    for name in sorted(names):
        taken = getattr(getattr(transformers, name, None), "model_input_names", None)
        if not isinstance(taken, list):
            continue
        found = input_names(bare_name({"tokenizer_class": name}))
        both = {"token_type_ids", "attention_mask"}
        assert both & {*found} == both & {*taken}, name
        compared += 1
    assert compared > 50


_NOT_CHOSEN_BY_AUTO = """
    DPRContextEncoderTokenizer DPRQuestionEncoderTokenizer DPRReaderTokenizer ElectraTokenizer
    ConvBertTokenizer LayoutLMTokenizer SqueezeBertTokenizer
""".split()
