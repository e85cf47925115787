"""The sandbox that templates run in: transformers' settings, with origins and limits.

Look here for which operations of a template are taken over so that text keeps who wrote it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any, Final

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEscapeFormatter
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

from jeton.chat.lost_origins import conservatively, printed
from jeton.chat.templates.costs import METHODS, OPERATORS, printed_length, widths
from jeton.chat.templates.dates import now
from jeton.chat.templates.filters import COUNTED, SPREAD, counted, filters_of, tests_of
from jeton.chat.templates.formatting import braces, percent
from jeton.chat.templates.limits import (
    ITEM,
    PIECE,
    LimitError,
    check_keys,
    counted_items,
    let_go_at_end,
    spend,
    weight,
)
from jeton.chat.templates.origins import generated
from jeton.chat.templates.parts import data_in, plain, raw, runs_of
from jeton.chat.templates.printing import represented
from jeton.chat.templates.safe_text import FOLLOWED, added, followed
from jeton.chat.templates.traced import Traced, joined, marked, traced, whole

__all__ = ["Refusal", "Sandbox"]

_VALUES: Final = (
    str, bytes, int, float, complex, list, tuple, dict, range, KeysView, ValuesView, ItemsView,
)  # fmt: skip
"""What has methods that templates call, each with its cost in `METHODS`."""

_TYPES: Final = (str, bytes, int, float, dict)
"""The types that have such methods themselves, as `from_bytes`."""

_TEXTS: Final = (str, Traced)

_MAX_SYMBOLS: Final = 1 << 22
"""The most names times blocks of a template: compiling copies all names for each block."""

_SHORT: Final = 16
"""Items that a list in the text of a template may have without being counted."""


class Refusal(TemplateError):
    """The template says by `raise_exception` that it does not take these messages."""


class _Generator(CodeGenerator):
    """Writes Python in which text is joined, printed and compared by the sandbox."""

    def visit(self, node: nodes.Node, *args: object, **kwargs: object) -> Any:
        spend()
        return super().visit(node, *args, **kwargs)

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        names = {name.name for name in node.find_all(nodes.Name)}
        blocks = sum(isinstance(it, nodes.Stmt) for it in node.find_all(nodes.Stmt))
        if len(names) * blocks > _MAX_SYMBOLS:
            raise LimitError(f"the template has {len(names):,} names and {blocks:,} blocks")
        super().visit_Template(node, frame)

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        # A result that is computed here would be in the program, however long it is.
        if not isinstance(node, (nodes.Const, nodes.TemplateData)):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: object) -> None:
        self.write("environment.output(")

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.output({super()._output_const_repr(group)})"

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self._counted(node.items, super().visit_List, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        items = node.items if node.ctx == "load" else []
        self._counted(items, super().visit_Tuple, node, frame)

    def _counted(
        self, items: list[nodes.Expr], visit: Callable[..., None], node: nodes.Expr, frame: Frame
    ) -> None:
        self.write("environment.literal(" if len(items) > _SHORT else "")
        visit(node, frame)
        self.write(")" if len(items) > _SHORT else "")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("environment.literal({")
        for pair in node.items:
            self._weighed(pair.key, frame)
            self.write(": ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("})")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.sliced(")
        self.visit(node.node, frame)
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            self.write(", ")
            self.visit(bound or nodes.Const(None), frame)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concatenated((")
        for item in node.nodes:
            self.visit(item, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self.write("(")
        self._weighed(node.expr, frame)
        for operand in node.ops:
            self.visit(operand, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:
        self.write(f" {operators[node.op]} ")
        self._weighed(node.expr, frame)

    def _weighed(self, node: nodes.Expr, frame: Frame) -> None:
        if isinstance(node, nodes.Const):
            self.visit(node, frame)
        else:
            self.write("environment.weighed(")
            self.visit(node, frame)
            self.write(")")

    def _no_escaping(self, node: nodes.Node, frame: Frame) -> None:
        raise TemplateSyntaxError("a chat template cannot escape for HTML", node.lineno)

    visit_EvalContextModifier = _no_escaping
    visit_ScopedEvalContextModifier = _no_escaping


class _Generation(Extension):
    """`{% generation %}`: what the model writes, for loss masks."""

    tags = {"generation"}  # noqa: RUF012

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            spend()
            yield token

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = self.call_method("_written")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _written(self, caller: Macro) -> str:
        text = caller()
        return traced(text, [(length, generated(origin)) for length, origin in runs_of(text)])


class _Dict:
    """`dict(…)` of templates: no class, so that nothing hangs on it."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        pairs = [list(counted_items(it)) if isinstance(it, Iterator) else it for it in args]
        for pair in pairs:
            check_keys(it[0] if it and not isinstance(pair, dict) else it for it in pair)
            spend(PIECE * len(pair))
        return dict(*pairs, **kwargs)

    def fromkeys(self, keys: Iterable[Any], value: object = None) -> dict[Any, Any]:
        listed = list(counted_items(keys))
        check_keys(listed)
        return dict.fromkeys(listed, value)


