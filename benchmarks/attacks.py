"""How many forged control tokens get through: jeton and transformers, the same templates.

    python benchmarks/attacks.py                 # every control token of every template
    python benchmarks/attacks.py --tokens 2      # two of each

Prints the tables of docs/chats.md: tokenizers with the flags of published ones, and such in which
every control token is marked special.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import jeton  # noqa: E402
from chat_attacks import ANSWERS, attacks, forged, harmless  # noqa: E402
from chat_cases import byte_level, control_tokens, copied, templates  # noqa: E402
from chat_flags import FLAGS, as_published  # noqa: E402

Row = dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=None, help="of each template; default: all")
    parser.add_argument("--show", action="store_true", help="print what gets through in jeton")
    options = parser.parse_args()
    warnings.simplefilter("ignore", jeton.errors.ChatWarning)
    named = dict(templates())
    published = {
        family: counted(family, as_published(family), named[flags.template], options)
        for family, flags in FLAGS.items()
        if flags.template in named
    }
    show("family", published)
    special = {name: counted(name, byte_level(text), text, options) for name, text in named.items()}
    show("template", special)


def show(what: str, rows: dict[str, Row]) -> None:
    """Prints a table."""
    total: Counter[str] = Counter()
    columns = ("attacks", "transformers", "sanitized", "refused", "jeton")
    print(
        f"\n| {what} | attacks | transformers | `sanitize_control_tokens` | its refusals | jeton |"
    )
    print("| --- | --: | --: | --: | --: | --: |")
    for name, row in rows.items():
        total.update(row)
        print(f"| {name} | " + " | ".join(f"{row[column]:,}" for column in columns) + " |")
    print("| **all** | " + " | ".join(f"**{total[column]:,}**" for column in columns) + " |")


def counted(name: str, tok: jeton.Tokenizer, template: str, options: argparse.Namespace) -> Row:
    """The attacks on a template, and how many get through."""
    theirs = _of_transformers(tok)
    row = dict.fromkeys(("attacks", "transformers", "sanitized", "refused", "jeton"), 0)
    known = {it.content: it for it in tok.stages.added_tokens}
    written = [it for it in control_tokens(template) if it in known]
    written += [it for it in known if it in template and it not in written]
    for token, attack in attacks(written[: options.tokens]):
        if attack.place in ANSWERS and not known[token].special:
            continue  # an answer may hold it
        controls = {
            known[it].id for it in written if known[it].special or attack.place not in ANSWERS
        }
        quiet = harmless(attack.messages, token), harmless(attack.options, token)
        try:
            ours = tok.chat(attack.messages, template=template, **attack.options)
            base = tok.chat(quiet[0], template=template, **quiet[1])
        except jeton.JetonError:
            continue  # the template takes no such conversation
        row["attacks"] += 1
        through = forged(ours.ids, base.ids, controls)
        row["jeton"] += bool(through)
        if through and options.show:
            print(name, attack.place, token, repr(ours.text), repr(base.text), sep="\n   ")
        for column, sanitize in (("transformers", False), ("sanitized", True)):
            try:
                got = _ids(theirs, template, attack.messages, attack.options, sanitize)
            except Exception:  # of Jinja, too
                row["refused"] += 1
                continue
            row[column] += bool(forged(got, base.ids, controls))
    return row


def _of_transformers(tok: jeton.Tokenizer) -> Any:
    from transformers import PreTrainedTokenizerFast

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok.save(f"{folder}/tokenizer.json")
        return PreTrainedTokenizerFast(
            tokenizer_file=f"{folder}/tokenizer.json", bos_token="<s>", eos_token="</s>"
        )


def _ids(
    tok: Any, template: str, messages: Any, options: dict[str, Any], sanitize: bool
) -> list[int]:
    encoding = tok.apply_chat_template(
        copied(messages), chat_template=template, sanitize_control_tokens=sanitize, **options
    )
    ids: list[int] = encoding["input_ids"]
    return ids


if __name__ == "__main__":
    main()
