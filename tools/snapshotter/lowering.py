"""Source of Python 3.10 made into source of Python 3.6 that does the same: a syntax tree into another.

What it does not know it refuses, so that a new habit of the project's modules fails the build and not a host far away. Annotations go, for
nothing reads them at run time but dataclasses and named tuples, which want to know of names alone. What the standard library lacked is in
parts/older_python.py. Sources: "What's New In Python 3.7" to "3.10".
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

HELPERS = "tools.snapshotter.parts.older_python"
PREFIX = "_older_"
# Modules that are newer, or say more than was there: all that is imported from them is in the helpers.
REPLACED_MODULES = frozenset({"dataclasses", "myisam_exporter.declaring.lean_dataclasses", "graphlib", "contextvars"})
# Of typing: what works at run time since 3.6.
KEPT_OF_TYPING = frozenset({"Any", "BinaryIO", "NamedTuple", "TextIO", "TypeVar", "cast"})
NAMED_TUPLES, GENERIC_BASES = frozenset({"NamedTuple"}), frozenset({"Generic", "Protocol"})
TYPES = frozenset(
    {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple", "type"}
)
# Methods and functions of later releases, or that want a later kernel, and what stands for them: called with the object first.
METHODS = {"removeprefix": "without_prefix", "removesuffix": "without_suffix", "isascii": "is_ascii"}
ATTRIBUTES = {
    "time.CLOCK_BOOTTIME": "CLOCK_BOOTTIME",
    "time.clock_gettime": "clock_gettime",
    "os.memfd_create": "memory_file",
    "os.fstatvfs": "space_of_descriptor",
    "platform.libc_ver": "libc_version",
}
# Of pathlib, since 3.7 and later: os has what does the same.
NEW_METHODS = {"readlink", "is_mount", "is_relative_to", "with_stem", "hardlink_to"}
TOO_NEW = (ast.Match, ast.TryStar) if hasattr(ast, "TryStar") else (ast.Match,)


class LoweringError(Exception):
    """Something that older Pythons have not, and this module does not know how to write otherwise."""


def lowered(source: str, name: str) -> str:
    """The module's source for Python 3.6 and later. Raises LoweringError that names the line."""
    lowering = _Lowering(name)
    tree = ast.fix_missing_locations(lowering.visit(ast.parse(source, name)))
    assert isinstance(tree, ast.Module)
    _refuse_what_is_left(tree, name, lowering.dropped)
    return ast.unparse(tree) + "\n"


def _refuse_what_is_left(tree: ast.Module, name: str, dropped: set[str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.NamedExpr, *TOO_NEW)):
            raise _unknown(node, name, type(node).__name__)
        if isinstance(node, ast.Name) and node.id in dropped:
            raise _unknown(node, name, f"{node.id} at run time")
        if isinstance(node, ast.Attribute) and node.attr in NEW_METHODS and not _is_of_os(node):
            raise _unknown(node, name, node.attr)
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Subscript) for base in node.bases):
            raise _unknown(node, name, "a base with []")


