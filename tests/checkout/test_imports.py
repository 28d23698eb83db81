"""Imports that no test runs and mypy does not see: those of scripts and benches."""

import ast
from functools import cache
from pathlib import Path

import pytest

from bench.__main__ import benchmarks

ROOT = Path(__file__).parent.parent.parent
READERS = ("bench", "scripts")
OURS = {
    "agent": ROOT,
    "bench": ROOT,
    "console": ROOT,
    "scripts": ROOT,
    "tests": ROOT,
    "virtual_phone": ROOT / "virtual_phone/src",
    "widgets": ROOT,
}
"""Each package and the folder that it is imported from."""
SCRIPTS = ROOT / "scripts"


def source(module: str) -> Path | None:
    """Return the file of a module of ours; a script finds another one beside it."""
    folder = OURS.get(module.partition(".")[0], SCRIPTS)
    path = folder.joinpath(*module.split("."))
    for found in (path.with_suffix(".py"), path / "__init__.py", path):
        if found.exists():
            return found
    return None


@cache
def names(path: Path) -> frozenset[str]:
    """Return what a module binds anywhere at all, read and not run; a folder's modules too."""
    if path.is_dir():
        return frozenset(one.stem for one in path.iterdir())
    found = set[str]()
    if path.name == "__init__.py":
        found |= {one.stem for one in path.parent.iterdir()}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Name(ctx=ast.Store()):
                found.add(node.id)
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                starred = source(module)
                found |= names(starred) if starred else set()
            case ast.alias():
                found.add((node.asname or node.name).partition(".")[0])
            case _:
                pass
    return frozenset(found)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_imported_from_our_packages_is_there(reader: str) -> None:
    missing: list[str] = []
    for path in sorted((ROOT / reader).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
                continue
            if node.module.partition(".")[0] not in OURS:
                continue
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            found = source(node.module)
            if found is None:
                missing.append(f"{where}: no module {node.module}")
                continue
            missing += [
                f"{where}: no {one.name} in {node.module}"
                for one in node.names
                if one.name != "*" and one.name not in names(found)
            ]
    assert missing == []


def test_every_benchmark_is_found_by_its_name_and_has_a_main() -> None:
    found = benchmarks()
    assert {"loop", "store", "phone", "redteam", "startup"} <= found.keys()
    for module in found.values():
        path = source(module)
        assert path is not None and "main" in names(path), module
