"""Small pages with noise on them, looked at over some days."""

from collections.abc import Callable, Sequence
from random import Random

from freshet.core.types import Snapshot, View
from freshet.measure.noise.mask import NO_MASK, Mask
from freshet.measure.noise.mask_learning import learn_mask
from freshet.measure.noise.observed_looks import NoiseLook
from freshet.view.parse import parse_snapshot

HOUR = 3600.0
MONDAY = 1_768_176_000.0
GAPS = (5.0, 9.0, 3.0, 26.0, 7.0, 11.0, 4.0, 30.0, 6.0, 8.0, 13.0)
STANDING = [
    "The harbour lies at the mouth of the river", "Ships call here from all over the north",
    "The museum keeps models of every one of them", "Its doors open when the tide is in",
    "Children learn to tie knots on Sundays", "The old crane still lifts stones",
    "A ferry leaves for the island each morning", "Nobody knows who built the wall",
    "The lamps are lit by hand", "Fog is the town's third industry",
]  # fmt: skip

Body = Callable[[int, float, Random], str]
"""What a page shows of itself at the so-manieth look, at a time; by chance."""


def paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def view(body: str, *, standing: Sequence[str] = STANDING) -> View:
    html = f"<title>t</title><main>{paragraphs(standing)}</main>{body}"
    return parse_snapshot(Snapshot("https://example.org/", html.encode()), dom=True)


def times(count: int, gaps: Sequence[float] = GAPS) -> list[float]:
    moments = [MONDAY + 8.4 * HOUR]
    while len(moments) < count:
        moments.append(moments[-1] + HOUR * gaps[(len(moments) - 1) % len(gaps)])
    return moments


def looks(body: Body, count: int = 9, gaps: Sequence[float] = GAPS) -> list[NoiseLook]:
    rng = Random(7)
    return [
        NoiseLook(view(body(number, time, rng)), time)
        for number, time in enumerate(times(count, gaps))
    ]


def twice(body: Body, count: int = 4, gaps: Sequence[float] = GAPS) -> list[NoiseLook]:
    """Return looks of which the last one was made twice at once."""
    rng = Random(7)
    noise_looks = [
        NoiseLook(view(body(number, time, rng)), time)
        for number, time in enumerate(times(count, gaps))
    ]
    last = noise_looks[-1].time
    return [*noise_looks, NoiseLook(view(body(count - 1, last, rng)), last, "instant")]


def rules(noise_looks: Sequence[NoiseLook], mask: Mask = NO_MASK) -> list[str]:
    """Return what the learner would hide."""
    better = learn_mask(noise_looks, mask)
    return [rule.what for rule in better.rules] if better else []
