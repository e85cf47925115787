"""Writes NOTICE: the licences of all code that is linked into a wheel.

`python site/notice.py` after a dependency changes; `--check` fails if the file is out of date.
Crates that may be taken under Apache-2.0 are, whose text is in LICENSE; of all others the texts are
here, as their packages have them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTICE = ROOT / "NOTICE"
OURS = "jeton"
HEAD = """\
jeton
Copyright the jeton developers

jeton is licensed under the Apache License, Version 2.0 (LICENSE). The sample texts in jeton/samples
are dedicated to the public domain (CC0 1.0).

Its compiled core contains the libraries below.
"""

VENDORED = {"onig_sys": "oniguruma/COPYING"}
"""Licences of code in other languages that a crate compiles, by their paths in its package."""


def linked_packages() -> list[dict[str, Any]]:
    """The packages that the Python module links on any platform, in the order of their names."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    open_ones = [it for it, package in packages.items() if package["name"] == "jeton-python"]
    found: set[str] = set()
    while open_ones:
        this = open_ones.pop()
        if this not in found:
            found.add(this)
            open_ones += [
                dependency["pkg"]
                for dependency in nodes[this]["deps"]
                if any(it["kind"] is None for it in dependency["dep_kinds"])
            ]
    linked = [packages[it] for it in found if not packages[it]["name"].startswith(OURS)]
    return sorted(linked, key=lambda it: (str(it["name"]), str(it["version"])))


def is_apache(package: dict[str, Any]) -> bool:
    """Whether Apache-2.0 alone is one of the choices that the package gives."""
    choices = package["license"].replace("/", " OR ").split(" OR ")
    return "Apache-2.0" in (choice.strip() for choice in choices)


def licence_texts(package: dict[str, Any]) -> list[str]:
    folder = Path(package["manifest_path"]).parent
    names = [
        path
        for path in sorted(folder.iterdir())
        if path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "UNLICENSE"))
        and path.is_file()
    ]
    if package["name"] in VENDORED:
        names.append(folder / VENDORED[package["name"]])
    texts = [path.read_text("utf-8").strip() for path in names]
    return [text for text in texts if not text.startswith("Apache License")]


def notice() -> str:
    packages = linked_packages()
    lines = [HEAD, "Under the Apache License, Version 2.0:", ""]
    lines += [f"  {it['name']} {it['version']}" for it in packages if is_apache(it)]
    for package in packages:
        if not is_apache(package):
            title = f"{package['name']} {package['version']}, under {package['license']}"
            lines += ["", "=" * 78, title, "=" * 78]
            texts = licence_texts(package) or [f"Its package has no text of {package['license']}."]
            lines += ["", ("\n\n" + "-" * 78 + "\n\n").join(texts)]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


if __name__ == "__main__":
    text = notice()
    if sys.argv[1:] == ["--check"]:
        if NOTICE.read_text("utf-8") != text:
            sys.exit("NOTICE is out of date: python site/notice.py")
    else:
        NOTICE.write_text(text, "utf-8")
