"""The sandbox that templates run in: transformers' settings, with origins and limits.

Look here for which operations of a template are taken over so that text keeps who wrote it, and
for where the limits of `limits.py` hold: loops, calls, filters, operators, and lists in its text.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any, Final

from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEscapeFormatter
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from jeton.chat.templates.filters import ADDED, COUNTED, JOINED, MADE, SEARCHED, filters_of
from jeton.chat.templates.formatting import braces, percent
from jeton.chat.templates.growth import GROWTH, widths
from jeton.chat.templates.held_text import Blank, HeldText, mapped, refuse, searched
from jeton.chat.templates.limits import (
    PIECE,
    LimitError,
    counted_items,
    emptied_at_end,
    guard,
    made,
    now,
    spend,
)
from jeton.chat.templates.lost_origins import conservatively
from jeton.chat.templates.origins import generated
from jeton.chat.templates.parts import data_in, plain, raw, runs_of
from jeton.chat.templates.printing import printed, represented
from jeton.chat.templates.safe_text import FOLLOWED, added, followed
from jeton.chat.templates.traced import Traced, joined, marked, traced

_VALUES: Final = (
    str, bytes, int, float, complex, list, tuple, dict, range, KeysView, ValuesView, ItemsView,
)  # fmt: skip
"""The types whose methods templates call."""

_TYPES: Final = (str, bytes, int, float, dict)
"""The types that have such methods themselves, as `from_bytes`."""

_TEXTS: Final = (str, Traced)

_MAX_SYMBOLS: Final = 1 << 22
"""Maximum product of names and blocks of a template: compiling copies all names per block."""


class Refusal(TemplateError):
    """The template says by `raise_exception` that it does not take these messages."""


class _Rewriter(NodeTransformer):
    """Sends loops, lists, slices, `a ~ b` and `in b` through filters of the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def through(self, name: str, node: Any) -> nodes.Filter:
        line = node.lineno
        return nodes.Filter(node, name, [], [], None, None, lineno=line, environment=self.sandbox)

    def visit_For(self, node: Any) -> nodes.Node:
        node.iter = self.through(COUNTED, node.iter)
        return self.generic_visit(node)

    def visit_Call(self, node: Any) -> nodes.Node:
        node.dyn_args = node.dyn_args and self.through(COUNTED, node.dyn_args)
        return self.generic_visit(node)

    def visit_Filter(self, node: Any) -> nodes.Node:
        return self.generic_visit(node) if node.name in ADDED else self.visit_Call(node)

    visit_Test = visit_Call

    def visit_List(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        is_value = getattr(node, "ctx", "load") == "load"
        is_plain = len(node.items) < 16 and all(isinstance(it, nodes.Const) for it in node.items)
        return self.through(MADE, node) if is_value and not is_plain else node

    visit_Tuple = visit_Dict = visit_List

    def visit_Getitem(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return self.through(MADE, node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Concat(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return self.through(JOINED, nodes.Tuple(node.nodes, "load", lineno=node.lineno))

    def visit_Compare(self, node: Any) -> nodes.Node:
        for left, operand in zip(
            [node.expr, *(it.expr for it in node.ops)], node.ops, strict=False
        ):
            if operand.op in ("in", "notin") and not isinstance(left, nodes.Const):
                operand.expr = self.through(SEARCHED, operand.expr)
        return self.generic_visit(node)

    def visit_EvalContextModifier(self, node: Any) -> nodes.Node:
        raise TemplateSyntaxError("a chat template cannot escape for HTML", node.lineno)

    visit_ScopedEvalContextModifier = visit_EvalContextModifier


class _Generation(Extension):
    """`{% generation %}`: what the model writes, for loss masks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_written")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _written(self, caller: Macro) -> str:
        text = caller()
        return mapped(text, _generated) if type(text) is HeldText else _generated(text)


def _generated(part: Any) -> Any:
    if isinstance(part, Blank):
        return part._replace(origin=generated(part.origin))
    return traced(part, [(length, generated(origin)) for length, origin in runs_of(part)])


class _Dict:
    """`dict(…)` of templates: no class, so that nothing hangs on it."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Iterable[Any], value: object = None) -> dict[Any, Any]:
        return dict.fromkeys(counted_items(keys), value)


class _Namespace(Namespace):
    """`namespace(…)` of templates: none of its names begins with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        names = dict(*rest, **kwargs)
        for name in names:
            _check_name(name)
        Namespace.__init__(self, names)
        emptied_at_end(self._Namespace__attrs)

    def __setitem__(self, name: str, value: object) -> None:
        _check_name(name)
        Namespace.__setitem__(self, name, value)

    def __repr__(self) -> str:
        return represented(self)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold {name!r}: the name begins with _")


def _raise_exception(message: object = "") -> None:
    raise Refusal(raw(printed(message)))


def _strftime_now(format: str) -> str:
    guard(256 * len(format))  # as long a text is tried where the format may give none
    return marked(now().strftime(raw(format)), data_in(format))


@pass_context
def _finalize(context: Context, value: object) -> str:
    """What `{{ value }}` writes. Since it takes the context, Jinja computes no output when it
    compiles, where nothing is limited."""
    return printed(value)


class _Method:
    """The sandbox's own `format` or `format_map` of a text."""

    def __init__(self, apply: Callable[..., str]) -> None:
        self._apply = apply

    def __call__(self, *args: object, **kwargs: object) -> str:
        return self._apply(*args, **kwargs)


class _EscapeFormatter(SandboxedEscapeFormatter):
    """`format` of a text that is marked as safe for HTML."""

    def format_field(self, value: object, format_spec: str) -> Any:
        guard(widths(format_spec))
        text = super().format_field(value, format_spec)
        spend(PIECE + len(text))
        return text


_CALLABLE: Final = (Macro, LoopContext, BlockReference, Joiner, Undefined, _Method)
_OWNERS: Final = (Cycler, LoopContext, _Dict, _Generation)
"""Objects whose methods templates may call, in addition to values."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, in which text keeps who wrote it."""

    intercepted_binops = frozenset("+ - * / // ** %".split())
    concat = staticmethod(joined)

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            optimized=False,  # computing before the template runs has no limits
            finalize=_finalize,
        )
        self.filters = filters_of(dict(self.filters)) | ADDED
        self.tests["in"] = lambda value, within: value in searched(within)
        self.globals.pop("lipsum", None)
        self.globals.update(
            dict=_Dict(),
            namespace=_Namespace,
            raise_exception=_raise_exception,
            strftime_now=_strftime_now,
        )
        self._functions = frozenset(map(id, self.globals.values()))

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        names = {name.name for name in source.find_all(nodes.Name)}
        blocks = sum(1 for _ in source.find_all(nodes.Stmt))
        if len(names) * blocks > _MAX_SYMBOLS:
            raise LimitError(f"the template has {len(names):,} names and {blocks:,} blocks")
        return super()._generate(_Rewriter(self).visit(source), *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+" and type(left) in _TEXTS and type(right) in _TEXTS:
            return joined((left, right))
        if operator != "+":
            refuse(left, right)
        if operator in GROWTH:
            guard(GROWTH[operator](left, right))
        operation = self.binop_table[operator]
        if isinstance(left, Markup) or isinstance(right, Markup):
            if operator == "+" and isinstance(left, str) and isinstance(right, str):
                return added(left, right)
            return made(conservatively(operation, left, right))
        if operator == "%" and isinstance(left, str):
            return made(percent(left, right))
        return made(operation(left, right))

    def wrap_str_format(self, value: object) -> Callable[..., str] | None:
        if not isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        owner = value.__self__
        if value.__name__ not in ("format", "format_map") or not isinstance(owner, str):
            return None
        if isinstance(owner, Markup):
            return _Method(functools.partial(self._format_safe, value.__name__, owner))
        if value.__name__ == "format_map":
            return _Method(lambda mapping: braces(self, owner, (), mapping))
        return _Method(lambda *args, **kwargs: braces(self, owner, args, kwargs))

    def _format_safe(self, name: str, owner: Markup, *args: object, **kwargs: object) -> Any:
        def formatted(pattern: Markup, *args: Any, **kwargs: Any) -> Markup:
            if name == "format_map":
                (kwargs,), args = args, ()
            formatter = _EscapeFormatter(self, escape=pattern.escape)
            return Markup(formatter.vformat(pattern, args, kwargs))

        return conservatively(formatted, owner, *args, **kwargs)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        spend(PIECE)
        owner = str if __obj == str.maketrans else getattr(__obj, "__self__", None)
        if isinstance(owner, _VALUES) or (isinstance(owner, type) and issubclass(owner, _TYPES)):
            return made(_call_result(__obj, owner, args, _without_internals(kwargs)))
        if not (
            isinstance(__obj, _CALLABLE)
            or isinstance(owner, _OWNERS)
            or id(__obj) in __self._functions
        ):
            raise SecurityError(f"a template cannot call a {type(__obj).__name__}")
        if isinstance(__obj, LoopContext):
            args = tuple(map(counted_items, args))
            kwargs = {name: counted_items(it) for name, it in _without_internals(kwargs).items()}
        else:
            made(args)
            made(kwargs)
        return made(__context.call(__obj, *args, **kwargs))


def _call_result(method: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a method of a value, or of its type."""
    if type(owner) is HeldText:
        return method(*args, **kwargs)
    refuse(*args, *kwargs.values())
    name = method.__name__
    args = tuple(list(counted_items(it)) if isinstance(it, Iterator) else it for it in args)
    if name in GROWTH:
        guard(GROWTH[name](owner, *args, **kwargs))
    if isinstance(owner, Markup):
        if name in FOLLOWED:
            return followed(name, owner, *args, **kwargs)
        return conservatively(getattr(Markup, name), owner, *args, **kwargs)
    if isinstance(owner, str) and (isinstance(owner, Traced) or data_in((args, kwargs))):
        if name in vars(Traced):
            return getattr(Traced(owner), name)(*args, **kwargs)
        return conservatively(getattr(str, name), owner, *args, **kwargs)
    if isinstance(owner, (str, list, tuple, dict)):
        return method(*args, **kwargs)
    if isinstance(owner, type):
        kind = next(kind for kind in (Markup, *_TYPES) if issubclass(owner, kind))
        return conservatively(getattr(kind, name), *args, **kwargs)
    return conservatively(getattr(type(plain(owner)), name), owner, *args, **kwargs)


def _without_internals(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call without those that Jinja hands to macros."""
    return {name: it for name, it in kwargs.items() if name not in ("_loop_vars", "_block_vars")}
