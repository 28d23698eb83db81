"""The phone's command line: what lines mean, and that no line can hurt the process."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.server.pipes import BytesSource, CollectingSink
from virtual_phone.shell.interpreter import Shell
from virtual_phone.shell.parser import ShellSyntaxError, parse
from virtual_phone.userland.userland import Userland

Ran = tuple[int, str, str]
Run = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def userland(tmp_path: Path) -> AsyncIterator[Userland]:
    phone = Phone(tmp_path, name="shell")
    yield Userland(phone, tmp_path, "shell")
    phone.close()


@pytest.fixture
def run(userland: Userland) -> Run:
    async def run(line: str, stdin: bytes = b"") -> Ran:
        out, err = CollectingSink(), CollectingSink()
        shell = Shell(userland)
        shell.cwd = "/data/local/tmp"
        async with asyncio.timeout(30):
            status = await shell.run_text(line, {0: BytesSource(stdin), 1: out, 2: err})
            await shell.wait_jobs()
        return status, out.data.decode(), err.data.decode()

    return run


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("echo a  b", "a b\n"),
        ("echo 'a  b'\"  c\"", "a  b  c\n"),
        (r"echo a\ \ b \'", "a  b '\n"),
        ("x=1; echo $x ${x}2 \"$x\" '$x'", "1 12 1 $x\n"),
        ("x='a b'; set -- $x; echo $#; set -- \"$x\"; echo $#", "2\n1\n"),
        ("echo ${nope:-def} ${nope-}x ${nope:+y}", "def x\n"),
        ("p=/a/b.tar.gz; echo ${p##*/} ${p%.*} ${p%%.*} ${#p}", "b.tar.gz /a/b.tar /a/b 11\n"),
        ("v=banana; echo ${v/an/-} ${v//an/-} ${v:1:3}", "b-ana b--a ana\n"),
        ("echo $(echo in $(echo deep)) `echo tick`", "in deep tick\n"),
        (
            "echo $((1+2*3)) $(( (1+2)*3 )) $((7/2)) $((-7/2)) $((1<<4)) $((3>2&&0))",
            "7 9 3 -3 16 0\n",
        ),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done", "1\n2\n3\n"),
        (
            "for i in a b; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; done; done",
            "a1\nb1\n",
        ),
        ("case abc in x*) echo no;; a?c|z) echo yes;; esac", "yes\n"),
        ("if false; then echo a; elif true; then echo b; else echo c; fi", "b\n"),
        ("f() { echo $1 $#; return 3; }; f x y; echo $?", "x 2\n3\n"),
        ("true && echo and || echo or; false && echo and || echo or", "and\nor\n"),
        ("! true; echo $?", "1\n"),
        ("(cd /; x=1; pwd); pwd; echo ${x:-unset}", "/\n/data/local/tmp\nunset\n"),
        ("echo one; { echo two; echo three; } | tail -1", "one\nthree\n"),
        ("printf '%s-%03d\\n' a 7 b 8", "a-007\nb-008\n"),
        ("printf '[%*d|%-3s|%.*f|%*s|%.*s]' -3 7 a 2 1 abc x -1 yz", "[7  |a  |1.00|x|yz]"),
        ("echo b > f; echo a >> f; sort < f; cat f | wc -l", "a\nb\n2\n"),
        ("cat <<EOF\n$((2+2)) `echo x`\nEOF\ncat <<'E'\n$x\nE", "4 x\n$x\n"),
        ("cat <<-E\n\tindented\nE", "indented\n"),
        ("ls /nope 2>&1 | grep -c 'No such file'", "1\n"),
        ("nope 2>/dev/null || echo $?", "127\n"),
        ("touch a1 a2 b1; echo a* 'a*' z*", "a1 a2 a* z*\n"),
        ("echo one two | while read x y; do echo $y $x; done", "two one\n"),
        ("echo a:b:c | { IFS=: read x y; echo $y; }", "b:c\n"),
        ("eval 'echo $((40+2))'", "42\n"),
        ("sh -c 'echo $0 $1' zero one; sh -c 'exit 9'; echo $?", "zero one\n9\n"),
        ("sleep 1000 & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 0.05 sleep 100; echo $?", "124\n"),
        ("yes | head -n 2; seq 3 | tr '\\n' ' '; echo", "y\ny\n1 2 3 \n"),
        ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n"),
        ("echo $'a\\tb\\x41'; echo -e 'x\\ny'; echo -n z", "a\tbA\nx\ny\nz"),
        ("echo aXbX | sed 's/X/-/g;s/^a/A/'; echo hello | sed -n 's/l\\+/L/p'", "A-b-\nheLo\n"),
        ("echo 'k=v w' | cut -d= -f2; echo abc | cut -c1-2", "v w\nab\n"),
        (
            "seq 3 | paste -sd, -; seq 4 | paste - -; printf 'a\\nb' | paste -s -d ':;'",
            "1,2,3\n1\t2\n3\t4\na:b\n",
        ),
        ("echo hi | xargs -I{} echo got {}; echo 1 2 3 | xargs -n 2 echo", "got hi\n1 2\n3\n"),
        (
            "echo aGk= | base64 -d; echo; echo -n abc | md5sum",
            "hi\n900150983cd24fb0d6963f7d28e17f72  -\n",
        ),
        (
            "mkdir -p d/e; echo x > d/e/f; find d -type f; rm -r d; ls d 2>/dev/null; echo $?",
            "d/e/f\n1\n",
        ),
        (
            "echo 'echo from $1' > s.sh; chmod +x s.sh; ./s.sh me; sh s.sh you",
            "from me\nfrom you\n",
        ),
        ("dd if=/dev/zero bs=1k count=3 2>/dev/null | wc -c", "3072\n"),
        ("echo $# $*; true; echo $?", "0\n0\n"),
        ("x=$(exit 5); echo $?", "5\n"),
        ("echo a; exit 3; echo b", "a\n"),
        ("# only a comment\necho x # and one more", "x\n"),
    ],
)
async def test_a_line_writes_what_posix_says(run: Run, line: str, out: str) -> None:
    assert (await run(line))[1] == out


@pytest.mark.parametrize(
    "line", ["echo 'x", "a &&", "(a", "if x; then", "echo )", "for", "|", ";;"]
)
async def test_what_is_not_shell_is_a_syntax_error(run: Run, line: str) -> None:
    status, out, err = await run(line)
    assert (status, out) == (1, "")
    assert err.startswith("/system/bin/sh: ")


@pytest.mark.parametrize(
    ("line", "status", "err"),
    [
        ("foo", 127, "/system/bin/sh: foo: inaccessible or not found\n"),
        (
            "/data/local/tmp",
            126,
            "/system/bin/sh: /data/local/tmp: can't execute: Is a directory\n",
        ),
        ("cat nope", 1, "cat: nope: No such file or directory\n"),
        ("ls /data", 1, "ls: /data: Permission denied\n"),
        (
            "echo x > /system/y",
            1,
            "/system/bin/sh: can't create /system/y: Read-only file system\n",
        ),
        ("cd /nope", 2, "/system/bin/sh: cd: /nope: No such file or directory\n"),
        ("rm nope", 1, "rm: nope: No such file or directory\n"),
        ("echo $((1/0))", 1, "/system/bin/sh: 1/0: zero divisor\n"),
    ],
)
async def test_failures_are_worded_as_on_a_phone(
    run: Run, line: str, status: int, err: str
) -> None:
    assert await run(line) == (status, "", err)


@pytest.mark.parametrize(
    "line",
    [
        "f() { f; }; f",
        'eval \'eval "eval x"\'; x=\'eval "$x"\'; eval "$x"',
        "echo " + "$(" * 500 + "x" + ")" * 500,
        "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x$x$x; done",
        "echo 'sh ./again' > again; sh ./again",
        "(" * 3000 + "x" + ")" * 3000,
        "echo $((" + "(" * 3000 + "1" + ")" * 3000 + "))",
        "printf '%999999999d' 1",
        "printf '%9999999999d' 1",
        "printf '%.9999999999s' x",
        "mkdir -m '' d; mkdir -m 7777777777777777777777 e",
        "printf '%.*f' 99999999999 1; printf '%٣d' 1",
        "ln -s loop loop; cat loop; ln -s .. up; ls up/up/up/up/up/tmp",
    ],
)
async def test_a_hostile_line_ends_by_itself(run: Run, line: str) -> None:
    await run(line)
    assert (await run("echo alive"))[1] == "alive\n"


async def test_an_endless_loop_leaves_the_others_their_turn(userland: Userland) -> None:
    sink = CollectingSink()
    busy = asyncio.create_task(Shell(userland).run_text("while :; do :; done", {1: sink, 2: sink}))
    out = CollectingSink()
    async with asyncio.timeout(30):
        await Shell(userland).run_text("echo me | cat", {1: out, 2: out})
    assert out.data == b"me\n"
    busy.cancel()
    await asyncio.gather(busy, return_exceptions=True)


async def test_links_never_lead_out_of_the_phone(run: Run, userland: Userland) -> None:
    await run("ln -s /etc/passwd l1; ln -s ../../../../../../../../etc/passwd l2")
    for name in ("l1", "l2"):
        status, out, err = await run(f"cat {name}")
        assert (status, out) == (1, "") and "No such file or directory" in err
    host = userland.phone.home / "files" / "tmp" / "out"
    host.symlink_to("/etc")
    assert (await run("cat out/passwd"))[0] == 1
    assert (await run("echo x > out/new"))[0] == 1


_TOKENS = st.sampled_from(
    [
        *"|&;<>()$`\\\"'*?[]{}#~=%! \n\t",
        "$(",
        "${",
        "$((",
        "))",
        "&&",
        "||",
        "<<E\n",
        ">&",
        "2>",
        "echo",
        "cat",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "x",
        "x=1",
        "$x",
        "/data/local/tmp",
        "-",
        "é",
        "\0",
        "\udcff",
        "ls",
        "test",
        "exit",
        "cd",
        "sed",
        "grep",
        "printf",
        "%s",
        "set",
        "--",
        "read",
        "expr",
        "find",
        "sort",
        "head",
        "rm",
    ]
)


@given(st.lists(_TOKENS, max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_the_parser_answers_every_text_with_a_tree_or_a_syntax_error(text: str) -> None:
    try:
        parse(text)
    except ShellSyntaxError as error:
        assert isinstance(error, PhoneError)


@given(st.lists(_TOKENS, max_size=20).map(" ".join))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_line_makes_the_shell_raise(tmp_path: Path, text: str) -> None:
    async def go() -> None:
        phone = Phone(tmp_path)
        sink = CollectingSink()
        shell = Shell(Userland(phone, tmp_path, "fuzz"))
        try:
            async with asyncio.timeout(0.5):
                await shell.run_text(text, {0: BytesSource(b"a b\n"), 1: sink, 2: sink})
        except TimeoutError:
            pass
        for job in shell.jobs.values():
            job.cancel()

    asyncio.run(go())


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A computer whose clocks show another time than the phone's."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_away")
async def test_a_phone_tells_its_own_time_wherever_the_computer_stands(run: Run) -> None:
    assert await run("date -d @1700000000.25 '+%s %N %H:%M %%s'") == (
        0,
        "1700000000 250000000 22:13 %s\n",
        "",
    )
    _, said, _ = await run("date +%s")
    assert abs(int(said) - time.time()) < 1_800


@pytest.mark.parametrize("program", ["su", "bash", "busybox"])
async def test_a_program_that_a_user_build_has_not_is_found_nowhere(run: Run, program: str) -> None:
    gone = f"/system/bin/sh: {program}: inaccessible or not found\n"
    assert await run(f"{program} -c id") == (127, "", gone)
    assert (await run(f"which {program}"))[:2] == (1, "")
    assert (await run(f"command -v {program} || type {program}"))[0] != 0
    assert await run(f"[ -e /system/bin/{program} ] || echo none") == (0, "none\n", "")
    assert program not in (await run("toybox"))[1].split()


async def test_a_file_of_the_system_is_as_long_as_what_is_read_of_it(run: Run) -> None:
    for path in ("/system/build.prop", "/system/etc/hosts", "$(pm path com.android.settings)"):
        length = (
            f"f={path}; f=${{f#package:}}; [ $(stat -c %s $f) = $(cat $f | wc -c) ] && [ -s $f ]"
        )
        assert (await run(length))[0] == 0, path
    assert await run("stat -c %s /proc/version") == (0, "0\n", "")


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("echo tree > f; cp f /dev/tty", "tree\n"),
        ("echo tree > f; cp f /dev/stdout", "tree\n"),
        ("echo tree > f; cp f /proc/self/fd/1", "tree\n"),
        ("echo tree > f; cp f /dev/null; echo $?", "0\n"),
        ("echo old > f; cp /dev/null f; cat f; echo $?", "0\n"),
        ("cp /dev/stdin f; cat f", "said"),
        ("mkdir d; cp -r d /dev/tty 2>/dev/null; echo $?", "1\n"),
    ],
)
async def test_cp_copies_from_and_to_devices(run: Run, line: str, out: str) -> None:
    assert (await run(line, b"said"))[1] == out
