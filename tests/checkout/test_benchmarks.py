"""The benchmarks can be found and asked what they measure; their imports are mypy's to check."""

import ast
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.__main__ import benchmarks, main


def test_every_benchmark_is_found_by_its_name_and_has_a_main() -> None:
    found = benchmarks()
    assert {"loop", "store", "phone", "redteam", "startup"} <= found.keys()
    without = []
    for module in found.values():
        spec = find_spec(module)
        assert spec is not None and spec.origin is not None
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        bound = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.alias)}
        if "main" not in bound:
            without.append(module)
    assert without == []


@pytest.mark.parametrize("name", ["language", "redteam"])
def test_a_benchmark_with_and_one_without_options_says_what_it_measures(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", name, "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["bench", name, "--no-such-option"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--no-such-option" in capsys.readouterr().err
