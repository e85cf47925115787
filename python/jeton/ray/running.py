"""Running on Ray Data: in order, with jeton's errors instead of Ray's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnsupportedError


def checked_cpus(num_cpus: object) -> float:
    """How many cores a task takes: a number above 0."""
    if isinstance(num_cpus, bool) or not isinstance(num_cpus, Real):
        raise ArgumentTypeError(f"num_cpus must be a number, not {type(num_cpus).__name__}")
    if not 0 < float(num_cpus) <= 1 << 20:
        raise ArgumentError(f"num_cpus must be above 0, not {num_cpus}")
    return float(num_cpus)


def ray_data() -> Any:
    """The module `ray.data`."""
    try:
        import ray.data
    except ImportError:
        raise UnsupportedError(
            "counting on a cluster needs Ray Data (pip install 'jeton[ray]')"
        ) from None
    return ray.data


@contextlib.contextmanager
def in_order(dataset: Any) -> Iterator[None]:
    """Makes Ray Data keep the order of blocks, and raises the original error of a task."""
    from ray.exceptions import RayError

    context, options = dataset.context, dataset.context.execution_options
    before = options.preserve_order, context.raise_original_map_exception
    options.preserve_order = context.raise_original_map_exception = True
    try:
        yield
    except RayError as error:
        cause = _cause(error)
        if cause is None:
            raise
        raise cause from None
    finally:
        options.preserve_order, context.raise_original_map_exception = before


def _cause(error: BaseException | None) -> JetonError | None:
    """The error of jeton that an error of Ray wraps."""
    while error is not None:
        # An error of Ray also has the class of its cause; its message has more lines, from Ray.
        if isinstance(error, JetonError) and type(error).__module__ == "jeton.errors":
            first_line = error.message.split("\n")[0]
            return type(error)(first_line, hint=error.hint, parameter=error.parameter)
        error = getattr(error, "cause", None) or error.__cause__
    return None


def map_tables(
    dataset: Any, function: Callable[[Any], Any], size: int | None, num_cpus: float
) -> Any:
    """The dataset that a function makes from batches, as Arrow tables."""
    return dataset.map_batches(function, batch_size=size, batch_format="pyarrow", num_cpus=num_cpus)


def run_rows(
    rows: list[dict[str, Any]], work: Callable[..., dict[str, Any]], num_cpus: float
) -> list[dict[str, Any]]:
    """What a function returns for each row, of which it gets the columns: a task each, in order."""
    if not rows:
        return []

    def of_rows(table: Any) -> Any:
        import pyarrow

        single_threaded(num_cpus)
        return pyarrow.Table.from_pylist([work(**row) for row in table.to_pylist()])

    dataset = ray_data().from_items(rows, override_num_blocks=len(rows))
    with in_order(results := map_tables(dataset, of_rows, 1, num_cpus)):
        found: list[dict[str, Any]] = results.take_all()
    return found


def single_threaded(num_cpus: float) -> None:
    """Lets the core use as many threads as its task has cores, unless it has threads already."""
    os.environ.setdefault("RAYON_NUM_THREADS", str(max(1, int(num_cpus))))
