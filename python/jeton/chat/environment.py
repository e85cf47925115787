"""The sandbox that templates run in: transformers' settings, with origins and limits.

Look here for which operations of a template are taken over so that text keeps who wrote it.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from markupsafe import Markup

from jeton.chat.filters import COUNTED, counted, filters_of, ticking
from jeton.chat.formatting import braces, percent
from jeton.chat.limits import LimitError, reserve, spend, weighed
from jeton.chat.lost_origins import conservatively, printed
from jeton.chat.origins import generated
from jeton.chat.parts import data_in, plain, raw, runs_of
from jeton.chat.safe_text import FOLLOWED, added, followed
from jeton.chat.template_date import now
from jeton.chat.traced import Traced, joined, marked, traced, whole

__all__ = ["Refusal", "Sandbox"]

_MOST_BITS = 1 << 14
"""The size of a whole number that a template may make by `*` and `**`."""


class Refusal(TemplateError):
    """The template says by `raise_exception` that it does not take these messages."""


class _Generator(CodeGenerator):
    """Writes Python in which text is joined, printed and compared by the sandbox."""

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        # What is computed here would stand in the program, however long it is.
        if not isinstance(node, (nodes.Const, nodes.TemplateData)):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.printed(")

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
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """`namespace(…)` of templates: none of its names begins with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        names = dict(*rest, **kwargs)
        for name in names:
            _check_name(name)
        Namespace.__init__(self, names)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        Namespace.__setitem__(self, name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold {name!r}: the name begins with _")


def _raise_exception(message: Any = "") -> None:
    raise Refusal(raw(printed(message)))


def _strftime_now(format: str) -> str:
    reserve(256 * len(format))  # as long a text is tried where the format may give none
    return marked(now().strftime(raw(format)), data_in(format))


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, in which text keeps who wrote it."""

    code_generator_class = _Generator
    intercepted_binops = frozenset("+ - * / // ** %".split())
    concat = staticmethod(joined)
    printed = staticmethod(printed)
    weighed = staticmethod(weighed)

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            optimized=False,  # what is computed before the template runs has no limits
        )
        self.filters = filters_of(dict(self.filters))
        tests: dict[str, Any] = self.tests
        self.tests = {name: ticking(test) for name, test in tests.items()}
        self.globals.pop("lipsum", None)
        self.globals.update(
            dict=_Dict(),
            namespace=_Namespace,
            raise_exception=_raise_exception,
            strftime_now=_strftime_now,
        )

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        for loop in list(source.find_all(nodes.For)):
            loop.iter = nodes.Filter(
                loop.iter, COUNTED, [], [], None, None, lineno=loop.lineno, environment=self
            )
        return super()._generate(source, *args, **kwargs)

    @staticmethod
    def concatenated(values: Iterable[Any]) -> str:
        """`a ~ b`."""
        return joined([printed(value) for value in values])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        spend()
        texts = isinstance(left, str), isinstance(right, str)
        operation = self.binop_table[operator]
        if isinstance(left, Markup) or isinstance(right, Markup):
            _check_product(operator, left, right)
            if operator == "+" and all(texts):
                return added(left, right)
            return conservatively(operation, left, right)
        if operator == "+":
            if all(texts):
                return joined((left, right))
            if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
                reserve(len(left) + len(right))
        elif operator == "%" and texts[0]:
            return whole(percent(left, right))
        _check_product(operator, left, right)
        return operation(left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if not isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        owner = value.__self__
        if value.__name__ not in ("format", "format_map") or not isinstance(owner, str):
            return None
        if isinstance(owner, Markup):
            wrapped = super().wrap_str_format(getattr(Markup(raw(owner)), value.__name__))
            assert wrapped is not None  # it is one of the two methods
            return functools.partial(_of_markup, wrapped, owner)
        if value.__name__ == "format_map":
            return lambda mapping: whole(braces(self, owner, (), mapping))
        return lambda *args, **kwargs: whole(braces(self, owner, args, kwargs))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        spend()
        if not __self.is_safe_callable(__obj):
            raise SecurityError(f"{__obj!r} is not safely callable")
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, (list, tuple)):
            weighed((owner, args))
        if isinstance(owner, Markup):
            kwargs = _without_internals(kwargs)
            if __obj.__name__ in FOLLOWED:
                return followed(__obj.__name__, owner, *args, **kwargs)
            method = getattr(Markup, __obj.__name__)
            return conservatively(method, owner, *args, **kwargs)
        if type(owner) is str:
            __obj = getattr(Traced(owner), __obj.__name__)
        elif isinstance(__obj, types.BuiltinMethodType) and not isinstance(
            owner, (list, tuple, dict)
        ):
            for value in args:
                if isinstance(value, int):
                    reserve(abs(value))
            method = getattr(type(plain(owner)), __obj.__name__)
            return conservatively(method, owner, *args, **_without_internals(kwargs))
        if isinstance(__obj, LoopContext):
            args = tuple(map(counted, args))
            kwargs = {name: counted(it) for name, it in _without_internals(kwargs).items()}
        result = __context.call(__obj, *args, **kwargs)
        if isinstance(result, (list, tuple, dict)):
            reserve(len(result))
        return result


def _without_internals(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call without those that Jinja hands to macros."""
    return {name: it for name, it in kwargs.items() if name not in ("_loop_vars", "_block_vars")}


def _of_markup(format: Callable[..., str], owner: Markup, *args: Any, **kwargs: Any) -> str:
    def formatted(_: Markup, *args: Any, **kwargs: Any) -> str:
        return format(*args, **kwargs)

    result: str = conservatively(formatted, owner, *args, **kwargs)
    return result


def _check_product(symbol: str, left: Any, right: Any) -> None:
    """Refuses products and powers too large to be meant."""
    if symbol == "*":
        for value, times in ((left, right), (right, left)):
            if isinstance(value, (str, list, tuple, bytes)) and isinstance(times, int):
                reserve(len(value) * max(0, times))
                return
        bits = sum(it.bit_length() for it in (left, right) if isinstance(it, int))
    elif symbol == "**" and isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * max(0, operator.index(right))
    else:
        return
    if bits > _MOST_BITS:
        raise LimitError("the template makes a number of thousands of digits")
