"""Puts course and how-to before reference and internals in the search of the built site.

Run after the site is built, as `make docs` does: `python site/search_order.py`. The search ranks by
how early the words are in a title, and keeps the order of its file among equals. So pages for
those who learn or do something come first in that file, and titles of the others say what they
belong to.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "target/site/search.json"
BEHIND = ("Reference", "Internals")
"""Sections whose titles are found after those of all others, in this order."""


def ordered(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items of a search file, each section's after those of the one before."""
    found: dict[str, list[dict[str, Any]]] = {section: [] for section in ("", *BEHIND)}
    for item in items:
        section = next(iter(item["path"]), "")
        if section in BEHIND:
            item = item | {"title": f"{section}: {item['title']}"}
        found[section if section in BEHIND else ""].append(item)
    return [item for section in found.values() for item in section]


if __name__ == "__main__":
    content = json.loads(FILE.read_text(encoding="utf-8"))
    content["items"] = ordered(content["items"])
    FILE.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
