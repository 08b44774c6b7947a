from dataclasses import replace
from random import Random

import pytest

from freshet.core.clock import from_epoch
from freshet.measure.change.compare import compare
from freshet.measure.noise.mask import NO_MASK, Mask, MaskRule, visible_view_text
from freshet.measure.noise.mask_learning import correct_mask, learn_mask
from freshet.measure.noise.observed_looks import NoiseLook, burst_indices
from freshet.measure.noise.persistence import LASTING_BURSTS_IN_ROTATION, text_runs
from tests.measure.noise.pages import (
    HOUR,
    MONDAY,
    STANDING,
    Body,
    looks,
    paragraphs,
    rules,
    times,
    twice,
    view,
)

DAILY = (24.0,)
TREES = "amber birch cedar dune ember fjord grove heath inlet juniper kelp larch moor"
WORDS = TREES.split()


def said(rng: Random, count: int = 5) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def stamp(_number: int, time: float, rng: Random) -> str:
    return f"<p>Page made on {from_epoch(time):%d %B %Y %H:%M:%S} UTC in {rng.random():.4f} s</p>"


def visitors(_number: int, time: float, rng: Random) -> str:
    return f"<p>You are visitor number {int(time) % 10**7}; {rng.randint(3, 900)} are online</p>"


def advert(_number: int, _time: float, rng: Random) -> str:
    return f"<aside><p>Advertisement: {said(rng)}!</p></aside>"


def unnamed_advert(_number: int, _time: float, rng: Random) -> str:
    return f"<aside><p>{said(rng)}</p></aside>"


def two_adverts(number: int, time: float, rng: Random) -> str:
    return advert(number, time, rng) + "<p>Between them</p>" + advert(number, time, rng)


def nonce(_number: int, _time: float, rng: Random) -> str:
    return f"<p>Your session is {rng.getrandbits(60):x}</p>"


def ago(_number: int, _time: float, rng: Random) -> str:
    return f"<p>Updated {rng.randint(2, 59)} minutes ago</p>"


def clock(_number: int, time: float, _rng: Random) -> str:
    return f"<p>Es ist {from_epoch(time + 2 * HOUR):%H:%M} Uhr</p>"


def praise(number: int, _time: float, _rng: Random) -> str:
    names = ("Ada praises the fish", "Bo loves the view", "Cy came twice", "Di stays", "Ed sings")
    return f"<blockquote>{names[(0, 3, 1, 4, 2, 0, 1, 3, 2, 4, 1, 0)[number]]}</blockquote>"


def counter_in_a_sentence(_number: int, time: float, _rng: Random) -> str:
    return f"<p>Our kitchen has served {int(time / 40)} bowls of soup. Thursdays are closed.</p>"


DRAWN = [stamp, visitors, advert, two_adverts, nonce, ago]
NOISES = [*DRAWN, clock, praise]


def left_unchanged(body: Body, mask: Mask) -> bool:
    """Say whether two later looks at the page, a month on, are the same under a mask."""
    rng = Random(99)
    first = view(body(1, MONDAY + 700 * HOUR, rng))
    second = view(body(2, MONDAY + 711 * HOUR, rng))
    return not compare(first, second, mask=mask).changed


@pytest.mark.parametrize("body", [*NOISES, counter_in_a_sentence])
def test_what_differs_at_every_look_while_the_rest_stands_still_is_learnt(body: Body) -> None:
    mask = learn_mask(looks(body), NO_MASK)
    assert mask is not None
    assert left_unchanged(body, mask)
    assert mask.version == 1
    assert all(rule.by == "learnt" and rule.why for rule in mask.rules)


@pytest.mark.parametrize("body", [*DRAWN, unnamed_advert])
def test_what_differs_between_two_looks_at_once_is_learnt_from_few_looks(body: Body) -> None:
    mask = learn_mask(twice(body), NO_MASK)
    assert mask is not None
    assert left_unchanged(body, mask)
    assert {rule.why for rule in mask.rules} == {"differed in 1 of 1 instant burst"}


@pytest.mark.parametrize("body", [*NOISES, counter_in_a_sentence])
def test_news_beside_noise_is_seen_under_the_mask(body: Body) -> None:
    mask = learn_mask(looks(body), NO_MASK)
    assert mask is not None
    rng = Random(5)
    old = view(body(1, MONDAY, rng))
    new = view(body(2, MONDAY + HOUR, rng), standing=[*STANDING, "The bridge is open"])
    assert compare(old, new, mask=mask).changed


