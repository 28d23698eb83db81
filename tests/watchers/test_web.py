"""Pages are fetched within bounds, and from nowhere but where they may be."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError, WebError
from agent.watchers.addresses import is_public
from agent.watchers.page_text import LIMIT_CHARS, page_text
from agent.watchers.web import LIMIT_BYTES, checked_url, fetch
from tests.watchers.pages import redirect, serving


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "localhost",
        "",
    ],
)
def test_an_address_of_this_machine_or_its_network_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/x",
        "file:///etc/passwd",
        "http://",
        "https://user:word@example.com/",
        "http://example.com:99999/",
        "http://[::1",
        "javascript:alert(1)",
        "http://exa mple.com/",
        "http://example.com/\r\nHost: other",
    ],
)
def test_what_is_no_page_of_the_web_is_refused_before_it_is_asked_for(url: str) -> None:
    with pytest.raises(UsageError):
        checked_url(url)


async def test_a_page_is_its_words_without_scripts_and_markup() -> None:
    async with serving() as pages:
        pages.bodies["/"] = (
            "<html><head><style>p{}</style><script>var a='<p>no</p>'</script></head>"
            "<body><!-- no --><p class='x'>Tea &amp; cake</p>\n<p>5 &lt; 6</p></body></html>"
        )
        page = await fetch(pages.url(), allow_private=True)
        assert page.text == "Tea & cake\n5 < 6"
        [(_, headers)] = pages.asked
        assert headers["accept-encoding"] == "identity"
        assert "cookie" not in headers
        pages.bodies["/"] = pages.bodies["/"].replace("class='x'", "class='y'")
        assert (await fetch(pages.url(), allow_private=True)).digest == page.digest
        pages.bodies["/"] = pages.bodies["/"].replace("cake", "pie")
        assert (await fetch(pages.url(), allow_private=True)).digest != page.digest


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1"])
async def test_a_page_of_this_machine_is_not_asked_for_however_it_is_named(host: str) -> None:
    async with serving() as pages:
        pages.bodies["/"] = "secret"
        with pytest.raises(WebError, match="not on the internet"):
            await fetch(pages.url(host=host))
        assert pages.asked == []


async def test_a_redirect_to_this_network_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as public, serving() as private:
        public.replies["/"] = redirect(private.url("/admin", host="inner.example"))
        private.bodies["/admin"] = "secret"

        async def resolve(host: str, _port: int) -> Sequence[str]:
            return ["127.0.0.1"] if host == "outer.example" else ["10.0.0.1"]

        # Loopback, and nothing else, plays the internet: the second hop is judged by itself.
        monkeypatch.setattr("agent.watchers.web.is_public", lambda address: address == "127.0.0.1")
        with pytest.raises(WebError, match=r"inner\.example is at 10\.0\.0\.1"):
            await fetch(
                public.url(host="outer.example"), resolve=resolve, destinations=["inner.example"]
            )
        assert [path for path, _ in public.asked] == ["/"]
        assert private.asked == []


async def test_a_name_is_resolved_once_so_it_cannot_change_its_mind() -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    async with serving() as pages:
        pages.bodies["/"] = "tea"
        page = await fetch(pages.url(host="rebind.example"), allow_private=True, resolve=resolve)
        assert (page.text, asked) == ("tea", ["rebind.example"])


async def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34", "127.0.0.1"]

    with pytest.raises(WebError, match="not on the internet"):
        await fetch("http://mixed.example/", resolve=resolve)


async def test_no_more_of_a_page_is_read_than_its_limit() -> None:
    async with serving() as pages:
        endless = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + b"tea " * LIMIT_BYTES
        pages.replies["/"] = endless
        page = await fetch(pages.url(), allow_private=True)
        assert len(page.text) == LIMIT_CHARS


async def test_a_page_that_drips_ends_with_its_time() -> None:
    async with serving() as pages:
        pages.bodies["/"] = "tea" * 1000
        pages.drips_s = 0.05
        with pytest.raises(WebError, match=r"within 0\.5 s"):
            await fetch(pages.url(), allow_private=True, timeout_s=0.5)


async def test_what_went_wrong_is_said() -> None:
    async with serving() as pages:
        pages.replies["/round"] = redirect("/round")
        pages.replies["/file"] = redirect("file:///etc/passwd")
        packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"
        pages.replies["/packed"] = packed
        pages.replies["/broken"] = b"\x00\x01\x02\r\n\r\n"
        for path, said in (
            ("/missing", "status 404"),
            ("/round", "more than 5 times"),
            ("/file", "not a page"),
            ("/packed", "as gzip"),
            ("/broken", "could not be reached"),
        ):
            with pytest.raises(WebError, match=said):
                await fetch(pages.url(path), allow_private=True)
    with pytest.raises(WebError, match="could not be reached"):
        await fetch(pages.url(), allow_private=True)


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="<>/!-?=\"' scriptyle&;\n\0é", max_size=300))
def test_whatever_a_page_is_made_of_it_has_words_and_no_tag_of_a_script(body: str) -> None:
    text = page_text(body, is_html=True)
    assert "\0" not in text
    assert len(text) <= LIMIT_CHARS


def test_a_page_of_nothing_but_beginnings_takes_no_longer_for_it() -> None:
    for piece in ("<script", "<!--", "<", "<style>", "</"):
        assert len(page_text(piece * (LIMIT_BYTES // len(piece)), is_html=True)) <= LIMIT_CHARS


async def test_what_is_not_ascii_is_followed_as_it_goes_over_the_wire() -> None:
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with serving() as pages:
        pages.replies["/"] = redirect("/tée?q=ü")
        pages.bodies["/t%C3%A9e?q=%C3%BC"] = "tea"
        page = await fetch(pages.url(host="téa.example"), allow_private=True, resolve=resolve)
        assert (page.text, set(asked)) == ("tea", {"xn--ta-bja.example"})
        pages.replies["/raw"] = redirect("AT").replace(b"AT", b"http://\xe9\xff/")
        with pytest.raises(WebError, match="not a page"):
            await fetch(pages.url("/raw"), allow_private=True)


async def test_a_page_in_a_charset_that_is_slow_to_read_is_read_as_utf8() -> None:
    body = b"-" + b"a" * (LIMIT_BYTES - 1)
    async with serving() as pages:
        for name in (b"punycode", b"PunyCode", b"idna"):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=" + name
            pages.replies["/"] = head + b"\r\nConnection: close\r\n\r\n" + body
            page = await fetch(pages.url(), allow_private=True)
            assert page.text == "-" + "a" * (LIMIT_CHARS - 2) + page.text[-1]


async def test_a_redirect_leads_to_the_page_s_own_site_or_where_the_operator_allows() -> None:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with serving() as pages, serving() as other:
        other.bodies["/taken?from=here"] = "taken"
        pages.bodies["/"] = "home"
        pages.replies["/away"] = redirect(other.url("/taken?from=here", host="evil.example"))
        pages.replies["/up"] = redirect(pages.url("/", host="www.shop.example"))
        away, up = (pages.url(path, host="shop.example") for path in ("/away", "/up"))
        with pytest.raises(WebError, match=r"redirects to another site, evil\.example"):
            await fetch(away, allow_private=True, resolve=resolve)
        assert other.asked == []
        assert (await fetch(up, allow_private=True, resolve=resolve)).text == "home"
        page = await fetch(away, allow_private=True, resolve=resolve, destinations=["evil.example"])
        assert page.text == "taken"


@pytest.mark.parametrize(
    "query",
    [
        "?leak=4111111111111111",
        "?leak=4111%2F1111%2F1111%2F1111",
        "/4111-1111-1111-1111/x",
        "?q=password%3A%20hunter2",
        "?q=password%253A%2520hunter2",
        "?otp%3D482911",
    ],
)
def test_an_address_that_carries_a_secret_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="looks like a secret"):
        checked_url(f"https://shop.example{query}")
