from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import ContentKind, Outcome, Snapshot, View
from freshet.measure.block_phrases import (
    CHALLENGE_MARKUP,
    NEEDS_SCRIPT,
    PHRASE_RULES,
    PhraseRule,
)
from freshet.measure.outcome import OutcomeVerdict, classify_outcome

MakeView = Callable[..., View]

ARTICLE = "The council met on Tuesday and spoke at length about roads and bridges. " * 100
NAVIGATION = tuple(f"https://example.org/{number}" for number in range(30))


def answer(status: int = 200, body: str = "<p>text", **headers: str) -> Snapshot:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Snapshot("https://example.org/", body.encode(), status, named)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (301, Outcome.REDIRECT),
        (304, Outcome.NOT_MODIFIED),
        (307, Outcome.REDIRECT),
        (400, Outcome.CLIENT_ERROR),
        (401, Outcome.DENIED),
        (403, Outcome.DENIED),
        (404, Outcome.GONE),
        (410, Outcome.GONE),
        (418, Outcome.CLIENT_ERROR),
        (429, Outcome.THROTTLED),
        (451, Outcome.DENIED),
        (500, Outcome.SERVER_ERROR),
        (503, Outcome.SERVER_ERROR),
        (522, Outcome.SERVER_ERROR),
        (0, Outcome.UNREADABLE),
        (103, Outcome.UNREADABLE),
        (999, Outcome.UNREADABLE),
    ],
)
def test_a_status_other_than_success_decides(status: int, outcome: Outcome) -> None:
    assert classify_outcome(answer(status), None) == OutcomeVerdict(outcome, f"status {status}")


def test_an_ordinary_page_is_a_look(view_of: MakeView) -> None:
    verdict = classify_outcome(answer(), view_of(ARTICLE, title="Council meets", links=NAVIGATION))
    assert verdict == OutcomeVerdict(Outcome.OK)
    assert verdict.outcome.is_look


def test_no_content_is_empty(view_of: MakeView) -> None:
    assert classify_outcome(answer(204, body=""), None).outcome is Outcome.EMPTY
    assert classify_outcome(answer(body="\n"), view_of()).outcome is Outcome.EMPTY


def test_a_page_that_shows_nothing_is_empty(view_of: MakeView) -> None:
    verdict = classify_outcome(answer(body="<html><body><div></div></body>"), view_of())
    assert verdict.outcome is Outcome.EMPTY
    assert verdict.why != NEEDS_SCRIPT


def test_a_page_that_scripts_would_fill_is_empty_and_says_so(view_of: MakeView) -> None:
    body = "<div id=root></div><noscript><img src=pixel></noscript><script src=app.js></script>"
    verdict = classify_outcome(answer(body=body), view_of(title="Shop"))
    assert verdict.outcome is Outcome.EMPTY
    assert verdict.why == NEEDS_SCRIPT


def test_a_page_that_asks_for_scripts_is_empty_and_says_so(view_of: MakeView) -> None:
    view = view_of("You need to enable JavaScript to run this app.")
    verdict = classify_outcome(answer(), view)
    assert verdict.outcome is Outcome.EMPTY
    assert verdict.why == NEEDS_SCRIPT


@pytest.mark.parametrize("body", ["<IMG src=cat.png>", "<video src=v></video><script></script>"])
def test_a_page_of_pictures_alone_is_not_empty(body: str, view_of: MakeView) -> None:
    assert classify_outcome(answer(body=body), view_of()).outcome is Outcome.OK


def test_a_page_of_links_alone_is_not_empty(view_of: MakeView) -> None:
    assert classify_outcome(answer(), view_of(links=NAVIGATION)).outcome is Outcome.OK


@pytest.mark.parametrize(
    "kind", [ContentKind.BINARY, ContentKind.JSON, ContentKind.FEED, ContentKind.SITEMAP]
)
def test_files_without_text_are_not_empty(kind: ContentKind, view_of: MakeView) -> None:
    assert classify_outcome(answer(body="[]"), view_of(kind=kind)).outcome is Outcome.OK


every_sign = pytest.mark.parametrize(
    "sign", PHRASE_RULES, ids=[sign.phrases[0] for sign in PHRASE_RULES]
)


@every_sign
def test_every_phrase_tells_in_the_title_of_a_short_page(
    sign: PhraseRule, view_of: MakeView
) -> None:
    for phrase in sign.phrases:
        title = phrase.upper() if phrase.isascii() else phrase
        assert (
            classify_outcome(answer(), view_of("few words", title=title)).outcome is sign.outcome
        ), phrase


@every_sign
def test_no_phrase_tells_on_a_long_page(sign: PhraseRule, view_of: MakeView) -> None:
    for phrase in sign.phrases:
        view = view_of(f"{phrase}\n{ARTICLE}", title=phrase)
        assert classify_outcome(answer(), view).outcome is Outcome.OK, phrase


