"""`awk` does what POSIX and one-true-awk say, and holds nobody up whatever its program is."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtual_phone.awk.statements import program_of
from virtual_phone.awk.words import BUILTINS, KEYWORDS, AwkSyntaxError
from virtual_phone.phone import Phone
from virtual_phone.server.pipes import BytesSource, CollectingSink
from virtual_phone.shell.interpreter import Shell
from virtual_phone.userland.userland import Userland

Said = tuple[int, str, str]
Awk = Callable[..., Awaitable[Said]]
ROWS = b"""root 1 0.5 init
shell 22 1.5 adbd
u0_a1 333 .25 com.example.app  extra

a:b 1e3 +5 last
"""


@pytest.fixture
async def userland(tmp_path: Path) -> AsyncIterator[Userland]:
    phone = Phone(tmp_path, name="awk")
    yield Userland(phone, tmp_path, "awk")
    phone.close()


async def said_by(userland: Userland, line: str, stdin: bytes = ROWS) -> Said:
    out, err = CollectingSink(), CollectingSink()
    shell = Shell(userland)
    shell.cwd = "/data/local/tmp"
    async with asyncio.timeout(120):
        status = await shell.run_text(line, {0: BytesSource(stdin), 1: out, 2: err})
    return status, out.data.decode("utf-8", "replace"), err.data.decode("utf-8", "replace")


@pytest.fixture
def awk(userland: Userland) -> Awk:
    async def awk(program: str, *words: str, stdin: bytes = ROWS) -> Said:
        return await said_by(userland, shlex.join(("awk", *words, program)), stdin)

    return awk


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("$2>20", "shell 22 1.5 adbd\nu0_a1 333 .25 com.example.app  extra\na:b 1e3 +5 last\n"),
        ("/shell/{print $1,$NF}", "shell adbd\n"),
        ("!NF{print NR}", "4\n"),
        ('{ $2="X" } NR==1', "root X 0.5 init\n"),
        ("NR==1{ $6=7; print NF; print }", "6\nroot 1 0.5 init  7\n"),
        ("NR==1{ NF=2; print }", "root 1\n"),
        ('$1 ~ "^[rs]" {n[substr($1,1,1)]+=$2} END{print n["r"], n["s"], length(n)}', "1 22 2\n"),
        ("NR==2,/example/{print NR}", "2\n3\n"),
        ("{s+=$2} END{print s, s/NR, NR}", "1356 271.2 5\n"),
        ('BEGIN{RS=""} END{print NR, $1}', "2 a:b\n"),
        ('BEGIN{FS="[: ]"} NR==5{print $2}', "b\n"),
        ("NR==2{exit 4} {print NR} END{print NR}", "1\n2\n"),
        ("BEGIN{exit} END{print 1}", ""),
        ("BEGIN{while((getline l)>0) n++; print n, NR, l}", "5 5 a:b 1e3 +5 last\n"),
    ],
)
async def test_records_have_fields_and_rules_go_over_them(
    awk: Awk, program: str, said: str
) -> None:
    status, out, err = await awk(program)
    assert (out, err) == (said, "")
    assert status == (4 if "exit 4" in program else 0)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ('print 1==1.0, "a"<"b", 2<10, "2"<"10"', "1 1 1 0"),
        (
            "print 0.1+0.2, 1e16, 1e20, -7%3, 2**3, -2^2, 2^3^2",
            "0.3 10000000000000000 1e+20 -1 8 -4 512",
        ),
        ('x="A"; y=x++; print x,y; print +"3x"', "1 0\n3"),
        (
            'printf "%d|%-4d|%04d|%x|%c%c|%.2f|%5s|%%\\n", 3.9,42,42,255,65,"BC",3.14159,"ab"',
            "3|42  |0042|ff|AB|3.14|   ab|%",
        ),
        (
            'print substr("hello",2,3), substr("hello",-1,3), index("hello","l"), toupper("abc")',
            "ell hel 3 ABC",
        ),
        ('n=split("a1b22c",a,/[0-9]+/); print n,a[3]; print split("a b  c",b), b[3]', "3 c\n3 c"),
        ('s="hello"; print gsub(/l/,"<&\\\\&>",s), s', "2 he<l&><l&>o"),
        ('print match("foobar",/o+/), RSTART, RLENGTH', "2 2 2"),
        ("while(i<3){i++; if(i==2)continue; print i}; do i--; while(i>0); print i", "1\n3\n0"),
        ("for(;;){if(j++>4)break}; print j", "6"),
        ('a["x",1]; print (("x",1) in a); delete a; print length(a)', "1\n0"),
        ('OFS="-"; $0="a b"; $1=$1; print; print 1,2', "a-b\n1-2"),
        ('"echo hi there" | getline x; print x', "hi there"),
        ('print "b\\na" | "sort"; close("sort"); print "z"', "a\nb\nz"),
        ('print system("exit 3")', "3"),
        (
            'print "[:]" ~ /[[:punct:]]{3}/, "a/b" ~ /a\\/b/, "a+b" ~ "a\\\\+b", "x" ~ /^(a|x)$/',
            "1 1 1 1",
        ),
        ('print length("é"), "\\101" "\\t|"', "2 A\t|"),
        ('print "x" > "f"; close("f"); while((getline l < "f")>0) print "f:" l', "f:x"),
        ('print (getline l < "none")', "-1"),
        ('print (1,2) in a, 1>2 ? "a" : "b"', None),
    ],
)
async def test_values_are_calculated_compared_and_written_as_awk_does(
    awk: Awk, program: str, said: str | None
) -> None:
    status, out, err = await awk(f"BEGIN{{{program}}}", stdin=b"")
    if said is None:
        assert (status, out) == (2, "")
        assert err == "awk: syntax error at source line 1 near ?\n"
    else:
        assert (status, out, err) == (0, said + "\n", "")


async def test_functions_have_names_of_their_own_and_are_given_arrays_themselves(awk: Awk) -> None:
    program = """
    function fact(n) { return n <= 1 ? 1 : n * fact(n - 1) }
    function fill(a, k) { a[k] = 1 }
    function own(x,  here) { here[1] = x; x = 5; return here[1] }
    BEGIN { v = 3; fill(z, "q"); print fact(10), own(v), v, ("q" in z), length(z) }
    """
    assert await awk(program) == (0, "3628800 3 3 1 1\n", "")


async def test_options_assignments_and_program_files_are_read(userland: Userland) -> None:
    lines = (
        "echo 'BEGIN{print x}{print $2 y}' > p",
        "printf 'a:b\\n' > one",
        "awk -F: -v x='1\\t2' -f p y=! one y=? one",
        "ps -A | awk '/[i]nit/ {print $1, $2}'",
    )
    assert await said_by(userland, "; ".join(lines)) == (0, "1\t2\nb!\nb?\nroot 1\n", "")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("BEGIN{print 1/0}", "division by zero"),
        ("BEGIN{f(1)}", "calling undefined function f"),
        ('BEGIN{printf "%s"}', "not enough args in printf(%s)"),
        ('BEGIN{print "x" ~ "("}', "illegal regular expression ("),
        ("BEGIN{a[1]=1; print a}", "can't read value of a; it's an array name."),
        ('BEGIN{print "a}', "non-terminated string a}... at source line 1"),
        ("BEGIN{print $99999999}", "trying to access out of range field 99999999"),
        ('BEGIN{s="x"; while(1) s=s s}', "out of memory"),
        ('BEGIN{s=sprintf("%90000s","");while(1) a[i++]=s i}', "out of memory"),
        ('BEGIN{printf "%999999999d", 1}', "format item is too wide"),
        ("function f(){return f()} BEGIN{f()}", "functions or expressions nest too deep"),
        (f"BEGIN{{print {'(' * 500}1{')' * 500}}}", "expression nests too deep"),
        (f"BEGIN{{print {'-' * 500} 1}}", "syntax error"),
    ],
)
async def test_what_is_wrong_ends_the_program_with_a_line_and_status_two(
    awk: Awk, program: str, said: str
) -> None:
    status, out, err = await awk(program)
    assert (status, out) == (2, "")
    assert err.startswith("awk: ")
    assert said in err


async def test_a_program_without_end_lets_others_work_and_ends_with_its_shell(
    userland: Userland,
) -> None:
    for program in ("BEGIN{while(1)i++}", "BEGIN{for(;;)f()} function f(){}", "BEGIN{while(1);}"):
        endless = asyncio.create_task(said_by(userland, f"awk '{program}'"))
        for _ in range(20):
            assert (await said_by(userland, "echo here"))[1] == "here\n"
        assert not endless.done()
        endless.cancel()
        await asyncio.gather(endless, return_exceptions=True)
        assert endless.cancelled()


WORDS = st.sampled_from(
    [*KEYWORDS, *BUILTINS, *'{}()[];,+-/%^!><|?:~$=\n"\\ ', "x", "a[i]", "f(", "1", "/r/", '"s"']
)


@settings(deadline=None, max_examples=150)
@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_whatever_is_given_as_a_program_is_read_or_refused(text: str) -> None:
    try:
        program_of(text)
    except AwkSyntaxError as error:
        assert str(error)
