"""The two themes of Switchboard, and the colour names that its widgets use; each for terminals of
sixteen colours, too.

A table. Invariants: both themes, and every foreign theme through `FALLBACK`, define every name; a
colour that words are written in has a contrast of 4.5:1 to every ground (WCAG 2.2, 1.4.3).
"""

from dataclasses import replace

from textual.theme import Theme

_DARK_NAMES = {
    "muted": "#9ba6b2",
    "faint": "#8793a0",
    "rule": "#28303a",
    "cursor": "#1f2a36",
    "cursor-blurred": "#171d24",
    "live": "#62b6e8",
    "good": "#7cc08a",
    "warn": "#d9b36a",
    "bad": "#e07a74",
    "ask": "#ffc65c",
    "observe": "#62b6e8",
    "model": "#b294e0",
    "act": "#7cc08a",
    "settle": "#7fa0b6",
    "idle": "#8a95a0",
}
_LIGHT_NAMES = {
    "muted": "#525b64",
    "faint": "#5f6870",
    "rule": "#d9d6cf",
    "cursor": "#dfe8ee",
    "cursor-blurred": "#efedE8",
    "live": "#0d69a0",
    "good": "#28723a",
    "warn": "#815a00",
    "bad": "#b3332d",
    "ask": "#985300",
    "observe": "#0d69a0",
    "model": "#7446ad",
    "act": "#28723a",
    "settle": "#4f6a7c",
    "idle": "#5f676d",
}
_SHARED_DARK = {
    **_DARK_NAMES,
    "chip": "bold #101216 on #ffd15c",
    "key": "bold #101418 on #ffc65c",
    "footer-key": "bold #9fc9e6",
    "border": "#28303a",
    "scrollbar": "#2b3440",
    "scrollbar-hover": "#3a4656",
    "scrollbar-active": "#4a586a",
    "scrollbar-background": "#0e1115",
    "scrollbar-background-hover": "#0e1115",
    "scrollbar-background-active": "#0e1115",
    "block-cursor-text-style": "none",
    "input-cursor-background": "#ffc65c",
    "input-cursor-foreground": "#101418",
}
_SHARED_LIGHT = {
    **_LIGHT_NAMES,
    "chip": "bold #101216 on #ffcf4d",
    "key": "bold #ffffff on #985300",
    "footer-key": "bold #0f5f90",
    "border": "#d9d6cf",
    "scrollbar": "#cfccc5",
    "scrollbar-hover": "#b9b6ae",
    "scrollbar-active": "#a3a098",
    "scrollbar-background": "#fbfaf7",
    "scrollbar-background-hover": "#fbfaf7",
    "scrollbar-background-active": "#fbfaf7",
    "block-cursor-text-style": "none",
    "input-cursor-background": "#985300",
    "input-cursor-foreground": "#ffffff",
}

DARK = Theme(
    name="switchboard-dark",
    primary="#62b6e8",
    secondary="#9ba6b2",
    accent="#ffc65c",
    warning="#d9b36a",
    error="#e07a74",
    success="#7cc08a",
    foreground="#d5dbe2",
    background="#0e1115",
    surface="#0e1115",
    panel="#151a20",
    boost="#1b222a",
    dark=True,
    variables=_SHARED_DARK,
)
LIGHT = Theme(
    name="switchboard-light",
    primary="#0d69a0",
    secondary="#525b64",
    accent="#985300",
    warning="#815a00",
    error="#b3332d",
    success="#28723a",
    foreground="#1f2428",
    background="#fbfaf7",
    surface="#fbfaf7",
    panel="#f1efea",
    boost="#e9e6df",
    dark=False,
    variables=_SHARED_LIGHT,
)
FALLBACK = _SHARED_DARK  # What the names mean in a theme that does not define them.

_BLACK, _WHITE, _GREY = "#000000", "#ffffff", "#aaaaaa"
_DARK_SIXTEEN = {
    "muted": _GREY,
    "faint": _GREY,
    "live": "#55ffff",
    "good": "#55ff55",
    "warn": "#ffff55",
    "bad": "#ff5555",
    "ask": "#ffff55",
    "observe": "#55ffff",
    "model": "#ff55ff",
    "act": "#55ff55",
    "settle": _GREY,
    "idle": _GREY,
    "chip": f"bold {_BLACK} on #ffff55",
    "key": f"bold {_BLACK} on #ffff55",
    "footer-key": "bold #55ffff",
}
_LIGHT_SIXTEEN = {
    "muted": _BLACK,
    "faint": _BLACK,
    "live": "#0000aa",
    "good": _BLACK,
    "warn": "#aa0000",
    "bad": "#aa0000",
    "ask": "#aa0000",
    "observe": "#0000aa",
    "model": "#0000aa",
    "act": _BLACK,
    "settle": _BLACK,
    "idle": _BLACK,
    "chip": f"bold {_WHITE} on #0000aa",
    "key": f"bold {_WHITE} on #aa0000",
    "footer-key": "bold #0000aa",
}
"""The nearest of sixteen would be yellow and cyan on white; glyph and word tell states apart."""


def _of_sixteen(theme: Theme, names: dict[str, str]) -> Theme:
    """Return a theme in colours that a terminal of sixteen has, all on one ground.

    A ground of its own for the row under the cursor would be grey, on which grey is not read; the
    bar before the row says where the cursor is.
    """
    paper, ink = (_BLACK, _WHITE) if theme.dark else (_WHITE, _BLACK)
    grounds = {"cursor": paper, "cursor-blurred": paper}
    return replace(
        theme,
        primary=names["live"],
        secondary=names["muted"],
        accent=names["ask"],
        warning=names["warn"],
        error=names["bad"],
        success=names["good"],
        foreground=ink,
        background=paper,
        surface=paper,
        panel=paper,
        boost=paper,
        variables={**theme.variables, **names, **grounds},
    )


SIXTEEN = {
    DARK.name: _of_sixteen(DARK, _DARK_SIXTEEN),
    LIGHT.name: _of_sixteen(LIGHT, _LIGHT_SIXTEEN),
}
"""The themes of terminals that have sixteen colours, by name."""
