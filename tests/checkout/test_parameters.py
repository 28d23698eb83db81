"""A parameter that is named at the call is used: one that is dropped on the way changes nothing."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("agent", "console", "widgets", "virtual_phone/src")


def _is_a_shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function has no body of its own: a protocol's or an overload's."""
    return all(
        isinstance(one, ast.Pass | ast.Raise)
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in function.body
    )


Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _modules() -> dict[str, ast.Module]:
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths
    }


@cache
def _classes() -> dict[str, tuple[ast.ClassDef, ...]]:
    """Return the classes of all rooms, by name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for module in _modules().values():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return {name: tuple(classes) for name, classes in found.items()}


def _methods(kind: ast.ClassDef) -> Iterator[Function]:
    return (one for one in kind.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))


def _names(function: Function) -> set[str]:
    given = function.args
    return {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


@cache
def _shapes() -> frozenset[tuple[str, str]]:
    """Return each method and parameter of a protocol, which whoever implements it has to take.

    A protocol that is called is one of classes, which take it when they are made.
    """
    return frozenset(
        ("__init__" if method.name == "__call__" else method.name, name)
        for classes in _classes().values()
        for kind in classes
        for method in _methods(kind)
        if _is_a_shape(method)
        for name in _names(method)
    )


def _is_inherited(kind: ast.ClassDef, method: str, parameter: str) -> bool:
    """Return whether a base of a class has a method with a parameter, or may have it."""
    for base in kind.bases:
        while isinstance(base, ast.Subscript):
            base = base.value
        name = base.attr if isinstance(base, ast.Attribute) else ast.unparse(base)
        own = _classes().get(name)
        if own is None:
            if name not in {"Protocol", "Generic", "object", "Struct", "NamedTuple", "Exception"}:
                # Of a library, which says what it gives.
                return True
        elif any(
            one.name == method and parameter in _names(one)
            for each in own
            for one in _methods(each)
        ) or any(_is_inherited(each, method, parameter) for each in own):
            return True
    return False


def _dropped(function: Function) -> list[str]:
    """Return the parameters that a function is given by name and does not use."""
    used = {
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }
    named = (one.arg for one in function.args.kwonlyargs)
    return [name for name in named if name not in used and not name.startswith("_")]


def test_what_a_function_is_given_by_name_is_used() -> None:
    assert len(_modules()) > 500
    dropped = [
        f"{path}: {function.name}({name})"
        for path, module in _modules().items()
        for function in module.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if not _is_a_shape(function)
        for name in _dropped(function)
    ]
    assert dropped == []


def test_what_a_method_is_given_by_name_is_used_unless_another_class_asks_for_it() -> None:
    assert ("type_text", "timeout_s") in _shapes()
    dropped = [
        f"{path}: {kind.name}.{method.name}({name})"
        for path, module in _modules().items()
        for kind in ast.walk(module)
        if isinstance(kind, ast.ClassDef)
        for method in _methods(kind)
        if not _is_a_shape(method)
        for name in _dropped(method)
        if (method.name, name) not in _shapes() and not _is_inherited(kind, method.name, name)
    ]
    assert dropped == []