def test_the_pattern_of_a_clock_holds_tomorrow_and_next_month() -> None:
    assert rules(looks(stamp)) == ["Page made on # * # #:#:# UTC in #.# s"]


def test_what_stands_around_a_counter_stays_visible() -> None:
    assert rules(looks(counter_in_a_sentence)) == ["Our kitchen has served # bowls of soup"]


def test_an_element_without_a_standing_text_is_known_by_its_path() -> None:
    assert rules(looks(praise)) == ["/html/body/blockquote"]


def test_a_price_that_changes_daily_is_not_hidden() -> None:
    def price(_number: int, time: float, _rng: Random) -> str:
        return f"<p>Herring today: {12 + time // 86_400 % 7:.0f}.40 crowns</p>"

    assert rules(looks(price, 12)) == []
    assert rules(looks(price, 12, DAILY)) == []


def test_a_list_of_headlines_that_are_always_new_is_not_hidden() -> None:
    def headlines(_number: int, _time: float, rng: Random) -> str:
        return "<ul>" + "".join(f"<li>{said(rng, 7)}</li>" for _ in range(8)) + "</ul>"

    assert rules(looks(headlines, 12)) == []


def test_a_list_of_prices_that_are_always_new_is_not_hidden() -> None:
    def prices(_number: int, _time: float, rng: Random) -> str:
        return paragraphs([f"{word} {rng.randint(100, 999)}" for word in WORDS[:8]])

    assert rules(looks(prices, 12)) == []


def test_a_page_that_changes_everywhere_gets_no_mask() -> None:
    rng = Random(3)
    noise_looks = [
        NoiseLook(view(visitors(0, time, rng), standing=[said(rng, 9) for _ in range(8)]), time)
        for time in times(12)
    ]
    assert rules(noise_looks) == []


def test_a_counter_that_only_goes_with_news_is_not_hidden() -> None:
    posts = [f"Post {said(Random(number), 6)}" for number in range(30)]
    noise_looks = [
        NoiseLook(view(f"<p>{9 + n} posts in this thread</p>{paragraphs(posts[: 9 + n])}"), time)
        for n, time in enumerate(times(12))
    ]
    assert rules(noise_looks) == []


def test_a_stale_copy_beside_a_new_one_is_no_noise() -> None:
    old, new = view("<p>The mayor will speak at noon</p>"), view("<p>The mayor has spoken</p>")
    moments = times(5)
    noise_looks = [NoiseLook(old, time) for time in moments]
    assert rules([*noise_looks, NoiseLook(new, moments[-1], "instant")]) == []


def test_numbers_that_count_on_within_minutes_are_noise() -> None:
    rng, noise_looks = Random(1), []
    for time in times(3):
        noise_looks.append(NoiseLook(view(ago(0, time, rng)), time))
        noise_looks.append(NoiseLook(view(ago(0, time, rng)), time + 120, "fast"))
    mask = learn_mask(noise_looks, NO_MASK)
    assert mask is not None
    assert [rule.what for rule in mask.rules] == ["Updated # minutes ago"]
    assert mask.rules[0].why == "counted on in 3 of 3 fast bursts"


def test_lasting_news_that_a_learnt_rule_comes_to_hide_is_shown_again() -> None:
    mask = Mask(4, (MaskRule("/html/body/aside", "learnt"), MaskRule("/html/body/nav")))
    bodies = ["<aside>a</aside>", "<aside>b</aside>", *["<aside>The bridge is open</aside>"] * 5]
    noise_looks = [NoiseLook(view(body), time) for body, time in zip(bodies, times(7), strict=True)]
    assert correct_mask(noise_looks[:-1], mask) is None
    shown = MaskRule("/html/body/aside", "learnt", but=("The bridge is open",))
    assert (
        learn_mask(noise_looks, mask)
        == correct_mask(noise_looks, mask)
        == Mask(5, (shown, MaskRule("/html/body/nav")))
    )
    assert visible_view_text(noise_looks[-1].view, Mask(5, (shown,))).endswith("The bridge is open")
    assert visible_view_text(noise_looks[0].view, Mask(5, (shown,))).endswith("third industry")


def test_a_learnt_rule_that_hides_lasting_news_again_and_again_goes() -> None:
    lasting = ("one ferry", "two ferries", "three ferries")
    mask = Mask(4, (MaskRule("/html/body/aside", "learnt", but=lasting),))
    bodies = ["<aside>a</aside>", "<aside>b</aside>", *["<aside>The bridge is open</aside>"] * 5]
    noise_looks = [NoiseLook(view(body), time) for body, time in zip(bodies, times(7), strict=True)]
    assert learn_mask(noise_looks, mask) == Mask(5)


