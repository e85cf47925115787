"""A wheel can be built from the source distribution: no file is missing."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

import pytest

pytest.importorskip("maturin")

ROOT = Path(__file__).parents[2]
# This crate uses the package's crates; the package does not use it.
FOR_RUST_USERS = "crates/jeton/"


@pytest.mark.large
def test_the_source_distribution_holds_what_its_build_reads(tmp_path: Path) -> None:
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "crates", "packaging", "python/jeton"]
    listed = subprocess.run(git, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this copy of the project is no repository of git")
    build = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [built] = tmp_path.glob("jeton-*.tar.gz")
    with tarfile.open(built) as archive:
        held = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    read = {name for name in listed.stdout.split("\0") if name}
    missing = {name for name in read - held if not name.startswith(FOR_RUST_USERS)}
    assert not missing
    assert {"Cargo.lock", "LICENSE", "NOTICE", "README.md", "pyproject.toml"} <= held
