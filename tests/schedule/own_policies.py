"""Policies as a user writes them."""

import sys
from dataclasses import replace
from datetime import datetime

import numpy as np

from freshet.core.tables import ChoiceTable, HostCaps, VisitTable
from freshet.core.types import FloatArray
from freshet.schedule.rules.ranking_rule import RankingRule, RowArray


class NewestFirst(RankingRule):
    """Visits the page added last first, among those seen equally long ago."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        return self.page_states.days_since_look(rows, now) + 1e-9 * self.page_states.ids[rows]


class Unmakeable(NewestFirst):
    """A policy whose constructor takes no seed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)


class ScoreRaises(RankingRule):
    """A policy whose scores cannot be computed."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        raise RuntimeError("no score")


class ScoreExits(RankingRule):
    """A policy that ends the program."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        sys.exit(0)


class ScoreIsNaN(RankingRule):
    """A policy that divides by zero."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        return np.full(len(rows), np.nan)


class ScoreIsShort(RankingRule):
    """A policy that leaves out a page."""

    def score(self, rows: RowArray, now: float) -> FloatArray:
        return np.ones(len(rows) - 1)


class LearnRaises(NewestFirst):
    """A policy that cannot learn from visits."""

    def learn(self, visits: VisitTable) -> None:
        raise FileNotFoundError("no table")


class ChooseRaises(NewestFirst):
    """A policy that cannot choose."""

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        raise RuntimeError("no choice")


class ChoosesUnknown(NewestFirst):
    """A policy that chooses pages which it was not given."""

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices = super().choose(now, k, caps)
        return replace(choices, pages=choices.pages + 1_000)


class ChoosesTooMany(NewestFirst):
    """A policy that ignores the number of pages."""

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        return super().choose(now, k + 1, caps)


class ChoosesTwice(NewestFirst):
    """A policy that chooses one page twice."""

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices = super().choose(now, k, caps)
        return replace(choices, pages=np.full(len(choices), choices.pages[0]))


class ChoosesNothing(NewestFirst):
    """A policy that returns no table."""

    def choose(self, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        return None  # type: ignore[return-value]


class LearnBreaks(NewestFirst):
    """A policy that cannot learn any more after a few batches of visits."""

    batches = 0

    def learn(self, visits: VisitTable) -> None:
        self.batches += 1
        if self.batches > 5:
            raise RuntimeError("table is full")
        super().learn(visits)