def suggestion_looks(suggestions: str) -> list[NoiseLook]:
    """Return looks at a page whose aside shows one suggestion each, named by a letter."""
    moments = times(len(suggestions))
    bodies = [f"<aside>suggestion {letter}</aside>" for letter in suggestions]
    return [NoiseLook(view(body), time) for body, time in zip(bodies, moments, strict=True)]


def test_a_rotating_text_that_stayed_by_chance_is_hidden_when_it_comes_and_goes_again() -> None:
    hidden = MaskRule("/html/body/aside", "learnt")
    shown = replace(hidden, but=("suggestion a",))
    noise_looks = suggestion_looks("abcabdcaeb")
    assert correct_mask(noise_looks, Mask(4, (shown,))) == Mask(5, (hidden,))
    assert learn_mask(noise_looks, Mask(4, (shown,))) == Mask(5, (hidden,))


@pytest.mark.parametrize(
    "suggestions", ["bcaaaaaaaaaa", "bcdaaaaaaaeb", "aaaaaabcdefg", "bcbcbcbcb"]
)
def test_a_text_that_stays_or_stayed_and_did_not_return_remains_visible(suggestions: str) -> None:
    mask = Mask(4, (MaskRule("/html/body/aside", "learnt", but=("suggestion a",)),))
    assert correct_mask(suggestion_looks(suggestions), mask) is None


def test_a_text_that_stays_for_six_looks_in_a_rotating_choice_is_no_news_yet() -> None:
    rng = Random(4)
    hidden = MaskRule("/html/body/aside", "learnt")
    bodies = ["".join(rng.sample("bcdefghijkl", 3)) for _ in range(6)]
    bodies += ["a" + "".join(rng.sample("bcdefghijkl", 2)) for _ in range(6)]
    pages = ("".join(f"<aside>suggestion {letter}</aside>" for letter in body) for body in bodies)
    noise_looks = [NoiseLook(view(page), time) for page, time in zip(pages, times(12), strict=True)]
    assert correct_mask(noise_looks, Mask(4, (hidden,))) is None


def test_a_rule_made_by_hand_stays_whatever_it_hides() -> None:
    mask = Mask(4, (MaskRule("/html/body/aside"),))
    bodies = ["<aside>a</aside>", *["<aside>The bridge is open</aside>"] * 4]
    noise_looks = [NoiseLook(view(body), time) for body, time in zip(bodies, times(5), strict=True)]
    assert learn_mask(noise_looks, mask) is None


@pytest.mark.parametrize("never", ["visitor number #", "/html[0]/body[0]/p[0]"])
def test_what_a_user_took_out_is_never_learnt_again(never: str) -> None:
    assert rules(looks(visitors))
    assert rules(looks(visitors), Mask(3, never=(never,))) == []


def test_what_a_mask_hides_already_is_not_learnt_again() -> None:
    mask = learn_mask(looks(two_adverts), NO_MASK)
    assert mask is not None
    assert learn_mask(looks(two_adverts), mask) is None


def test_what_is_learnt_comes_on_top_of_what_is_masked() -> None:
    by_hand = Mask(2, (MaskRule("Thursdays are closed"),), ("fish",))
    better = learn_mask(looks(stamp), by_hand)
    assert better is not None
    assert better.rules[0] == by_hand.rules[0]
    assert (better.version, better.never, len(better.rules)) == (3, ("fish",), 2)


def test_lines_of_plain_text_are_learnt_without_any_dom() -> None:
    noise_looks = [replace(look, view=replace(look.view, dom=None)) for look in looks(visitors)]
    assert rules(noise_looks) == ["You are visitor number #; # are online"]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_looks_teach_nothing(count: int) -> None:
    assert learn_mask(looks(stamp)[:count], NO_MASK) is None


def test_empty_pages_teach_nothing() -> None:
    assert (
        learn_mask([NoiseLook(view("", standing=[]), time) for time in times(8)], NO_MASK) is None
    )


def test_a_list_that_is_another_one_at_each_visit_goes_as_a_whole() -> None:
    def suggestions(_number: int, _time: float, rng: Random) -> str:
        items = "".join(f"<li><a>{said(rng, 7)}</a></li>" for _ in range(6))
        return f"<div><h2>You may also like</h2><ul>{items}</ul></div>"

    assert rules(twice(suggestions, 5)) == ["/html[0]/body[0]/div[0]/ul[0]"]


