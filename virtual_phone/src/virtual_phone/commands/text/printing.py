"""Commands that make text: echo, printf, cat, seq, yes, date, test and what describes the phone."""

import asyncio
import re
import time
from datetime import UTC, datetime

from virtual_phone.commands.options import options, whole_number
from virtual_phone.shell.call import Call, CommandError, command, decode
from virtual_phone.userland.proc import KERNEL

MAX_WIDTH = 100_000
_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    "e": "\x1b",
}


def unescape(text: str) -> tuple[str, bool]:
    """Expand `echo -e` escapes; the second value says that `\\c` ended the output."""
    out: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\" or at + 1 >= len(text):
            out.append(text[at])
            at += 1
            continue
        code = text[at + 1]
        at += 2
        if code == "c":
            return "".join(out), True
        if code in _SIMPLE:
            out.append(_SIMPLE[code])
        elif code == "x" and (found := re.match(r"[0-9a-fA-F]{1,2}", text[at:])):
            out.append(decode(bytes([int(found.group(), 16)])))
            at += found.end()
        elif code == "0" or code in "1234567":
            start = at if code == "0" else at - 1
            octal = re.match(r"[0-7]{0,3}", text[start:])
            digits = octal.group() if octal else ""
            out.append(decode(bytes([int(digits or "0", 8) & 0xFF])))
            at = start + len(digits)
        else:
            out.append("\\" + code)
    return "".join(out), False


@command("echo", inline=True)
async def echo(call: Call) -> int:
    """Write the words; -n without a newline, -e with escapes."""
    words = call.args
    newline, escapes = True, False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        newline = newline and "n" not in words[0]
        escapes = "e" in words[0] or (escapes and "E" not in words[0])
        words = words[1:]
    text = " ".join(words)
    ended = False
    if escapes:
        text, ended = unescape(text)
    await call.out(text + ("\n" if newline and not ended else ""))
    return 0


_FORMAT = re.compile(r"%([-+ #0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]*))?([diouxXeEfgGcsbq%])")


@command("printf", inline=True)
async def printf(call: Call) -> int:
    """Format the words; the format is used again while words remain."""
    if not call.args:
        raise CommandError('printf: needs 1 argument (see "printf --help")')
    template, words = call.args[0], list(call.args[1:])
    first = True
    while first or words:
        before = len(words)
        first = False
        text, ended = _printf_once(call, template, words)
        await call.out(text)
        if ended or len(words) == before:
            break
    return 0


def _printf_once(call: Call, template: str, words: list[str]) -> tuple[str, bool]:
    out: list[str] = []
    at = 0
    for match in _FORMAT.finditer(template):
        literal, ended = unescape(template[at : match.start()])
        out.append(literal)
        if ended:
            return "".join(out), True
        at = match.end()
        flags, width, precision, kind = match.groups()
        if kind == "%":
            out.append("%")
            continue
        width = (words.pop(0) if words else "0") if width == "*" else width
        precision = (words.pop(0) if words else "0") if precision == "*" else precision
        spec = f"%{flags}{_field(call, width)}"
        if precision is not None and not precision.startswith("-"):
            spec += f".{_field(call, precision)}"
        word = words.pop(0) if words else ""
        if kind == "b":
            piece, ended = unescape(word)
            out.append(f"{spec}s" % piece)
            if ended:
                return "".join(out), True
        elif kind in "sq":
            out.append(f"{spec}s" % word)
        elif kind == "c":
            out.append(f"{spec}s" % word[:1])
        elif kind in "eEfgG":
            out.append(f"{spec}{kind}" % _float(word))
        else:
            kind = "d" if kind in "iu" else kind
            out.append(f"{spec}{kind}" % _c_number(call, word))
    literal, ended = unescape(template[at:])
    out.append(literal)
    return "".join(out), ended


def _field(call: Call, text: str | None) -> str:
    """Return a width or a precision as Python spells it; what is no number counts as none."""
    found = re.fullmatch("(-?)0*([0-9]+)", text or "")
    if found is None:
        return ""
    sign, digits = found.groups()
    if len(digits) > len(str(MAX_WIDTH)) or int(digits) > MAX_WIDTH:
        raise CommandError(f"{call.name}: field too wide")
    return sign + digits


