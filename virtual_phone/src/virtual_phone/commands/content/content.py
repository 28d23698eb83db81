"""`content`: query and change content providers from the shell."""

import re

from virtual_phone.commands.content.providers import provider_of
from virtual_phone.commands.content.rows import Provider, Value, select
from virtual_phone.shell.call import Call, CommandError, command

USAGE = """usage: adb shell content [subcommand] [options]

usage: adb shell content insert --uri <URI> [--user <USER_ID>] --bind <BINDING> [--bind <BINDING>...]
usage: adb shell content update --uri <URI> [--user <USER_ID>] [--where <WHERE>]
usage: adb shell content delete --uri <URI> [--user <USER_ID>] [--where <WHERE>]
usage: adb shell content query --uri <URI> [--user <USER_ID>] [--projection <PROJECTION>]
          [--where <WHERE>] [--sort <SORT_ORDER>]"""  # noqa: E501 - as the phone prints it
OPTIONS = frozenset({"--uri", "--user", "--bind", "--where", "--projection", "--sort"})


@command("content", java=True)
async def content(call: Call) -> int:
    """Query and change the providers: settings, SMS, contacts and others."""
    words = list(call.args)
    if not words:
        await call.line(USAGE)
        return 0
    verb = words.pop(0)
    if verb not in ("query", "insert", "update", "delete"):
        raise CommandError(f"[ERROR] Unsupported operation: {verb}\n{USAGE}")
    values: dict[str, list[str]] = {}
    while words:
        option = words.pop(0)
        if option not in OPTIONS:
            raise CommandError(f"[ERROR] Unsupported argument: {option}\n{USAGE}")
        if not words:
            raise CommandError(f"[ERROR] Argument expected after {option}\n{USAGE}")
        values.setdefault(option, []).append(words.pop(0))
    uri = values.get("--uri", [""])[0]
    if not uri:
        raise CommandError(
            "[ERROR] Content provider URI not specified. Did you specify --uri argument?\n" + USAGE
        )
    match = re.fullmatch(r"content://([^/?#]+)/?([^?#]*).*", uri)
    if match is None:
        raise CommandError(f"[ERROR] Not a content URI: {uri}")
    authority, path = match.groups()
    try:
        found = provider_of(call.phone, authority, path)
        if found is None:
            raise CommandError(
                f"java.lang.IllegalStateException: Could not find provider: {authority}"
            )
        await _act(call, verb, found[0], found[1], values)
    except CommandError as error:
        raise CommandError(
            f"Error while accessing provider:{authority}\n{error.message}", error.status
        ) from error
    return 0


async def _act(
    call: Call, verb: str, table: Provider, number: str, values: dict[str, list[str]]
) -> None:
    conditions = [f"({text})" for text in values.get("--where", [])[:1]]
    if number:
        conditions.append(f"_id = {int(number[:18])}")
    where = " AND ".join(conditions)
    if verb == "insert":
        table.insert(dict(_binding(text) for text in values.get("--bind", [])))
        call.phone.invalidate()
        return
    if verb == "query":
        shown = [name for name in values.get("--projection", [""])[0].split(":") if name]
        chosen = select(
            table.rows(),
            table.columns,
            shown=shown,
            where=where,
            order=values.get("--sort", [""])[0],
        )
        if not chosen:
            await call.line("No result found.")
        for at, row in enumerate(chosen):
            said = ", ".join(f"{name}={_value_text(value)}" for name, value in row.items())
            await call.line(f"Row: {at} {said}")
        return
    bound = dict(_binding(text) for text in values.get("--bind", []))
    for row in select(table.rows(), table.columns, shown=(), where=where, order=""):
        if verb == "update":
            table.update(row, bound)
        else:
            table.delete(row)
    call.phone.invalidate()


def _value_text(value: Value) -> str:
    return "NULL" if value is None else str(value)


def _binding(text: str) -> tuple[str, Value]:
    """Return the name and value of NAME:TYPE:VALUE; raise CommandError."""
    name, first, rest = text.partition(":")
    kind, second, value = rest.partition(":")
    if not name or not first or not second:
        raise CommandError(f"[ERROR] Binding not well formed: {text}")
    try:
        match kind:
            case "s":
                return name, value
            case "i" | "l":
                return name, int(value)
            case "f" | "d":
                return name, float(value)
            case "b":
                return name, int(value.lower() == "true")
            case "n":
                return name, None
            case _:
                raise CommandError(f"[ERROR] Unsupported type: {kind}")
    except ValueError as error:
        raise CommandError(f'[ERROR] For input string: "{value}"') from error