def _is_of_os(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "os"


def _unknown(node: ast.AST, name: str, what: str) -> LoweringError:
    return LoweringError(
        f"{name}, line {getattr(node, 'lineno', '?')}: {what} has no place in Python 3.6 yet: teach tools/snapshotter/lowering.py"
    )


class _Lowering(ast.NodeTransformer):
    """One module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dropped: set[str] = set()
        self._helpers: set[str] = set()

    # Modules and imports.

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """Everything below, then the import of the helpers that it came to need."""
        node.body = [self._alias(statement) for statement in node.body]
        self.generic_visit(node)
        if self._helpers:
            names = [ast.alias(name, PREFIX + name) for name in sorted(self._helpers)]
            at = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(at, ast.ImportFrom(HELPERS, names, 0))
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """From the helpers what was not there; nothing of typing that would not work."""
        if node.module == "__future__":
            return None
        if node.module in REPLACED_MODULES:
            return ast.ImportFrom(HELPERS, node.names, 0)
        if node.module == "typing":
            self.dropped |= {alias.asname or alias.name for alias in node.names if alias.name not in KEPT_OF_TYPING}
            node.names = [alias for alias in node.names if alias.name in KEPT_OF_TYPING]
            return node if node.names else None
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """As it is; but the modules that are replaced are imported by the names in them."""
        if any(alias.name in {*REPLACED_MODULES, "typing"} for alias in node.names):
            raise _unknown(node, self.name, "such an import")
        return node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """What is for the type checker goes."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)

    # Annotations.

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        """Names and defaults; what was positional only may be named."""
        node.args = [*node.posonlyargs, *node.args]
        node.posonlyargs = []
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """The name."""
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        """Without what it returns; one that only says how another may be called goes."""
        if any(isinstance(decorator, ast.Name) and decorator.id == "overload" for decorator in node.decorator_list):
            return None
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """The assignment, where there is one."""
        if node.value is None:
            return None
        made: ast.AST = self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))
        return made

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Bases without what they are of; the fields of dataclasses and named tuples stay declared."""
        node.bases = [base for base in map(_without_parameters, node.bases) if _name_of(base) not in GENERIC_BASES]
        has_fields = _is_dataclass(node) or any(_name_of(base) in NAMED_TUPLES for base in node.bases)
        body: list[ast.stmt] = []
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and has_fields:
                body.append(self._field(statement))
                continue
            made = self.visit(statement)
            body += made if isinstance(made, list) else [made] if made is not None else []
        node.body = body or [ast.Pass()]
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        return node

    def _field(self, node: ast.AnnAssign) -> ast.stmt:
        value = None if node.value is None else self.visit(node.value)
        if _name_of(_without_parameters(node.annotation)) == "ClassVar":
            raise _unknown(node, self.name, "ClassVar")
        return ast.copy_location(ast.AnnAssign(node.target, ast.Name("object", ast.Load()), value, 1), node)

    def _alias(self, node: ast.stmt) -> ast.stmt:
        """A name for a type: nobody asks it anything at run time."""
        if isinstance(node, ast.Assign) and _is_type(node.value):
            node.value = ast.copy_location(ast.Name("object", ast.Load()), node.value)
        return node

    # Expressions.

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A tuple for isinstance; zip that counts; methods that were not there."""
        function = node.func
        if _name_of(function) in ("isinstance", "issubclass"):
            node.args[1] = _types_of(node.args[1])
        if _name_of(function) == "zip":
            node = self._zip(node)
        elif isinstance(function, ast.Attribute) and function.attr in METHODS:
            node = ast.copy_location(
                ast.Call(self._helper(METHODS[function.attr]), [function.value, *node.args], []), node
            )
        return self.generic_visit(node)

    def _zip(self, node: ast.Call) -> ast.Call:
        strict = [keyword for keyword in node.keywords if keyword.arg == "strict"]
        if not strict:
            return node
        is_strict = isinstance(strict[0].value, ast.Constant) and strict[0].value.value is True
        return ast.copy_location(
            ast.Call(self._helper("zip_strictly") if is_strict else node.func, node.args, []), node
        )

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """An f-string as `format`: since 3.12 quotes within it may be those around it, and ast.unparse makes use of that."""
        template, values = _template(node)
        if not values:
            return ast.copy_location(ast.Constant(template.replace("{{", "{").replace("}}", "}")), node)
        filled = ast.Attribute(ast.Constant(template), "format", ast.Load())
        return self.generic_visit(ast.copy_location(ast.Call(filled, values, []), node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Of modules of the standard library what was not there; the helpers themselves may ask for it first."""
        instead = None if self.name == HELPERS else ATTRIBUTES.get(ast.unparse(node))
        return self._helper(instead) if instead else self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Dictionaries have no | before 3.9; what is no number may be one."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr) or _is_number(node):
            return node
        return ast.copy_location(ast.Call(self._helper("either"), [node.left, node.right], []), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """The same with |=, where it is a name or an attribute of one."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr) or _is_number(node.value):
            return node
        target = node.target
        if not isinstance(target, ast.Name) and not (
            isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        ):
            raise _unknown(node, self.name, "|= of such a target")
        read = ast.parse(ast.unparse(target), mode="eval").body
        return ast.copy_location(ast.Assign([target], ast.Call(self._helper("taken_in"), [read, node.value], [])), node)

    # Assignments within expressions, in the places where they are used.

    def visit_While(self, node: ast.While) -> ast.AST:
        """`while a and (b := c):` becomes a loop that ends within."""
        found = [part for part in ast.walk(node.test) if isinstance(part, ast.NamedExpr)]
        if not found:
            return self.generic_visit(node)
        if node.orelse:
            raise _unknown(node, self.name, "such a loop with an else")
        ends: list[ast.stmt] = []
        for condition in _conjuncts(node.test):
            ends += self._hoisted(condition)
            ends.append(
                ast.If(
                    ast.UnaryOp(ast.Not(), condition if not isinstance(condition, ast.NamedExpr) else _read(condition)),
                    [ast.Break()],
                    [],
                )
            )
        return self.generic_visit(ast.copy_location(ast.While(ast.Constant(True), ends + node.body, []), node))

    def _hoisted(self, condition: ast.expr) -> list[ast.stmt]:
        """The assignment that this condition begins with, as a statement; in the condition its name stays."""
        inner = _first_of(condition)
        if inner is None:
            return []
        assigned = ast.Assign([ast.Name(inner.target.id, ast.Store())], inner.value)
        _replace(condition, inner)
        return [assigned]

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Its conditions are taken apart by the expression around it."""
        return self.generic_visit(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.AST:
        made: list[ast.comprehension] = []
        for generator in node.generators:
            made += _without_assignments(generator)
        node.generators = made
        element = node.value if isinstance(node, ast.DictComp) else node.elt
        found = [part for part in ast.walk(element) if isinstance(part, ast.NamedExpr)]
        if len(found) == 1 and not isinstance(node, ast.DictComp) and isinstance(node.elt, ast.IfExp):
            # In the test of `a if (b := c) else d`: c may be worked out ahead, as the test comes first.
            inner = _first_of(node.elt.test)
            if inner is not None:
                made.append(_once(inner))
                _replace(node.elt, inner)
        return self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815 - named by ast

    def _helper(self, name: str) -> ast.Name:
        self._helpers.add(name)
        return ast.Name(PREFIX + name, ast.Load())


def _template(node: ast.JoinedStr) -> tuple[str, list[ast.expr]]:
    """The text for str.format, and the values in the order of their places: that of a width stands behind what it is the width of."""
    text, values = "", list[ast.expr]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        assert isinstance(part, ast.FormattedValue)
        conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
        values.append(part.value)
        width = ""
        if isinstance(part.format_spec, ast.JoinedStr):
            inner, further = _template(part.format_spec)
            width, values = f":{inner}", [*values, *further]
        text += "{" + conversion + width + "}"
    return text, values


def _without_assignments(generator: ast.comprehension) -> Iterable[ast.comprehension]:
    """`for a in b if c and (d := e) > f` as `for a in b if c for d in (e,) if d > f`."""
    current = ast.comprehension(generator.target, generator.iter, [], generator.is_async)
    for condition in (part for test in generator.ifs for part in _conjuncts(test)):
        inner = _first_of(condition)
        if inner is not None:
            yield current
            current = _once(inner)
            if condition is inner:
                current.ifs.append(_read(inner))
                continue
            _replace(condition, inner)
        current.ifs.append(condition)
    yield current


def _once(inner: ast.NamedExpr) -> ast.comprehension:
    return ast.comprehension(ast.Name(inner.target.id, ast.Store()), ast.Tuple([inner.value], ast.Load()), [], 0)


def _read(inner: ast.NamedExpr) -> ast.Name:
    return ast.Name(inner.target.id, ast.Load())


def _conjuncts(test: ast.expr) -> Sequence[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _first_of(condition: ast.expr) -> ast.NamedExpr | None:
    """The assignment that is worked out first in this condition: itself, or the left side of a comparison."""
    if isinstance(condition, ast.NamedExpr):
        return condition
    if isinstance(condition, ast.Compare) and isinstance(condition.left, ast.NamedExpr):
        return condition.left
    return None


def _replace(tree: ast.expr, inner: ast.NamedExpr) -> None:
    """The name in the place of the assignment, somewhere below."""

    class Replacing(ast.NodeTransformer):
        def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
            return _read(node) if node is inner else self.generic_visit(node)

    Replacing().visit(tree)


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _without_parameters(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in (_name_of(one), _name_of(getattr(one, "func", one))) for one in node.decorator_list)


def _is_type(node: ast.expr) -> bool:
    """Whether this names a type rather than works something out: tuple[str, int], int | None, Callable[[], None]."""
    if isinstance(node, ast.Subscript):
        name = _name_of(node.value)
        return name in TYPES or (name[:1].isupper() and not name.isupper())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return any(_name_of(_without_parameters(part)) in TYPES for part in _union(node))
    return False


def _union(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_union(node.left), *_union(node.right)]
    return [node]


def _types_of(node: ast.expr) -> ast.expr:
    """A | B as (A, B)."""
    parts = _union(node)
    return node if len(parts) == 1 else ast.copy_location(ast.Tuple(parts, ast.Load()), node)


def _is_number(node: ast.expr) -> bool:
    """Whether | is of bits: one side is a constant of a module (os.O_RDONLY), a number or a shift."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr.isupper())
        or (isinstance(part, ast.Constant) and isinstance(part.value, int))
        or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift))
        for part in _union(node)
    )