@every_sign
def test_no_phrase_tells_within_a_sentence(sign: PhraseRule, view_of: MakeView) -> None:
    for phrase in sign.phrases:
        view = view_of(f"Our guide explains what {phrase} means.", title=f"On {phrase} and more")
        assert classify_outcome(answer(), view).outcome is Outcome.OK, phrase


@pytest.mark.parametrize(
    ("title", "text", "outcome"),
    [
        ("Just a moment...", "example.org\nChecking the site connection security", "captcha"),
        ("Attention Required! | Cloudflare", "Please complete the captcha", "captcha"),
        ("Robot Check", "Enter the characters you see below\nSorry", "captcha"),
        ("", "Making sure you\u2019re not a bot!\nLoading...", "captcha"),
        ("Pardon Our Interruption", "As you were browsing something made us think", "captcha"),
        ("example.org", "Please enable JS and disable any ad blocker", "captcha"),
        ("Access Denied", "You don't have permission to access this on this server.", "denied"),
        ("Too Many Requests", "Slow down", "throttled"),
        ("404 - Page not found | Example", "Go home", "soft-404"),
        ("Oops! That page can\u2019t be found. - Example", "Search", "soft-404"),
        ("Example: Seite nicht gefunden", "Zur Startseite", "soft-404"),
        ("Erreur 404", "Retour", "soft-404"),
        ("", "# 404 Error\n\nPage not found... yet", "soft-404"),
        ("Страница не найдена", "Главная", "soft-404"),
        ("404", "Home", "soft-404"),
        ("502 Bad Gateway", "nginx", "error-page"),
        ("", "Error establishing a database connection", "error-page"),
        ("", "Fatal error: Uncaught Error: Call to undefined function in /index.php", "error-page"),
        ("Account Suspended", "Contact your hosting provider", "error-page"),
        ("Welcome to nginx!", "If you see this page, the server is installed.", "error-page"),
        ("Site Maintenance", "Back shortly", "error-page"),
        ("Shop", "Loading…", "empty"),
    ],
)
def test_pages_seen_in_the_wild_are_recognised(
    title: str, text: str, outcome: str, view_of: MakeView
) -> None:
    assert classify_outcome(answer(), view_of(text, title=title)).outcome == outcome


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404 Media", "Latest stories"),
        ("Forbidden City tours", "Book a guide"),
        ("Captcha solvers compared", "Our pick of the best"),
        ("Page not found handling in Django", "Write a handler404 view"),
        ("Server error codes", "A short list"),
        ("Contact", "404 East Street\nPhone"),
        ("Loading docks", "Rent a warehouse"),
        ("Moments", "Just a moment in time, a poem"),
        ("Status", "All systems operational\nScheduled maintenance: none"),
        ("Gone fishing", "Back on Monday"),
    ],
)
def test_short_pages_that_only_sound_alike_are_looks(
    title: str, text: str, view_of: MakeView
) -> None:
    assert classify_outcome(answer(), view_of(text, title=title)).outcome is Outcome.OK


def test_a_form_with_a_captcha_on_an_ordinary_page_is_a_look(view_of: MakeView) -> None:
    view = view_of("Contact us\nName\nI'm not a robot\nSend", title="Contact", links=NAVIGATION)
    assert classify_outcome(answer(), view).outcome is Outcome.OK


def test_a_text_file_can_say_that_it_is_not_there(view_of: MakeView) -> None:
    view = view_of("404 Not Found", kind=ContentKind.TEXT)
    assert classify_outcome(answer(), view).outcome is Outcome.SOFT_404


@pytest.mark.parametrize("mark", CHALLENGE_MARKUP)
def test_a_challenge_is_known_by_its_markup_on_a_short_page_only(
    mark: bytes, view_of: MakeView
) -> None:
    snapshot = answer(body=f"<script>{mark.decode()}</script>")
    assert classify_outcome(snapshot, view_of("one moment")).outcome is Outcome.CAPTCHA
    assert classify_outcome(snapshot, view_of(ARTICLE)).outcome is Outcome.OK


def test_a_challenge_is_known_by_its_header(view_of: MakeView) -> None:
    view = view_of(ARTICLE)
    assert classify_outcome(answer(cf_mitigated="challenge"), view).outcome is Outcome.CAPTCHA
    assert (
        classify_outcome(answer(202, x_amzn_waf_action="captcha"), view).outcome is Outcome.CAPTCHA
    )


def test_a_challenge_behind_a_refusal_is_named_as_one(view_of: MakeView) -> None:
    view = view_of("Verify you are human", title="Just a moment...")
    assert classify_outcome(answer(403), view).outcome is Outcome.CAPTCHA
    assert classify_outcome(answer(429), view).outcome is Outcome.THROTTLED
    assert classify_outcome(answer(403), view_of("Forbidden")).outcome is Outcome.DENIED


@given(title=st.text(max_size=80), text=st.text(max_size=200), body=st.binary(max_size=80))
def test_any_page_is_judged(view_of: MakeView, title: str, text: str, body: bytes) -> None:
    snapshot = Snapshot("https://example.org/", body)
    assert isinstance(classify_outcome(snapshot, view_of(text, title=title)), OutcomeVerdict)
