"""Run a parsed shell line on a phone.

Not a terminal and not the ADB service: it reads and writes pipes. Invariant: every loop gives the
event loop a turn and depth is bounded, so no line stops the other phones of the process.
"""

import asyncio
import contextlib
import signal
from typing import assert_never

from virtual_phone.server.pipes import CollectingSink, EmptySource, NullSink, Pipe, Sink, Source
from virtual_phone.shell import syntax
from virtual_phone.shell.call import Call, CommandError, Descriptors, ShellMemoryError, decode
from virtual_phone.shell.expansion import Expander
from virtual_phone.shell.flow import (
    MAX_CALL_DEPTH,
    SHELL_NAME,
    SIGNAL_BASE,
    ExitShell,
    LeaveFunction,
    LeaveLoop,
)
from virtual_phone.shell.parser import ShellSyntaxError, parse
from virtual_phone.shell.patterns import matches
from virtual_phone.shell.programs import run_argv
from virtual_phone.shell.redirection import complain, redirected, shell_text, three
from virtual_phone.shell.state import ShellState
from virtual_phone.userland.processes import Process


class Shell(ShellState):
    """One shell at work."""

    async def run_text(self, text: str, descriptors: Descriptors) -> int:
        """Parse and run a script; return its exit status. Only cancellation is raised."""
        # `exec` changes the descriptors of the shell, not those of whoever started it.
        descriptors = dict(descriptors)
        try:
            return await self._run_text(text, descriptors)
        finally:
            self.let_go()

    async def _run_text(self, text: str, descriptors: Descriptors) -> int:
        try:
            script = parse(text)
        except ShellSyntaxError as error:
            await complain(descriptors, f"{SHELL_NAME}: {error.message}")
            self.status = 1
            return 1
        try:
            self.status = await self.run_script(script, descriptors)
        except ExitShell as leaving:
            self.status = leaving.status
        except (LeaveFunction, LeaveLoop):
            pass
        return await self._at_exit(descriptors)

    async def _at_exit(self, descriptors: Descriptors) -> int:
        trap = self.traps.pop("EXIT", None)
        if trap is not None:
            status = self.status
            with contextlib.suppress(ExitShell, ShellSyntaxError):
                await self.run_script(parse(trap), descriptors)
            self.status = status
        return self.status

    async def run_script(self, script: syntax.Script, descriptors: Descriptors) -> int:
        """Run a list of commands."""
        status = self.status
        for item in script.items:
            status = self.status = await self._and_or(item, descriptors)
        return status

    async def wait_jobs(self) -> None:
        if self.jobs:
            await asyncio.gather(*self.jobs.values(), return_exceptions=True)
            self.jobs.clear()

    # --- lists ---

    async def _and_or(self, item: syntax.AndOr, descriptors: Descriptors) -> int:
        if item.background:
            return self._start_job(item, descriptors)
        status = await self._pipeline(item.first, descriptors)
        for operator, pipeline in item.rest:
            self.status = status
            if (status == 0) == (operator == "&&"):
                status = await self._pipeline(pipeline, descriptors)
        if status and self.exit_on_error and not item.rest and not item.first.negated:
            raise ExitShell(status)
        return status

    def _start_job(self, item: syntax.AndOr, descriptors: Descriptors) -> int:
        shell = self.child()
        shell.pid = self.userland.processes.new_pid()
        streams: Descriptors = {**descriptors, 0: EmptySource()}
        foreground = syntax.AndOr(item.first, item.rest)

        async def job() -> int:
            try:
                return await shell._and_or(foreground, streams)
            except ExitShell as leaving:
                return leaving.status
            finally:
                shell.let_go()

        task = asyncio.create_task(job())
        pid = shell.pid
        first = item.first.commands[0]
        words = first.words if isinstance(first, syntax.Simple) else ()
        label = next((part.text for word in words for part in word if hasattr(part, "text")), "sh")
        self.register(pid, label, label, task)
        self.jobs[pid] = task
        self.last_job_pid = pid
        return 0

    async def run_argv(
        self, argv: list[str], descriptors: Descriptors, *, functions: bool = True
    ) -> int:
        """Run one command by its words; without `functions` only programs (xargs, env, exec)."""
        return await run_argv(self, argv, descriptors, functions=functions)

    def register(self, pid: int, name: str, args: str, task: asyncio.Task[int]) -> None:
        """Put a task into the process table while it runs."""
        user = "root" if self.userland.files.uid == 0 else "shell"

        def stop(number: signal.Signals) -> None:
            task.cancel(number.name)

        processes = self.userland.processes
        processes.add(Process(pid, self.pid, user, name, args, stop))
        task.add_done_callback(lambda _: processes.remove(pid))

    async def _pipeline(self, pipeline: syntax.Pipeline, descriptors: Descriptors) -> int:
        if len(pipeline.commands) == 1:
            status = await self.run_command(pipeline.commands[0], descriptors)
        else:
            status = await self._piped(pipeline.commands, descriptors)
        return int(status == 0) if pipeline.negated else status

    async def _piped(self, commands: tuple[syntax.Command, ...], descriptors: Descriptors) -> int:
        source = descriptors.get(0, EmptySource())
        tasks: list[asyncio.Task[int]] = []

        async def run(command: syntax.Command, streams: Descriptors) -> int:
            shell = self.child()
            # As they were: `exec` may change them.
            first, second = streams[0], streams[1]
            try:
                return await shell.run_command(command, streams)
            except ExitShell as leaving:
                return leaving.status
            except BrokenPipeError:
                return SIGNAL_BASE + signal.SIGPIPE
            finally:
                shell.let_go()
                incoming, outgoing = first, second
                if isinstance(incoming, Pipe) and incoming is not source:
                    incoming.break_off()
                if isinstance(outgoing, Pipe) and outgoing is not last_sink:
                    outgoing.end()

        last_sink = descriptors.get(1)
        incoming: Source | Sink = source
        for index, command in enumerate(commands):
            outgoing: Source | Sink | None = Pipe() if index + 1 < len(commands) else last_sink
            streams: Descriptors = {**descriptors, 0: incoming, 1: outgoing or NullSink()}
            tasks.append(asyncio.create_task(run(command, streams)))
            if isinstance(outgoing, Pipe):
                incoming = outgoing
        try:
            results = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        return results[-1]

    # --- commands ---

    async def run_command(self, command: syntax.Command, descriptors: Descriptors) -> int:
        if isinstance(command, syntax.Simple):
            return await self._simple(command, descriptors)
        if isinstance(command, syntax.Function):
            self.functions[command.name] = command.body
            return 0
        self.depth += 1
        opened = Call(self, [SHELL_NAME], *three(descriptors), environment={})
        try:
            if self.depth > MAX_CALL_DEPTH:
                raise CommandError(f"{SHELL_NAME}: recursion too deep", 1)
            streams = await redirected(
                command.redirects, descriptors, opened, self._expander(descriptors)
            )
            return await self._compound(command, streams)
        except (CommandError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            await complain(descriptors, shell_text(error))
            return error.status if isinstance(error, CommandError) else 1
        finally:
            self.depth -= 1
            opened.close()

    async def _compound(
        self,
        command: syntax.Group | syntax.If | syntax.Loop | syntax.For | syntax.Case,
        streams: Descriptors,
    ) -> int:
        match command:
            case syntax.Group(body=body, subshell=False):
                return await self.run_script(body, streams)
            case syntax.Group(body=body):
                shell = self.child()
                own = dict(streams)
                try:
                    shell.status = await shell.run_script(body, own)
                except ExitShell as leaving:
                    shell.status = leaving.status
                finally:
                    self.kept += shell.kept
                self.jobs |= shell.jobs
                return await shell._at_exit(own)
            case syntax.If(branches=branches, otherwise=otherwise):
                for condition, body in branches:
                    if await self.run_script(condition, streams) == 0:
                        return await self.run_script(body, streams)
                return await self.run_script(otherwise, streams) if otherwise else 0
            case syntax.Loop():
                return await self._loop(command, streams)
            case syntax.For():
                return await self._for(command, streams)
            case syntax.Case():
                expander = self._expander(streams)
                subject = await expander.one(command.subject)
                for patterns, body in command.branches:
                    for pattern in patterns:
                        if matches(await expander.pieces(pattern), subject):
                            return await self.run_script(body, streams) if body.items else 0
                return 0
            case _:
                assert_never(command)

    async def _loop(self, command: syntax.Loop, streams: Descriptors) -> int:
        status = 0
        while True:
            await asyncio.sleep(0)
            if (await self.run_script(command.condition, streams) == 0) == command.negated:
                return status
            try:
                status = await self.run_script(command.body, streams)
            except LeaveLoop as leaving:
                if not _continues(leaving):
                    return 0

    async def _for(self, command: syntax.For, streams: Descriptors) -> int:
        if command.words is None:
            values = list(self.arguments)
        else:
            values = await self._expander(streams).fields(command.words)
        status = 0
        for value in values:
            await asyncio.sleep(0)
            self.assign(command.name, value)
            try:
                status = await self.run_script(command.body, streams)
            except LeaveLoop as leaving:
                if not _continues(leaving):
                    return 0
        return status

    def _expander(self, descriptors: Descriptors) -> Expander:
        async def substitute(script: syntax.Script) -> str:
            sink = CollectingSink()
            shell = self.child()
            if shell.depth > MAX_CALL_DEPTH:
                raise CommandError(f"{SHELL_NAME}: recursion too deep", 1)
            try:
                self.status = await shell.run_script(script, {**descriptors, 1: sink})
            except ExitShell as leaving:
                self.status = leaving.status
            finally:
                shell.let_go()
            return decode(bytes(sink.data)).replace("\0", "")

        return Expander(self, substitute)

    async def _simple(self, command: syntax.Simple, descriptors: Descriptors) -> int:
        opened = Call(self, [SHELL_NAME], *three(descriptors), environment={})
        streams = descriptors
        try:
            expander = self._expander(descriptors)
            argv = await expander.fields(command.words)
            if not argv:
                self.status = 0
            assignments = [(name, await expander.one(value)) for name, value in command.assignments]
            streams = await redirected(
                command.redirects, descriptors, opened, self._expander(descriptors)
            )
            if not argv:
                for name, value in assignments:
                    self.assign(name, value)
                return self.status
            if argv == ["exec"] and command.redirects:
                descriptors.update(streams)
                self.kept.append(opened)
                return 0
            return await run_argv(self, argv, streams, dict(assignments))
        except BrokenPipeError:
            return SIGNAL_BASE + signal.SIGPIPE
        except (CommandError, OSError) as error:
            await complain(streams, shell_text(error))
            if isinstance(error, ShellMemoryError):
                raise ExitShell(error.status) from error
            return error.status if isinstance(error, CommandError) else 1
        finally:
            if opened not in self.kept:
                opened.close()


def _continues(leaving: LeaveLoop) -> bool:
    """Whether the loop that caught this goes on; outer levels are raised further."""
    if leaving.levels > 1:
        raise LeaveLoop(leaving.levels - 1, again=leaving.again)
    return leaving.again
