"""`media volume` and `cmd media_session volume`: the volumes that keys and Settings also change.

Not playback, of which the phone has none. Format: Android 14's media_session shell command.
Invariant: a volume stays within its stream's range.
"""

import re

from virtual_phone.shell.call import Call, CommandError, command

STREAMS: dict[int, tuple[str, str, int, int]] = {
    0: ("STREAM_VOICE_CALL", "volume_voice", 1, 7),
    2: ("STREAM_RING", "volume_ring", 0, 7),
    3: ("STREAM_MUSIC", "volume_music", 0, 15),
    4: ("STREAM_ALARM", "volume_alarm", 1, 7),
    5: ("STREAM_NOTIFICATION", "volume_notification", 0, 7),
}
"""Stream to its name, its row in the system settings, and its range."""
MUSIC = 3
USAGE = """usage: media_session [subcommand] [options]
       media_session dispatch KEY
       media_session volume [options]
       media_session list-sessions"""


@command("media", java=True)
async def media(call: Call) -> int:
    """Control volumes; there are no media sessions."""
    return await media_command(call, call.args)


async def media_command(call: Call, words: list[str]) -> int:
    """Run what `media` and `cmd media_session` have in common."""
    match words:
        case ["volume", *rest]:
            return await _volume(call, rest)
        case ["list-sessions"]:
            await call.line("Sessions:")
            return 0
        case ["dispatch", _]:
            return 0
        case _:
            await call.line(USAGE)
            return 0 if not words else 255


async def _volume(call: Call, words: list[str]) -> int:
    stream, wanted, step, gets = MUSIC, "", "", False
    rest = list(words)
    said: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in ("--stream", "--set", "--adj") and not rest:
            raise CommandError(f"Error: no value after {word}", 255)
        match word:
            case "--show":
                pass
            case "--get":
                gets = True
                said.append("will get volume")
            case "--stream":
                stream = _integer(rest.pop(0))
                name = STREAMS[stream][0] if stream in STREAMS else "?"
                said.append(f"will control stream={stream} ({name})")
            case "--set":
                wanted = rest.pop(0)
                said.append(f"will set volume to index={_integer(wanted)}")
            case "--adj":
                step = rest.pop(0)
                if step not in ("raise", "lower", "same"):
                    raise CommandError(f"Error: unknown adjustment {step}", 255)
                said.append("will adjust volume")
            case _:
                raise CommandError(f"Error: unknown option {word}", 255)
    if stream not in STREAMS:
        raise CommandError(f"Error: invalid stream {stream}", 255)
    for line in [*said, "Connecting to AudioService"]:
        await call.line(f"[V] {line}")
    _, row, least, most = STREAMS[stream]
    settings = call.phone.settings
    level = int(settings.number("system", row, least))
    if wanted:
        level = _integer(wanted)
        if not least <= level <= most:
            await call.line(
                f"[E] Error: invalid volume index {level} for stream {stream} "
                f"(should be in [{least}..{most}])"
            )
            return 0
    level = min(max(level + {"raise": 1, "lower": -1}.get(step, 0), least), most)
    if wanted or step:
        settings.put("system", row, str(level))
    if gets:
        await call.line(f"[V] volume is {level} in range [{least}..{most}]")
    return 0


def _integer(text: str) -> int:
    if not re.fullmatch(r"[-+]?\d{1,9}", text):
        raise CommandError(f'java.lang.NumberFormatException: For input string: "{text}"', 255)
    return int(text)