def _float(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _c_number(call: Call, text: str) -> int:
    if text[:1] in "'\"" and len(text) > 1:
        return ord(text[1])
    try:
        octal = re.fullmatch(r"[-+]?0[0-7]+", text)
        return int(text, 8) if octal else int(text or "0", 0)
    except ValueError as error:
        raise CommandError(f"{call.name}: bad number '{text}'") from error


@command("cat")
async def cat(call: Call) -> int:
    """Copy files, or stdin, to stdout."""
    found = options(call, "ue")
    status = 0
    for path in found.operands or ["-"]:
        try:
            source = call.open_source(path)
            while data := await source.read(256 * 1024):
                await call.stdout.write(data)
                await asyncio.sleep(0)
        except BrokenPipeError:
            raise
        except OSError as error:
            status = await call.fail(f"{path}: {error.strerror}")
    return status


@command("seq")
async def seq(call: Call) -> int:
    """Count."""
    found = options(call, "s:w", leading=True) if not _negative(call) else None
    words = found.operands if found else call.args
    numbers = [whole_number(call, word) for word in words]
    if not 1 <= len(numbers) <= 3:
        raise CommandError('seq: Needs 1 argument (see "seq --help")')
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0:
        raise CommandError("seq: step 0")
    separator = unescape(found.text("s", "\n"))[0] if found else "\n"
    at, last, started = first, numbers[-1], False
    while (at <= last) if step > 0 else (at >= last):
        await call.out((separator if started else "") + str(at))
        started = True
        at += step
        await asyncio.sleep(0)
    if started:
        await call.out("\n")
    return 0


def _negative(call: Call) -> bool:
    return any(re.fullmatch(r"-\d+", word) for word in call.args)


@command("yes")
async def yes(call: Call) -> int:
    """Write a line again and again."""
    block = ((" ".join(call.args) or "y") + "\n") * 100
    while True:
        await call.out(block)
        await asyncio.sleep(0)


@command("true", inline=True)
async def true(call: Call) -> int:
    """Succeed."""
    del call
    return 0


@command("false", inline=True)
async def false(call: Call) -> int:
    """Fail."""
    del call
    return 1


@command("pwd", inline=True)
async def pwd(call: Call) -> int:
    """Name the working directory."""
    await call.line(call.cwd)
    return 0


@command("basename", inline=True)
async def basename(call: Call) -> int:
    """Take the last part of a path."""
    if not call.args:
        raise CommandError('basename: Needs 1 argument (see "basename --help")')
    name = call.args[0].rstrip("/").rpartition("/")[2] or ("/" if "/" in call.args[0] else "")
    suffix = call.args[1] if len(call.args) > 1 else ""
    await call.line(name.removesuffix(suffix) if suffix != name else name)
    return 0


@command("dirname", inline=True)
async def dirname(call: Call) -> int:
    """Take all but the last part of a path."""
    for path in call.args:
        head, slash, _ = path.rstrip("/").rpartition("/")
        await call.line(head or ("/" if slash or path.startswith("/") else "."))
    return 0


@command("date")
async def date(call: Call) -> int:
    """Print the time; setting it needs root."""
    found = options(call, "ud:r:D:", leading=True)
    at = call.userland.now()
    if "d" in found:
        text = found.text("d")
        if not re.fullmatch(r"@\d+(\.\d+)?", text):
            raise CommandError(f"date: bad date '{text}'")
        at = float(text[1:])
    if "r" in found:
        at = call.files.stat(found.text("r"), call.cwd).mtime
    template = "+%a %b %e %H:%M:%S %Z %Y"
    if found.operands:
        if not found.operands[0].startswith("+"):
            raise CommandError("date: cannot set date: Operation not permitted")
        template = found.operands[0]
    # Python knows no %N, and has the C library do %s, which takes the time for one of its own zone.
    ours = {"%N": f"{at % 1:.9f}"[2:], "%s": str(int(at))}
    template = re.sub(r"%.", lambda found: ours.get(found[0], found[0]), template[1:])
    try:
        text = datetime.fromtimestamp(at, UTC).strftime(template)
    except (ValueError, OverflowError, OSError) as error:
        raise CommandError("date: bad date") from error
    await call.line(text)
    return 0


@command("uptime")
async def uptime(call: Call) -> int:
    """Print how long the phone is up."""
    seconds = int(call.userland.uptime_s())
    now = time.strftime("%H:%M:%S", time.gmtime(call.userland.now()))
    up = (
        f"{seconds // 3600}:{seconds // 60 % 60:02d}" if seconds >= 3600 else f"{seconds // 60} min"
    )
    await call.line(f" {now} up {up},  0 users,  load average: 0.08, 0.03, 0.01")
    return 0


@command("uname", inline=True)
async def uname(call: Call) -> int:
    """Name the system."""
    found = options(call, "asnrvmo")
    parts = {
        "s": "Linux",
        "n": "localhost",
        "r": KERNEL,
        "v": "#1 SMP PREEMPT Thu Oct  5 08:12:31 UTC 2023",
        "m": "x86_64",
        "o": "Android",
    }
    chosen = [value for key, value in parts.items() if "a" in found or key in found]
    await call.line(" ".join(chosen or ["Linux"]))
    return 0
