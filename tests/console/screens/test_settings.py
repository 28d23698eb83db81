"""The settings screen: what is typed is checked, and kept in the file with its comments."""

from pathlib import Path

from agent.config import load_settings
from console.screens.settings import SettingsScreen
from tests.console.conftest import Open, Seat


async def opened(seat: Seat, words: str) -> SettingsScreen:
    await seat.press("comma")
    await seat.until(lambda: isinstance(seat.app.top, SettingsScreen), "the settings")
    screen = seat.app.top
    assert isinstance(screen, SettingsScreen)
    await seat.until(lambda: screen.is_composed, "its widgets")
    await seat.press("slash", *words, "enter")
    await seat.until(lambda: len(screen.table.rows) == 1, "the one setting")
    return screen


async def test_a_value_is_checked_and_kept_with_the_comments(console: Open, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n[run]\n# patience\nmax_steps = 30\n")
    async with console() as seat:
        assert seat.app.settings is not None
        assert seat.app.settings.config_file == file
        screen = await opened(seat, "run.max_steps")
        await seat.press("enter")
        await seat.until(lambda: screen.focused is screen.value_field, "the field")
        screen.value_field.value = "plenty"
        await seat.press("enter")
        await seat.see("run.max_steps cannot be")
        assert "max_steps = 30" in file.read_text()
        screen.value_field.value = "45"
        await seat.press("enter")
        await seat.see("from the next start: 45")
        assert file.read_text() == "# mine\n[run]\n# patience\nmax_steps = 45\n"
        await seat.press("escape", "escape")
        await seat.until(lambda: seat.app.top is seat.deck, "the Deck")
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    assert settings.run.max_steps == 45


async def test_colours_are_seen_before_they_are_chosen_and_kept_only_then(
    console: Open, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n")
    async with console() as seat:
        await seat.press("C")
        await seat.see("switchboard-light")
        assert seat.app.theme == "switchboard-dark"
        await seat.press("down")
        await seat.until(lambda: seat.app.theme == "switchboard-light", "the other colours")
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "the Deck")
        assert seat.app.theme == "switchboard-dark"
        assert file.read_text() == "# mine\n"
        await seat.press("C")
        await seat.see("switchboard-light")
        await seat.press("down", "down", "enter")
        await seat.see("ui.theme is ansi-dark in")
        assert seat.app.theme == "ansi-dark"
    assert file.read_text().startswith("# mine\n")
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    assert settings.ui.theme == "ansi-dark"


async def test_a_theme_is_changed_at_once_and_one_that_is_none_is_not(
    console: Open, tmp_path: Path
) -> None:
    async with console() as seat:
        screen = await opened(seat, "ui.theme")
        await seat.press("enter")
        await seat.until(lambda: screen.focused is screen.value_field, "the field")
        screen.value_field.value = "pink-elephants"
        await seat.press("enter")
        await seat.see("There is no theme")
        screen.value_field.value = "ansi-dark"
        await seat.press("enter")
        await seat.until(lambda: seat.app.theme == "ansi-dark", "the theme")
        assert 'theme = "ansi-dark"' in (tmp_path / "config.toml").read_text()
