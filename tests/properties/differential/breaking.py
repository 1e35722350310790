"""Deliberately broken copies of a module: what the comparison must find, or it is worth nothing.

A copy is made of the module's own source, changed in one place, and takes the original's place function by
function (their code is exchanged), so that whoever has imported one of them meets the broken one.

`python -m tests.properties.differential.breaking MODULE...` breaks modules in every place that it knows how
to, and names the copies that no world tells from the original.
"""

from __future__ import annotations

import ast
import inspect
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import Any

from tests.properties.differential.comparing import Breaking, breaks


def replaced(old: str, new: str, room: str = "orkeon_transitions.runtime") -> Breaking:
    """A copy of a room's module in which one piece of text is another.

    The text must be in the room once, in whichever module, so that nothing else is meant.
    """
    folder = import_module(room).__path__
    modules = [import_module(f"{room}.{each.name}") for each in iter_modules(folder)]
    found = [module for module in modules for _ in range(inspect.getsource(module).count(old))]
    assert len(found) == 1, f"{room} has {old!r} {len(found)} times: choose another text"
    source = inspect.getsource(found[0]).replace(old, new)
    return lambda: _in_place_of(found[0], compile(source, found[0].__file__ or "", "exec"))


@contextmanager
def _in_place_of(module: ModuleType, code: Any) -> Iterator[None]:
    copy = ModuleType(module.__name__)
    exec(code, copy.__dict__)
    pairs = list(_pairs(vars(module), vars(copy), module.__name__))
    originals = [(original, original.__code__) for original, _ in pairs]
    try:
        for original, other in pairs:
            original.__code__ = other.__code__
        yield
    finally:
        for original, kept in originals:
            original.__code__ = kept


def _pairs(ours: Any, theirs: Any, name: str) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Functions of the same name in both, methods among them."""
    for key, mine in dict(ours).items():
        other = theirs.get(key)
        if getattr(mine, "__module__", name) != name or other is None:
            continue
        mine, other = (_function(each) for each in (mine, other))
        if isinstance(mine, FunctionType):
            if len(mine.__code__.co_freevars) == len(other.__code__.co_freevars):
                yield mine, other
        elif isinstance(mine, type) and isinstance(other, type):
            yield from _pairs(vars(mine), vars(other), name)


def _function(value: Any) -> Any:
    """The function in a property, a class method or a cache."""
    for inside in ("fget", "__func__", "__wrapped__"):
        if (found := getattr(value, inside, None)) is not None:
            return found
    return value


# ------------------------------------------------------------------------------------------ in every place
def everywhere(module: ModuleType) -> Iterator[tuple[str, Breaking]]:
    """Copies in which one statement is left out, one condition is fixed, or one comparison is another."""
    source = inspect.getsource(module)
    number = 0
    while True:
        breaker = _Breaker(number)
        tree = ast.fix_missing_locations(breaker.visit(ast.parse(source)))
        if not breaker.told:
            return
        code = compile(tree, module.__file__ or "", "exec")
        yield breaker.told, lambda code=code: _in_place_of(module, code)
        number += 1


# Seconds of a copy after which it counts as found.
PATIENCE = 20
OTHERS: dict[type, type] = {
    ast.GtE: ast.Gt,
    ast.Gt: ast.GtE,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


class _Breaker(ast.NodeTransformer):
    """Breaks the place of a number."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.told = ""
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        # Neither decorators nor annotations: they are made once, when the module is imported.
        node.body = [self.visit(each) for each in node.body]
        self.depth -= 1
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # the same for both

    def _is_here(self, node: ast.AST, how: str) -> bool:
        if not self.depth or self.told:
            return False
        if self.left:
            self.left -= 1
            return False
        self.told = f"line {node.lineno}: {how}: {ast.unparse(node).splitlines()[0]}"  # type: ignore[attr-defined]  # a statement or expression has one
        return True

    def _break_operator(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            other = OTHERS.get(type(node.ops[0]))
            if other is not None and self._is_here(node, "compared otherwise"):
                node.ops[0] = other()
        elif isinstance(node, ast.BinOp):
            other = OTHERS.get(type(node.op))
            if other is not None and self._is_here(node, "the other sign"):
                node.op = other()

    def visit(self, node: ast.AST) -> Any:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_simple = isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise) and not is_text
        if is_simple and self._is_here(node, "left out"):
            return ast.copy_location(ast.Pass(), node)
        if isinstance(node, ast.If | ast.IfExp):
            for answer in (True, False):
                if self._is_here(node.test, f"always {answer}"):
                    node.test = ast.copy_location(ast.Constant(answer), node.test)
                    return node
        if isinstance(node, ast.BoolOp):
            for number in range(len(node.values)):
                if self._is_here(node.values[number], "not asked"):
                    del node.values[number]
                    return node if len(node.values) > 1 else node.values[0]
        self._break_operator(node)
        return super().visit(node)


def _takes_too_long(*_: Any) -> None:
    raise TimeoutError("the broken copy does not come to an end")


def main(names: list[str], worlds: int = 250) -> None:
    """Breaks modules everywhere and tells how soon that is found."""
    signal.signal(signal.SIGALRM, _takes_too_long)
    for name in names:
        module = import_module(name)
        survivors, total, began = [], 0, time.process_time()
        for told, breaking in everywhere(module):
            total += 1
            signal.alarm(PATIENCE)
            if breaks(breaking, range(worlds)) is None:
                survivors.append(told)
                print("not found:", told, flush=True)
            signal.alarm(0)
        seconds = time.process_time() - began
        print(f"{name}: {total - len(survivors)} of {total} found, {seconds:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