class _Namespace(Namespace):
    """`namespace(…)` of templates: none of its names begins with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        names = dict(*rest, **kwargs)
        for name in names:
            _check_name(name)
        Namespace.__init__(self, names)
        let_go_at_end(self._Namespace__attrs)

    def __setitem__(self, name: str, value: object) -> None:
        _check_name(name)
        Namespace.__setitem__(self, name, value)

    def __repr__(self) -> str:
        return represented(self).text


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold {name!r}: the name begins with _")


def _raise_exception(message: object = "") -> None:
    raise Refusal(raw(printed(message)))


def _strftime_now(format: str) -> str:
    spend(256 * len(format))  # as long a text is tried where the format may give none
    return marked(now().strftime(raw(format)), data_in(format))


class _Method:
    """The method `format` or `format_map` of a text, as the sandbox has it."""

    def __init__(self, apply: Callable[..., str]) -> None:
        self._apply = apply

    def __call__(self, *args: object, **kwargs: object) -> str:
        return self._apply(*args, **kwargs)


class _EscapeFormatter(SandboxedEscapeFormatter):
    """`format` of a text that is marked as safe for HTML."""

    def format_field(self, value: object, format_spec: str) -> Any:
        spend(PIECE + widths(format_spec) + 6 * printed_length(value))
        return super().format_field(value, format_spec)


_CALLABLE: Final = (Macro, LoopContext, BlockReference, Joiner, Undefined, _Method)
_OWNERS: Final = (Cycler, LoopContext, _Dict, _Generation)
"""Whose methods templates may call, beside those of values."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, in which text keeps who wrote it."""

    code_generator_class = _Generator
    intercepted_binops = frozenset("+ - * / // ** %".split())
    concat = staticmethod(joined)

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            optimized=False,  # computing before the template runs has no limits
        )
        self.filters = filters_of(dict(self.filters))
        self.tests = tests_of(self.tests)
        self.globals.pop("lipsum", None)
        self.globals.update(
            dict=_Dict(),
            namespace=_Namespace,
            raise_exception=_raise_exception,
            strftime_now=_strftime_now,
        )
        self._functions = frozenset(map(id, self.globals.values()))

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        def through(value: Any, name: str) -> nodes.Filter:
            lineno = value.lineno
            return nodes.Filter(value, name, [], [], None, None, lineno=lineno, environment=self)

        for loop in list(source.find_all(nodes.For)):
            loop.iter = through(loop.iter, COUNTED)
        calls: Iterator[Any] = source.find_all((nodes.Call, nodes.Filter, nodes.Test))
        for call in list(calls):
            call.dyn_args = call.dyn_args and through(call.dyn_args, SPREAD)
            call.dyn_kwargs = call.dyn_kwargs and through(call.dyn_kwargs, SPREAD)
        return super()._generate(source, *args, **kwargs)

    @staticmethod
    def output(value: object) -> str:
        """What `{{ value }}` writes."""
        spend(ITEM // 4)
        return printed(value)

    @staticmethod
    def weighed(value: object) -> Any:
        """The value itself, if going through it ends soon."""
        if type(value) not in _TEXTS:
            weight(value)
        return value

    @staticmethod
    def literal(value: Any) -> Any:
        """A list, a tuple or a dict that the template spells."""
        spend((PIECE if isinstance(value, dict) else ITEM) * len(value))
        return value

    @staticmethod
    def sliced(value: Any, start: Any, stop: Any, step: Any) -> Any:
        """`value[start:stop:step]`."""
        key = slice(start, stop, step)
        if isinstance(value, (str, bytes, list, tuple)):
            count = len(range(*key.indices(len(value))))
            copied = 0 if key.step in (None, 1) else len(value)
            spend(copied + count if isinstance(value, (str, bytes)) else ITEM * count)
        return value[key]

    def getitem(self, obj: object, argument: object) -> Any:
        spend(PIECE // 2)
        weight(argument)
        return super().getitem(obj, argument)

    @staticmethod
    def concatenated(values: Iterable[Any]) -> str:
        """`a ~ b`."""
        return joined([printed(value) for value in values])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+" and type(left) in _TEXTS and type(right) in _TEXTS:
            return joined((left, right))
        weight(left)
        weight(right)
        spend(1 + OPERATORS[operator](left, right))
        operation = self.binop_table[operator]
        if isinstance(left, Markup) or isinstance(right, Markup):
            if operator == "+" and isinstance(left, str) and isinstance(right, str):
                return added(left, right)
            return conservatively(operation, left, right)
        if operator == "%" and isinstance(left, str):
            return whole(percent(left, right))
        return operation(left, right)

    def wrap_str_format(self, value: object) -> Callable[..., str] | None:
        if not isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        owner = value.__self__
        if value.__name__ not in ("format", "format_map") or not isinstance(owner, str):
            return None
        if isinstance(owner, Markup):
            return _Method(functools.partial(self._format_safe, value.__name__, owner))
        if value.__name__ == "format_map":
            return _Method(lambda mapping: whole(braces(self, owner, (), mapping)))
        return _Method(lambda *args, **kwargs: whole(braces(self, owner, args, kwargs)))

    def _format_safe(self, name: str, owner: Markup, *args: object, **kwargs: object) -> Any:
        def formatted(pattern: Markup, *args: Any, **kwargs: Any) -> Markup:
            if name == "format_map":
                (kwargs,), args = args, ()
            formatter = _EscapeFormatter(self, escape=pattern.escape)
            return Markup(formatter.vformat(pattern, args, kwargs))

        weight(args)
        weight(kwargs)
        return conservatively(formatted, owner, *args, **kwargs)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        spend(PIECE + ITEM * len(args))
        owner = str if __obj == str.maketrans else getattr(__obj, "__self__", None)
        if isinstance(owner, _VALUES) or (isinstance(owner, type) and issubclass(owner, _TYPES)):
            return _call_result(__obj, owner, args, _without_internals(kwargs))
        if not (
            isinstance(__obj, _CALLABLE)
            or isinstance(owner, _OWNERS)
            or id(__obj) in __self._functions
        ):
            raise SecurityError(f"a template cannot call a {type(__obj).__name__}")
        if isinstance(__obj, LoopContext):
            args = tuple(map(counted, args))
            kwargs = {name: counted(it) for name, it in _without_internals(kwargs).items()}
        elif not isinstance(__obj, (Macro, BlockReference)):
            weight(args)
            weight(kwargs)
        return __context.call(__obj, *args, **kwargs)


def _call_result(method: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a method of a value gives, or of its type."""
    name = method.__name__
    if name not in METHODS:
        raise SecurityError(f"a template cannot call {name} of a {type(plain(owner)).__name__}")
    args = tuple(list(counted_items(it)) if isinstance(it, Iterator) else it for it in args)
    for value in (owner, *args, *kwargs.values()):
        weight(value)
    # Some methods go through a copy.
    spend(METHODS[name](owner, *args, **kwargs) + (len(owner) if isinstance(owner, str) else 0))
    if isinstance(owner, Markup):
        if name in FOLLOWED:
            return followed(name, owner, *args, **kwargs)
        return conservatively(getattr(Markup, name), owner, *args, **kwargs)
    if isinstance(owner, Traced) or (isinstance(owner, str) and data_in((args, kwargs))):
        return getattr(Traced(owner), name)(*args, **kwargs)
    if isinstance(owner, (str, list, tuple, dict)):
        return method(*args, **kwargs)
    if isinstance(owner, type):
        kind = next(kind for kind in (Markup, *_TYPES) if issubclass(owner, kind))
        return conservatively(getattr(kind, name), *args, **kwargs)
    return conservatively(getattr(type(plain(owner)), name), owner, *args, **kwargs)


def _without_internals(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call without those that Jinja hands to macros."""
    return {name: it for name, it in kwargs.items() if name not in ("_loop_vars", "_block_vars")}
