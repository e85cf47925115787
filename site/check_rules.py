"""Writes the section on rules of docs/check.md, from the texts beside the code of each rule.

Run it after a change of a rule: `python site/check_rules.py`. A test holds the page to be what it
writes.
"""

from __future__ import annotations

from pathlib import Path

from jeton.analysis import RULES

PAGE = Path(__file__).parent.parent / "docs/check.md"
HEADING = "## The rules\n"


def page() -> str:
    """The whole page, with the rules as they are now."""
    before, heading, rules = PAGE.read_text(encoding="utf-8").partition(HEADING)
    introduction = rules.partition("\n### ")[0].strip()
    sections = (
        f"### {it.name}\n\n*{it.severity.capitalize()}: {it.title}.* "
        f"{f'{it.why} {it.details}'.strip()}\n\n{it.remedy}"
        for it in RULES.values()
    )
    return before + heading + "\n" + "\n\n".join((introduction, *sections)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
