"""Hand-made pages in the styles of well-known software, with the posts that they show."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from freshet.core.types import Snapshot

PAGES = Path(__file__).parent / "pages"


@dataclass(frozen=True)
class ThreadPage:
    """A page, the moment of its visit, and its posts: time (UTC), author and start of the text."""

    name: str
    url: str
    visited: str
    posts: tuple[tuple[str, str, str], ...]

    @property
    def snapshot(self) -> Snapshot:
        body = (PAGES / f"{self.name}.html").read_bytes()
        return Snapshot(self.url, body, 200, (("Content-Type", "text/html; charset=utf-8"),))

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.visited).replace(tzinfo=UTC)


THREADS = (
    ThreadPage(
        "phpbb", "http://garden.example/viewtopic.php?f=2&t=88", "2009-03-06T08:30",
        (
            ("2009-03-03T15:12", "tapdancer", "The outside tap drips"),
            ("2009-03-03T16:40", "brass_fan", "Have a look at the valve seat"),
            ("2009-03-04T07:03", "tapdancer", "The seat it was."),
            ("2009-03-04T23:26", "Old Well", "Same here since 1998"),
        ),
    ),
    ThreadPage(
        "vbulletin", "http://motor.example/showthread.php?t=4410", "2012-03-07T14:30",
        (
            ("2012-03-05T00:15", "snowplough", "Which winter tyres"),
            ("2012-03-05T02:02", "gravel", "Mine hum above 120"),
            ("2012-03-05T11:48", "snowplough", "Which size do you have?"),
            ("2012-03-07T03:22", "Ulrike", "There is a test of fourteen sets"),
            ("2012-03-07T13:05", "gravel", "Good test. 205/55"),
        ),
    ),
    ThreadPage(
        "discourse", "https://bread.example/t/sharing-a-sourdough-starter/812", "2023-06-01T00:00",
        (
            ("2023-05-02T07:10:03", "mira", "I have too much starter."),
            ("2023-05-02T09:45:51", "joost", "Dry it on baking paper"),
            ("2023-05-02T21:00:17", "hana", "Please send me some!"),
            ("2023-05-04T06:31:40", "mira", "Flakes are on their way"),
        ),
    ),
    ThreadPage(
        "github_issue", "https://git.example/kettle/boil/issues/42", "2024-02-20T00:00",
        (
            ("2024-02-11T14:20:05", "ines-m", "Start the program after deleting"),
            ("2024-02-12T08:02:44", "okafor", "I can repeat it on Linux."),
            ("2024-02-12T08:40:09", "ines-m", "Shall I send a patch?"),
            ("2024-02-14T17:15:30", "okafor", "Yes please, with a test."),
        ),
    ),
    ThreadPage(
        "pipermail", "http://lists.example/pipermail/weavers/2025-October/000121.html",
        "2025-10-20T00:00",
        (("2025-10-01T08:00:00", "Astrid Holm", "Dear all, which reed do you use"),),
    ),
    ThreadPage(
        "lore", "https://lists.example/pump-devel/a1@x/T/", "2025-10-20T00:00",
        (
            ("2025-10-01T10:00", "Petra Lind", "The pump runs on when the tank is empty"),
            ("2025-10-01T13:37", "Tomás Vega", "How long does the sensor take to report?"),
            ("2025-10-02T06:12", "Petra Lind", "About two seconds with the new firmware."),
            ("2025-10-03T22:59", "Jo Baker", "Applied, thanks."),
        ),
    ),
    ThreadPage(
        "hacker_news", "https://wire.example/item?id=39001", "2024-03-01T17:10",
        (
            ("2024-03-01T12:20:30", "tockman", "I built one in 1987"),
            ("2024-03-01T12:41:07", "quartz", "How do you keep the grains dry?"),
            ("2024-03-01T13:02:55", "dunes", "A bag of silica in the base"),
        ),
    ),
    ThreadPage(
        "lemmy", "https://woods.example/post/7001", "2024-07-01T14:40",
        (
            ("2024-07-01T08:30:12", "fern", "Found on a wet roof"),
            ("2024-07-01T09:05:00", "spore", "Looks like fire moss"),
            ("2024-07-01T09:47:21", "fern", "Thank you, that fits"),
            ("2024-07-01T13:12:45", "bark@trees.example", "Please leave it there"),
        ),
    ),
    ThreadPage(
        "mastodon", "https://bay.example/@lena/110001", "2023-05-01T00:00",
        (
            ("2023-04-28T05:31:02", "Lena", "First swifts of the year"),
            ("2023-04-28T06:02:55", "Okko", "Here too, eleven of them"),
            ("2023-04-28T11:40:00", "Mare", "None yet on our side"),
            ("2023-04-29T04:10:33", "Lena", "Give them a day!"),
        ),
    ),
    ThreadPage(
        "stack_exchange", "https://cycling.example/questions/5501/why-does-my-chain-skip",
        "2024-05-01T00:00",
        (
            ("2012-03-04T19:15:22", "pedal", "It slips only on the smallest"),
            ("2012-03-04T19:20:01", "crank", "How old is the cassette?"),
            ("2012-03-04T21:09:58", "spokes", "Check that the derailleur hanger"),
            ("2012-03-05T07:44:10", "crank", "A new chain on an old cassette"),
            ("2012-03-07T18:02:33", "pedal", "That was it, nine years old."),
        ),
    ),
)  # fmt: skip
