"""The picture of a replay: the frame that was seen at this place of the tape, whole or close up."""

from agent.records import LiveFrame
from agent.state.reducer import SessionView, StepItem, Transcript
from console.frames.stills import Source
from console.keys.controllers import Controller
from console.screens.base.console_screen import ConsoleScreen
from console.screens.history.tape import TapeController
from console.steps.stored_frames import FrameReader
from widgets.lists.session_rows import device_name
from widgets.pictures.phone_pane import PhonePane
from widgets.pictures.zoom import FACTORS, Zoom


class FrameController(Controller):
    """What was seen.

    Args:
        screen: the replay.
        tape: what it plays.
    """

    def __init__(self, screen: ConsoleScreen, tape: TapeController) -> None:
        self._screen = screen
        self._tape = tape
        self._frames = FrameReader(self._show_read)

    @property
    def _pane(self) -> PhonePane:
        return self._screen.query_one(PhonePane)

    def show_frame(self) -> None:
        """Show the frame of this place of the tape."""
        view = self._tape.view()
        app = self._screen.console_app
        phone = self._pane
        kept = view.transcript.observation.frame if view and view.transcript.observation else None
        serial = view.session.serial if view else ""
        frame = None
        if kept is not None:
            frame = self._frames.get(app, kept, phone.wanted_px, serial=serial)
            if frame is None:
                # The frame before keeps its own marks and label until this one is there.
                return
        told = view.transcript if view is not None else Transcript()
        seen = told.observation
        phone.show_marks(seen.elements if seen else (), told.touch, told.path)
        phone.show_phone(
            frame,
            name=device_name(serial, app.bridge.state.devices),
            proportions=(kept.width_px, kept.height_px) if kept else (0, 0),
            now_ms=self._tape.playback.now_ms() if self._tape.playback else 0,
            step=_step_number(view),
        )

    def still(self) -> Source | None:
        """Return the picture that may be drawn as an image while it rests."""
        view = self._tape.view()
        seen = view.transcript.observation if view is not None else None
        kept = seen.frame if seen is not None else None
        if view is None or kept is None:
            return None
        serial, stored = view.session.serial, self._screen.console_app.stored

        async def read(width_px: int, height_px: int) -> LiveFrame:
            return await stored.large(kept, (width_px, height_px), serial=serial)

        return Source(self._pane.frame, read)

    def _show_read(self) -> None:
        if self._screen.is_running and self._screen.is_attached:
            self.show_frame()

    def on_phone_pane_wants(self, _event: PhonePane.Wants) -> None:
        self.show_frame()

    def do_replay_numbers(self) -> None:
        """Show or hide the element numbers."""
        frame = self._pane.frame
        frame.show_numbers(not frame.numbers_shown)

    def do_replay_text(self) -> None:
        """Show the screen of this moment as text, or as a picture."""
        phone = self._pane
        phone.want_text(not phone.wants_text)
        self._look_closely(phone.wants_text)

    def do_replay_closer(self) -> None:
        """Show the frame closer; from the closest, whole again."""
        zoom = self._pane.zoom
        self._zoom_to(Zoom() if zoom.factor == FACTORS[-1] else zoom.closer(1))

    def do_replay_farther(self) -> None:
        """Zoom out of the frame."""
        self._zoom_to(self._pane.zoom.closer(-1))

    def _zoom_to(self, zoom: Zoom) -> None:
        self._pane.look_at(zoom)
        self._look_closely(zoom.factor > 1)

    def _look_closely(self, closely: bool) -> None:
        phone = self._pane
        self._screen.set_class(phone.wants_text or phone.zoom.factor > 1, "-close")
        self._screen.refresh_all()
        self._screen.focus_now(phone.hands if closely else self._screen.query_one("#transcript"))

    def back(self) -> bool:
        if self._pane.zoom.factor == 1:
            return False
        self._zoom_to(Zoom())
        return True


def _step_number(view: SessionView | None) -> int:
    """Return the number of the newest step that has a frame; 0 for none."""
    items = reversed(view.transcript.items) if view is not None else ()
    steps = (one for one in items if isinstance(one, StepItem) and one.frame is not None)
    return next((one.number for one in steps), 0)
