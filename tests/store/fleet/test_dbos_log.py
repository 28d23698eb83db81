"""What DBOS says reaches no log in its own words."""

from __future__ import annotations

import logging

import pytest

pytest.importorskip("dbos", reason="the extra fleet is not installed")
from agent.store.postgres.dbos_engine import _Plain


def test_what_the_library_says_is_told_by_its_place_alone_and_not_again_and_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    library = logging.Logger("a library")
    library.addHandler(_Plain())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            try:
                raise ConnectionError("postgresql://rack:hunter2@db SELECT secret")
            except ConnectionError as error:
                library.exception("[SQL: SELECT secret] %s", error)
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"The queue of turns: {__name__.rpartition('.')[2]}.{_NAME} (ConnectionError)"]
    assert "hunter2" not in caplog.text
    assert "SELECT" not in caplog.text


_NAME = test_what_the_library_says_is_told_by_its_place_alone_and_not_again_and_again.__name__
