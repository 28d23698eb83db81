"""What an empty field says: whole, or with "…" where it has no room."""

from textual.app import App, ComposeResult

from tests.console.waiting import wait_for
from widgets.base.hint_input import HintInput, fitted


class Desk(App[None]):
    """One field as wide as the terminal."""

    def compose(self) -> ComposeResult:
        yield HintInput(hint="An action, session, phone or setting", compact=True)


async def test_a_hint_is_cut_with_an_ellipsis_and_whole_again_where_there_is_room() -> None:
    app = Desk()
    async with app.run_test(size=(20, 5)) as pilot:
        field = app.query_one(HintInput)
        width = field.content_size.width
        assert field.placeholder.endswith("…") and len(field.placeholder) == width
        field.hint = "Filter"
        assert field.placeholder == "Filter"
        field.hint = "An action, session, phone or setting"
        await pilot.resize_terminal(80, 5)
        await wait_for(pilot, lambda: field.placeholder == field.hint, field.hint)


def test_a_field_that_is_not_laid_out_yet_keeps_its_hint() -> None:
    assert fitted("An action", 0) == "An action"
