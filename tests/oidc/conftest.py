"""An OpenID provider on loopback."""

from collections.abc import Iterator

import pytest

from tests.oidc.provider import Provider, provider


@pytest.fixture
def idp() -> Iterator[Provider]:
    with provider() as one:
        yield one
