"""Braces, and `exec` that changes the shell's own descriptors."""

import pytest
from test_shell import Run, run, userland

__all__ = ["run", "userland"]


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("echo a{b,c}d", "abd acd\n"),
        ("echo {a,b}{1,2}", "a1 a2 b1 b2\n"),
        ("echo {a,{b,c}x}y", "ay bxy cxy\n"),
        ("echo {a} {1..3} {} {a,b {", "{a} {1..3} {} {a,b {\n"),
        ("echo '{a,b}' \"{a,b}\" \\{a,b}", "{a,b} {a,b} {a,b}\n"),
        ("x=1; echo {$x,'y z'}w", "1w y zw\n"),
        ("echo {,a}b", "b ab\n"),
        ("x={a,b}; echo $x", "{a,b}\n"),
        ("for i in {1,2}; do echo $i; done", "1\n2\n"),
        ("echo {{{a,b}", "{{a {{b\n"),
        ("exec >f; echo in; exec >&2; cat f >&2", ""),
        ("echo one >f; exec <f; read x; echo $x", "one\n"),
        ("(exec >f; echo in); echo out; cat f", "out\nin\n"),
        ("{ exec 2>f; } ; nope; cat f", "/system/bin/sh: nope: inaccessible or not found\n"),
        ("x=$(exec >f; echo in); echo [$x]; cat f", "[]\nin\n"),
        ("echo 'exec >f; echo in' >s; sh s; echo out; cat f", "out\nin\n"),
        ("exec 3>f; echo three >&3; cat f", "three\n"),
        ("echo x | { exec >f; cat; }; cat f", "x\n"),
    ],
)
async def test_a_line_means_what_it_means_to_mksh(run: Run, line: str, out: str) -> None:
    assert (await run(line))[1] == out


@pytest.mark.parametrize(
    "line",
    [
        "echo " + "{" * 50_000,
        "echo " + "{a,b}" * 40,
        "echo " + "{a," * 3_000 + "}" * 3_000,
        "echo {" + "a," * 9_000 + "}" + "x" * 40_000,
    ],
)
async def test_no_braces_take_all_time_or_memory(run: Run, line: str) -> None:
    status, out, err = await run(line)
    assert status == 0 or "too long" in err or "depth" in err or "nest" in err, (status, err[:200])
    assert len(out) < 100_000
