"""What holds for every test: properties have all the time that they take, and examples of modules
that stand on a framework are left out where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from hypothesis import settings

settings.register_profile("jeton", deadline=None)
settings.load_profile("jeton")

collect_ignore = [] if find_spec("torch") else ["python/jeton/nn/__init__.py"]
