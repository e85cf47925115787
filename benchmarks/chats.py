"""Times chats for fine-tuning: `jeton.data.prepare(messages=…)` beside transformers.

    python benchmarks/chats.py
    python benchmarks/chats.py --chats 500 --template chat_template.jinja

Needs transformers. One process on one core: milliseconds of the processor per chat, the best of
five runs over the same chats, after a run that is not timed. jeton checks that nothing is left out,
and its mask needs no `{% generation %}`, so its two rows are `prepare` as it is, and with each chat
rendered, as the first of its kind is. Then all chats from a file, in one process and in one per
core: the wall clock, and the processor time of all processes with their start.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jeton
from jeton.data.conversations import Conversations
from jeton.data.preparing.chats import ConversationEncoder

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
MARKED = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\n' }}"
    "{% else %}{{ message['content'] + '<|im_end|>' + '\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The same with marks around what a model learns, which transformers needs for a mask."""
RUNS = 5


def conversations(count: int) -> list[list[dict[str, str]]]:
    """Short chats: a question of a dozen words, an answer of two dozen."""
    chosen = random.Random(0)

    def words(count: int) -> str:
        text = "model reads text and writes tokens which person asks for answer question birds"
        return " ".join(chosen.choices(text.split(), k=count)).capitalize() + "."

    return [
        [{"role": "user", "content": words(12)}, {"role": "assistant", "content": words(25)}]
        for _ in range(count)
    ]


def milliseconds(call: Callable[[Any], object], items: list[Any]) -> float:
    """Processor time per item, of the best run."""
    times = []
    for item in items:
        call(item)
    for _ in range(RUNS):
        start = time.process_time()
        for item in items:
            call(item)
        times.append(time.process_time() - start)
    return min(times) / len(items) * 1_000


def of_one_core(tok: jeton.Tokenizer, template: str, chats: list[Any]) -> None:
    """Prints the time per chat, of ours and of theirs."""
    theirs = tok.as_transformers()
    theirs.chat_template = template
    encoder = ConversationEncoder(tok, Conversations(template=template))
    renderer = ConversationEncoder(tok, Conversations(template=template))
    renderer._known = lambda _: None  # type: ignore[assignment, method-assign]
    marked = "{% generation %}" in template
    rows: dict[str, Callable[[Any], object]] = {
        "jeton: prepare's ids, mask, checks": lambda it: encoder({"messages": it}),
        "jeton: the same, each rendered": lambda it: renderer({"messages": it}),
        "jeton: tok.chat(...).ids": lambda it: tok.chat(it, template=template).ids,
        "transformers: text": lambda it: theirs.apply_chat_template(it, tokenize=False),
        "transformers: ids" + ", mask" * marked: lambda it: theirs.apply_chat_template(
            it, return_dict=True, return_assistant_tokens_mask=marked
        ),
    }
    print("A template " + ("with" if marked else "without") + " marks")
    for name, call in rows.items():
        print(f"{name:36}{milliseconds(call, chats):8.3f} ms a chat")


def of_processes(tok: jeton.Tokenizer, template: str, chats: list[Any]) -> None:
    """Prints what `prepare` takes in one process and in one per core."""
    with tempfile.TemporaryDirectory() as folder:
        tok.save(f"{folder}/tok.json")
        lines = "".join(json.dumps({"messages": it}) + "\n" for it in chats)
        Path(folder, "chats.jsonl").write_text(lines)
        Path(folder, "template.jinja").write_text(template)
        for threads in ("1", ""):
            command = [sys.executable, __file__, "--prepare", f"{folder}/out{threads}", folder]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.monotonic()
            subprocess.run(command, env={**os.environ, "RAYON_NUM_THREADS": threads}, check=True)
            seconds = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            name = "one process" if threads else f"one process per core ({os.cpu_count()})"
            print(f"{name:36}{seconds:8.2f} s, processor {used:.2f} s, {len(chats):,} chats")


def prepare(target: str, folder: str) -> None:
    """The process that `of_processes` times."""
    options = Conversations(template=Path(folder, "template.jinja").read_text())
    tok = jeton.load(f"{folder}/tok.json")
    jeton.data.prepare(f"{folder}/chats.jsonl", tok, target, messages=options)


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=1_000)
    parser.add_argument("--template", type=Path)
    parser.add_argument("--prepare", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.prepare:
        prepare(*args.prepare)
        return
    templates = [CHATML, MARKED] if args.template is None else [args.template.read_text()]
    chats = conversations(args.chats)
    text = " ".join(message["content"] for chat in chats for message in chat)
    trainer = jeton.BPETrainer(300, special_tokens=["<|im_start|>", "<|im_end|>"])
    tok = trainer.train([text])
    tok = tok.replace(roles={"eos": "<|im_end|>"})
    for template in templates:
        of_one_core(tok, template, chats)
    of_processes(tok, templates[0], conversations(args.chats * 8))


if __name__ == "__main__":
    main()
