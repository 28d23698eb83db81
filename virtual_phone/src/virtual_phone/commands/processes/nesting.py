"""Commands that run other commands: sh, env, timeout, nohup, time, app_process."""

import asyncio
import itertools

from virtual_phone.commands.options import options
from virtual_phone.commands.processes.running import duration_s
from virtual_phone.numbers import is_number
from virtual_phone.server.pipes import Socket, Source
from virtual_phone.shell.call import TABLE, Call, CommandError, command, decode
from virtual_phone.shell.session import Session

FIRST_APP_UID = 10_000  # AID_APP: below it are the system's own.


@command("sh", "mksh")
async def sh(call: Call) -> int:
    """Run a shell: -c LINE, a script, or commands from stdin."""
    words = list(call.args)
    line: str | None = None
    shell = call.shell.child()
    if shell.depth > 40:
        raise CommandError("/system/bin/sh: recursion too deep")
    shell.pid = call.pid
    shell.variables = dict(call.environment)
    shell.exported = set(call.environment)
    shell.functions = {}
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if "e" in option:
            shell.exit_on_error = True
        if "c" in option:
            if not words:
                raise CommandError("/system/bin/sh: -c: requires an argument")
            line = words.pop(0)
    streams = call.streams
    if line is not None:
        shell.script_name = words[0] if words else call.argv[0]
        shell.arguments = words[1:]
        status = await shell.run_text(line, streams)
    elif words and words[0] != "-":
        try:
            with call.files.open_read(words[0], call.cwd) as file:
                text = decode(file.read(4 * 1024 * 1024))
        except OSError as error:
            raise CommandError(f"/system/bin/sh: {words[0]}: {error.strerror}", 127) from error
        shell.script_name, shell.arguments = words[0], words[1:]
        status = await shell.run_text(text, streams)
    else:
        return await Session(shell, streams, None).run()
    await shell.wait_jobs()
    return status


@command("env", "printenv")
async def env(call: Call) -> int:
    """Show the environment, or run a command in a changed one."""
    words = list(call.args)
    environment = dict(call.environment)
    if call.name == "printenv" and words:
        missing = [word for word in words if word not in environment]
        for word in words:
            if word in environment:
                await call.line(environment[word])
        return int(bool(missing))
    while words and (words[0].startswith("-") or "=" in words[0]):
        word = words.pop(0)
        if word == "-i":
            environment = {}
        elif word == "-u" and words:
            environment.pop(words.pop(0), None)
        elif "=" in word:
            name, _, value = word.partition("=")
            environment[name] = value
    if not words:
        for name, value in environment.items():
            await call.line(f"{name}={value}")
        return 0
    shell = call.shell.child()
    shell.variables, shell.exported = dict(environment), set(environment)
    return await shell.run_argv(words, call.streams, functions=False)


@command("nohup", "setsid", "nice", "time", "toybox")
async def wrapped(call: Call) -> int:
    """Run a command in another way that makes no difference here."""
    words = list(call.args)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-n", "-c") and words:
            words.pop(0)
    if not words:
        if call.name == "toybox":
            await call.line(" ".join(TABLE.names()))
            return 0
        raise CommandError(f'{call.name}: Needs 1 argument (see "{call.name} --help")')
    started = asyncio.get_running_loop().time()
    status = await call.shell.run_argv(words, call.streams, functions=False)
    if call.name == "time":
        spent = asyncio.get_running_loop().time() - started
        await call.err(
            f"    {int(spent // 60)}m{spent % 60:05.2f}s real     0m00.00s user     0m00.00s system"
        )
    return status


@command("timeout")
async def timeout(call: Call) -> int:
    """Run a command for at most some time; 124 when it was ended."""
    found = options(call, "s:k:fvi", leading=True)
    if len(found.operands) < 2:
        raise CommandError('timeout: Needs 2 arguments (see "timeout --help")')
    limit = duration_s(call, found.operands[0])
    try:
        async with asyncio.timeout(limit or None):
            return await call.shell.run_argv(found.operands[1:], call.streams, functions=False)
    except TimeoutError:
        return 124


@command("run-as")
async def run_as(call: Call) -> int:
    """Refuse, as run-as.cpp does: no app of this phone is debuggable."""
    if not call.args:
        usage = "run-as <package-name> [--user <uid>] <command> [<args>]"
        raise CommandError(f"run-as: usage: {usage}\n")
    package = call.args[0]
    if package not in call.phone.packages:
        raise CommandError(f"run-as: unknown package: {package}")
    if call.phone.processes.uid_of(package) < FIRST_APP_UID:
        raise CommandError(f"run-as: package not an application: {package}")
    raise CommandError(f"run-as: package not debuggable: {package}")


@command("nc")
async def nc(call: Call) -> int:
    """Talk to a TCP port of the phone, or listen on one."""
    found = options(call, "lp:w:q:u46tLns:W:")
    words = list(found.operands)
    port = found.text("p") or (words[-1] if words else "")
    if not is_number(port):
        raise CommandError('nc: Needs 1 argument (see "nc --help")')
    if found.any("lL"):
        done = asyncio.Event()

        async def handler(peer: Socket) -> None:
            await _carry(call, peer)
            done.set()

        name = call.userland.sockets.listen(f"tcp:{port}", handler)
        try:
            await done.wait()
        finally:
            call.userland.sockets.close(name, handler)
        return 0
    host = words[0] if len(words) > 1 else "localhost"
    if host not in ("localhost", "127.0.0.1"):
        raise CommandError(f"nc: {host}:{port}: Network is unreachable")
    try:
        peer = call.userland.sockets.connect(f"tcp:{port}")
    except Exception as error:
        raise CommandError("nc: connect: Connection refused") from error
    await _carry(call, peer)
    return 0


async def _carry(call: Call, peer: Socket) -> None:
    async def send(source: Source) -> None:
        while data := await source.read():
            await peer.write(data)
        peer.close_write()

    sending = asyncio.create_task(send(call.stdin))
    try:
        while data := await peer.read():
            await call.stdout.write(data)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        peer.close()


@command("app_process", "app_process64", "dalvikvm", java=True)
async def app_process(call: Call) -> int:
    """Start a Java program by its class: those that the phone has built in."""
    # Options of the virtual machine and the parent folder come first; the class ends them.
    words = list(itertools.dropwhile(lambda word: word.startswith(("-", "/")), call.args))
    if not words:
        raise CommandError("Error: no class name or --zygote supplied.", 1)
    program = call.userland.app_processes.get(words[0])
    if program is None:
        raise CommandError(
            f"Error: Could not find class '{words[0]}'\n"
            f"java.lang.ClassNotFoundException: {words[0]}\nAborted",
            134,
        )
    return await program(call, words[1:])
