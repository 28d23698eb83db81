"""Run as a program by the system's Python: a window with VTE, and a program in it."""

import sys

import gi  # type: ignore[import-not-found]

gi.require_version("Gtk", "3.0")
gi.require_version("Vte", "2.91")
from gi.repository import GLib, Gtk, Vte  # type: ignore[import-not-found] # noqa: E402

window, terminal = Gtk.Window(title="vte"), Vte.Terminal()
terminal.set_size(120, 40)
window.add(terminal)
window.connect("destroy", Gtk.main_quit)
terminal.connect("child-exited", Gtk.main_quit)


def pressed(_: object, event: object) -> bool:
    if (event.state & 5) == 5 and event.keyval in (ord("V"), ord("v")):  # type: ignore[attr-defined]
        terminal.paste_clipboard()
        return True
    return False


terminal.connect("key-press-event", pressed)
terminal.spawn_async(
    Vte.PtyFlags.DEFAULT, None, sys.argv[1:], None, GLib.SpawnFlags.DEFAULT, None, None, -1, None
)
window.show_all()
Gtk.main()