def test_a_list_in_which_something_stays_is_not_hidden_as_a_whole() -> None:
    def mixed(_number: int, _time: float, rng: Random) -> str:
        items = [said(rng, 7) for _ in range(4)]
        return "<ul>" + "".join(f"<li>{text}</li>" for text in ["Home port", *items]) + "</ul>"

    learnt = rules(twice(mixed, 5))
    assert learnt == [f"/html[0]/body[0]/ul[0]/li[{index}]" for index in (1, 2, 3, 4)]


def test_a_text_that_comes_and_goes_is_hidden_as_it_stands() -> None:
    def flapping(number: int, _time: float, _rng: Random) -> str:
        extra = "<li>Sell Globally with us</li>" if number % 2 else ""
        return f"<ul><li>Careers at the port</li>{extra}<li>Terms of use</li></ul>"

    noise_looks = looks(flapping, 6)
    again = NoiseLook(view(flapping(6, 0.0, Random(1))), noise_looks[-1].time, "instant")
    assert rules([*noise_looks, again]) == ["Sell Globally with us"]


def test_a_line_that_no_element_holds_alone_is_known_by_how_it_begins() -> None:
    def incident(_number: int, _time: float, rng: Random) -> str:
        return f"<p>Ask for help.<br>Incident ID: {rng.getrandbits(64):x}-by{rng.random()}</p>"

    assert rules(looks(incident)) == ["Incident ID: *"]
    assert rules(twice(incident)) == ["Incident ID: *"]


def random_history(rng: Random) -> list[NoiseLook]:
    """Return looks at a page whose lines stay, change now and then, or differ at each of them."""
    pool = [said(rng, 6) for _ in range(5)]
    lines, noise_looks = [said(rng, 6) for _ in range(6)], []
    for time in times(rng.randint(3, 12)):
        for index in range(len(lines)):
            if rng.random() < 0.15:
                lines[index] = said(rng, 6)
        noise = [f"Seen {rng.randint(1, 999)} times", rng.choice(pool), f"Advert: {said(rng, 3)}"]
        shown = [*lines, *noise[: rng.randint(0, 3)]]
        if rng.random() < 0.1:
            rng.shuffle(shown)
        since = rng.choice(["apart", "apart", "instant", "fast"])
        noise_looks.append(NoiseLook(view(paragraphs(shown), standing=lines[:3]), time, since))  # type: ignore[arg-type]
    return noise_looks


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_learnt_hides_no_text_that_stays(seed: int) -> None:
    noise_looks = random_history(Random(seed))
    mask = learn_mask(noise_looks, NO_MASK)
    if mask is None:
        return
    first_indices = [indices[0] for indices in burst_indices(noise_looks)]
    shown = [frozenset(noise_looks[index].view.text.split("\n")) for index in first_indices]
    for text in frozenset().union(*shown):
        runs = text_runs(text, shown)
        longest = max(runs, key=lambda run: run[1])
        if longest[1] >= LASTING_BURSTS_IN_ROTATION:
            last = noise_looks[first_indices[sum(longest) - 1]].view
            assert text in visible_view_text(last, mask)


def test_some_of_the_random_histories_teach_a_mask() -> None:
    assert (
        sum(learn_mask(random_history(Random(seed)), NO_MASK) is not None for seed in range(40)) > 5
    )


def test_learning_twice_from_the_same_looks_gives_the_same_mask() -> None:
    for seed in range(10):
        noise_looks = random_history(Random(seed))
        assert learn_mask(noise_looks, NO_MASK) == learn_mask(noise_looks, NO_MASK)


def test_where_everything_differs_at_once_no_block_is_singled_out() -> None:
    def chaos(_number: int, _time: float, rng: Random) -> str:
        return paragraphs([f"{word} {said(rng)}" for word in WORDS * 2])

    assert rules(twice(chaos)) == []


def test_an_identifier_drawn_for_each_visit_is_learnt_at_any_pace() -> None:
    def guest(_number: int, _time: float, rng: Random) -> str:
        return f"<p>Welcome, guest{rng.randrange(10**9, 10**10)}</p>"

    def incident(_number: int, _time: float, rng: Random) -> str:
        return (
            f"<p>Ask for help.<br>Incident ID: {rng.getrandbits(64):x}-by{rng.getrandbits(32)}</p>"
        )

    assert rules(looks(guest, 9, DAILY)) == ["Welcome, guest#"]
    assert rules(looks(incident, 9, DAILY)) == ["Incident ID: *"]


def test_a_number_that_grows_by_the_day_stays_visible() -> None:
    def copies(number: int, _time: float, _rng: Random) -> str:
        return f"<p>Copies sold so far: {12_345_678 + 4321 * number}</p>"

    assert rules(looks(copies, 12, DAILY)) == []
