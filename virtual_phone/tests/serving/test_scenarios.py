"""Starting states by name: each changes the phone, the same way each time, also by the channel."""

from pathlib import Path

import pytest

from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.server.channel import AskState, BeginScenario, Reset
from virtual_phone.server.remote import ask
from virtual_phone.state.scenarios import SCENARIOS, begin


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_a_scenario_changes_what_a_phone_holds_or_shows(name: str, tmp_path: Path) -> None:
    phone = Phone(tmp_path / "phone", name="examined")
    before = phone.state(), phone.tasks.top()
    begin(phone, name)
    assert (phone.state(), phone.tasks.top()) != before
    phone.reset()
    begin(phone, name)


async def test_a_scenario_begins_in_the_process_that_serves(serial: str, homes: Path) -> None:
    ask(homes, Reset(phone=serial))
    ask(homes, BeginScenario(phone=serial, name="wifi-off"))
    state = ask(homes, AskState(phone=serial)).state
    assert state is not None and state["wifi"] is False
    with pytest.raises(PhoneError, match="no scenario"):
        ask(homes, BeginScenario(phone=serial, name="on-the-moon"))
    ask(homes, Reset(phone=serial))
