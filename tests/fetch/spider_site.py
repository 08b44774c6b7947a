"""A small web site for spiders: links, a form, a session, feeds, a sitemap, errors, redirects."""

import asyncio
from urllib.parse import parse_qs, urlsplit

from tests.fetch.servers import Exchange

TEXT = "the river rose in spring and the fields along it were green again that year"
LINKS = {
    "/": ("/list/1", "/list/2", "/about", "/private/x"),
    "/list/1": ("/item/1", "/item/2", "/list/2"),
    "/list/2": ("/item/2", "/item/3", "/item/4", "/"),
    "/item/1": ("/item/2",),
    "/item/2": (),
    "/item/3": ("/deep/1",),
    "/item/4": (),
    "/about": ("/item/1",),
    "/private/x": (),
    "/deep/1": ("/deep/2",),
    "/deep/2": ("/deep/3",),
    "/deep/3": (),
    "/file.txt": (),
}
REDIRECTS = {
    "/moved": (301, "/moved-again"),
    "/moved-again": (302, "/item/3"),
    "/to-seen": (302, "/item/3"),
    "/circle": (302, "/circle"),
    "/keeps-method": (307, "/echo"),
    "/kept-by-spider": (302, "/item/1"),
}
FEED = "".join(f"<item><id>{number}</id><name>n{number}</name></item>" for number in range(4))
TABLE = "id,name\n" + "".join(f"{number},c{number}\n" for number in range(4))


async def answer(exchange: Exchange) -> None:
    """Answer as the path says."""
    path = urlsplit(exchange.entry.path).path
    if path in LINKS:
        await exchange.answer(_page(exchange, path))
    elif path in REDIRECTS:
        await exchange.body()
        status, location = REDIRECTS[path]
        await exchange.answer("", status, location=location)
    elif path in SPECIAL:
        await SPECIAL[path](exchange)
    else:
        await exchange.answer("<title>none</title>", 404)


def _page(exchange: Exchange, path: str) -> str:
    links = "".join(f'<a href="{link}">{link}</a> ' for link in LINKS[path])
    outside = f'<a href="{exchange.url.replace("127.0.0.1", "localhost")}/outside">out</a>'
    return f"<title>{path}</title><p>{TEXT} {path}</p>{links}{outside if path == '/' else ''}"


async def _form(exchange: Exchange) -> None:
    fields = '<input name="user"><input type="hidden" name="token" value="t1">'
    await exchange.answer(f'<form action="/login" method="post">{fields}</form>')


async def _login(exchange: Exchange) -> None:
    user = parse_qs((await exchange.body()).decode()).get("user", ["nobody"])[0]
    await exchange.answer("", 303, location="/welcome", set_cookie=f"session={user}; Path=/")


async def _welcome(exchange: Exchange) -> None:
    await exchange.answer(f"<p>{exchange.entry.header('cookie') or 'no cookie'}</p>")


async def _echo(exchange: Exchange) -> None:
    body = (await exchange.body()).decode()
    await exchange.answer("" if exchange.entry.method == "HEAD" else exchange.entry.method + body)


async def _flaky(exchange: Exchange) -> None:
    """Fail twice in every three times."""
    is_good = exchange.entry.number % 3 == 2
    await exchange.answer(f"<p>{TEXT}</p>", 200 if is_good else 500)


async def _busy(exchange: Exchange) -> None:
    await exchange.answer("", 503, retry_after="3600")


async def _broken(exchange: Exchange) -> None:
    exchange.reset()


async def _refresh(exchange: Exchange) -> None:
    await exchange.answer('<meta http-equiv="refresh" content="0;url=/item/4">')


async def _offsite(exchange: Exchange) -> None:
    url = exchange.url.replace("127.0.0.1", "localhost")
    await exchange.answer("", 302, location=f"{url}/outside")


async def _index(exchange: Exchange) -> None:
    await _xml(exchange, f"<sitemapindex><sitemap><loc>{exchange.url}/map.xml</loc></sitemap>", "x")


async def _map(exchange: Exchange) -> None:
    urls = "".join(f"<url><loc>{exchange.url}{path}</loc></url>" for path in list(LINKS)[:7])
    await _xml(exchange, f"<urlset>{urls}", "urlset")


async def _feed(exchange: Exchange) -> None:
    await _xml(exchange, f"<items>{FEED}", "items")


async def _table(exchange: Exchange) -> None:
    await exchange.answer(TABLE, content_type="text/csv")


async def _slow(exchange: Exchange) -> None:
    await asyncio.sleep(0.05)
    await exchange.answer(f"<title>slow</title>{TEXT}")


async def _xml(exchange: Exchange, text: str, end: str) -> None:
    end = "sitemapindex" if end == "x" else end
    await exchange.answer(f"<?xml version='1.0'?>{text}</{end}>", content_type="text/xml")


SPECIAL = {
    "/form": _form,
    "/login": _login,
    "/welcome": _welcome,
    "/echo": _echo,
    "/flaky": _flaky,
    "/broken": _broken,
    "/busy": _busy,
    "/refresh": _refresh,
    "/offsite": _offsite,
    "/sitemap.xml": _index,
    "/map.xml": _map,
    "/feed.xml": _feed,
    "/table.csv": _table,
    "/slow": _slow,
}
