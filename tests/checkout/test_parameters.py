"""A parameter that is named at the call is used: one that is dropped on the way changes nothing."""

import ast
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


def test_what_a_function_is_given_by_name_is_used() -> None:
    dropped: list[str] = []
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert len(paths) > 500
    for path in paths:
        # Methods may leave out what the one that they stand for is given.
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if _is_a_shape(function):
                continue
            used = {
                node.id
                for statement in function.body
                for node in ast.walk(statement)
                if isinstance(node, ast.Name)
            }
            dropped += [
                f"{path.relative_to(ROOT)}: {function.name}({argument.arg})"
                for argument in function.args.kwonlyargs
                if argument.arg not in used and not argument.arg.startswith("_")
            ]
    assert dropped == []
