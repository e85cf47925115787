"""`jeton.chat.templates.turn_shape`: what small conversations tell of a template's turns."""

from __future__ import annotations

import pytest

from jeton.chat import TEMPLATES
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.turn_shape import TurnShape

PROMPTS = {
    "chatml": "<|im_start|>assistant\n",
    "llama3": "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "gemma": "<start_of_turn>model\n",
}
MARKS = {
    "chatml": ("<|im_end|>", "<|im_start|>"),
    "llama3": ("<|eot_id|>", "<|start_header_id|>"),
    "gemma": ("<end_of_turn>", "<start_of_turn>"),
}


def shape_of(name: str) -> TurnShape:
    variables = (("bos_token", "<s>"), ("eos_token", "</s>"))
    return TurnShape(Renderer(apart=False), TEMPLATES[name], variables, MARKS[name])


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_and_ends_of_turns_are_found(name: str) -> None:
    shape = shape_of(name)
    end, begin = MARKS[name]
    assert shape.refusal is None
    assert shape.prompt == PROMPTS[name]
    assert shape.prompted == shape.asked + shape.prompt
    assert shape.has_ends
    assert [it.strip() for it in shape.ends([begin, "<|end_header_id|>"])] == [end]


def test_a_template_that_prints_no_answers_says_so() -> None:
    shape = TurnShape(Renderer(apart=False), "{{ messages[0].content }}", (), ())
    assert shape.refusal == "it does not print what an assistant says"


def test_a_template_that_takes_no_tools_has_no_calls() -> None:
    shape = shape_of("gemma")
    assert not any(it.calls for it in shape.answers)
    assert shape.without_calls().answers == shape.answers
