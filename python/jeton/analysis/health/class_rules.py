"""Whether the ids of transformers 5 for a folder differ from those of its `tokenizer.json`.

Look here for the texts that are tried. jeton knows what a few classes build, see
`jeton.loading.transformers_stages`; it does not run transformers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.errors import JetonError
from jeton.loading.settings import CONFIG, json_object
from jeton.loading.transformers_stages import rebuilt, stages_unknown
from jeton.tokenizer import Tokenizer

_TEXTS: Final = (
    "Hello world",
    " a  b   c    d",
    "It's 12345 years, I'LL say",
    "HelloWorld helloWORLD",
    "line\nline\r\n\n  end ",
    "\tx = {'a': 1.50};",
    "e\u0301 é ﬁ",
    "中文，字 日本語",
    "한국어 ไทย नमस्ते",
    "🙂🙂 ½ ²",
    "~~ -- … «x»",
    "a_b-c/d.e",
)


def _why_not_checked(subject: Subject) -> str | None:
    """Why the class of a folder cannot be compared; `None` if it can, or there is no class."""
    config = json_object(subject.tok._settings.files, CONFIG)
    try:
        unknown = stages_unknown(config, json.loads(subject.tok.to_json()))
    except JetonError:
        return None  # without a tokenizer.json there is nothing to compare
    if not unknown:
        return None
    return (
        f"jeton does not know which stages {config['tokenizer_class']} of transformers 5 builds "
        "from such a file"
    )


@looks_for(
    rule("""
    class-differs (warning): transformers 5 gives other ids
    For the class in tokenizer_config.json, transformers 5 builds its own stages instead of those in
    tokenizer.json.
    Remedy: Save the folder again (jeton convert FOLDER NEW): the new one names the class that reads
    the file unchanged.
    Details: If jeton knows what the class builds (those of GPT-2's kind, GPT-NeoX, Qwen 2, Llama,
    Gemma, and those of BERT's kind), a dozen texts are encoded by the file and by that;
    transformers itself is not needed. Of another class the rule is not checked, and the end of the
    report says so. transformers 4 reads the file as it is. Beside a `config.json`, some releases of
    5 know better for some models, such as Granite and OLMo 2.
    """),
    unless=_why_not_checked,
)
def classes(subject: Subject) -> Iterator[Finding]:
    """The texts for which the class of the folder gives other ids than the file."""
    files = subject.tok._settings.files
    config = json_object(files, CONFIG)
    if not config.get("tokenizer_class"):
        return
    try:
        stages = rebuilt(config, json.loads(subject.tok.to_json()))
        if stages is None:
            return
        theirs = Tokenizer.from_json(json.dumps(stages))
        cases = tuple(_differing(subject.tok, theirs))
    except JetonError:
        return  # the file cannot be written, or the class cannot hold its vocabulary
    message = (
        f"by {config['tokenizer_class']} transformers 5 gives other ids for {len(cases)} of "
        f"{len(_TEXTS)} texts; transformers 4 reads the file as it is"
    )
    yield from found("class-differs", cases, message)


def _differing(tok: Tokenizer, theirs: Tokenizer) -> Iterator[Case]:
    for text in _TEXTS:
        ours, other = tok.encode(text), theirs.encode(text)
        if ours != other:
            remark = f"{_some_ids(ours)} by the file, and {_some_ids(other)} by the class"
            name = json.dumps(text, ensure_ascii=False)
            gave = tuple(ours)
            yield Case(name=name, told=remark, tried=text, gave=gave, evidence="observed")


def _some_ids(ids: list[int]) -> str:
    return f"{len(ids)} tokens ({', '.join(map(str, ids[:4]))}{', …' if len(ids) > 4 else ''})"
