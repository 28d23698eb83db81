"""List every string that an operator may read, with its place: to read them in one go.

Takes all string constants of the console, the widgets and the sentences of the core that hold a
space, without docstrings, and what the core's errors say. Usage:
python -m scripts.visible_strings [WORD ...]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("console", "widgets")
FILES = ("agent/state/event_text.py", "agent/state/terms.py", "agent/state/attention.py")


def sources() -> list[Path]:
    found = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return [*found, *(ROOT / name for name in FILES)]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a file with their lines; parts of an f-string one by one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    # The docstring of a command is its help page, which is read.
    shown = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any("command" in ast.unparse(one) for one in node.decorator_list)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if (id(node) not in skipped or id(node) in shown) and " " in node.value.strip():
            yield node.lineno, node.value


def raising() -> list[Path]:
    """List the files of the core; of them only the errors are shown."""
    shown = set(sources())
    return [path for path in sorted((ROOT / "agent").rglob("*.py")) if path not in shown]


def errors(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings that a file makes errors of, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Error", "Arguments")):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def main() -> None:
    """Print the strings, or those that hold one of the words."""
    wanted = [word.casefold() for word in sys.argv[1:]]
    places = [(path, strings) for path in sources()] + [(path, errors) for path in raising()]
    for path, read in places:
        for line, text in read(path):
            if not wanted or any(word in text.casefold() for word in wanted):
                print(f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())}")


if __name__ == "__main__":
    main()
