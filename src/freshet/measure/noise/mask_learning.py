"""Looks at a page become its mask: what differs as noise does is left out from then on.

Nothing is hidden that stays: every rule is tried on all looks at hand. Where one that was learnt
comes to hide text that lasts, that text is shown again, and where this happens often the rule goes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from freshet.core.errors import SettingsError
from freshet.measure.noise.candidates import MOST_ALIKE, Suspect, fast, instant, passive
from freshet.measure.noise.learning_limits import MOST_DIFFERING_BLOCKS, too_long
from freshet.measure.noise.line_pattern import literal_of, pattern_of
from freshet.measure.noise.mask import Mask, Rule, hidden, rows_at, visible_text
from freshet.measure.noise.observed_looks import MOST_LOOKS, Look
from freshet.measure.noise.page_lines import Page, above, kind_of, left_of, pages_of
from freshet.measure.noise.persistence import LASTS_IN_ROTATION, runs_of
from freshet.measure.noise.rule_evaluator import Past

FEWEST_ROUNDS = 3
FEWEST_ROUNDS_FOR_ELEMENTS = 5
FEWEST_TOGETHER = 3
MOST_SINGLE_BLOCKS = 20
PASSES_OF_A_TRIAL = 3
MOST_RULES = 30
MOST_EXCEPTIONS = 3
_GENERIC = frozenset({"p", "li", "div", "a", "span", "td", "tr", "ul", "section", "article", "b"})


def learn(looks: Sequence[Look], mask: Mask) -> Mask | None:
    """Return a better mask for a page, its version one higher; None where this one serves.

    Only the last few looks count. Rules made by hand stay, and what a user took out stays out.
    Nothing is learnt of a page that is too large.
    """
    if refusal(looks):
        return None
    past = Past(looks[-MOST_LOOKS:])
    better = _without_news(mask, past)
    if len(past.rounds) >= FEWEST_ROUNDS:
        whole = pages_of([look.view for look in past.looks])
        for gather in (instant, fast, passive):
            suspects = gather(_left(whole, past, better), past.looks)
            better = _with_rules(better, suspects, past)
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def corrected(looks: Sequence[Look], mask: Mask) -> Mask | None:
    """Return the mask that shows again what came and stayed; None where it hides no such text.

    Of a page that is too large the mask stays as it is.
    """
    if refusal(looks):
        return None
    better = _without_news(mask, Past(looks[-MOST_LOOKS:]))
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def refusal(looks: Sequence[Look]) -> str:
    """Say why nothing can be learnt from looks at a page; nothing where it can."""
    return next((why for look in looks[-MOST_LOOKS:] if (why := too_long(look.view))), "")


def _without_news(mask: Mask, past: Past) -> Mask:
    """Return a mask that hides nothing that came and stayed."""
    kept = (_corrected(rule, past) for rule in mask.rules)
    return replace(mask, rules=tuple(rule for rule in kept if rule is not None))


def _corrected(rule: Rule, past: Past) -> Rule | None:
    """Return a rule with what came to stay left in sight; None where that is more than a little.

    What was there all along a few looks may be what the rule was learnt beside; all along many, it
    is what the rule has come to hide.
    """
    if rule.by == "hand" or past.is_done:
        return rule
    past.spend()
    is_short = len(past.rounds) <= LASTS_IN_ROTATION
    news = past.lasting(Mask(0, (rule,)), new=is_short, least=LASTS_IN_ROTATION)
    but = (*rule.but, *news)
    return replace(rule, but=but) if len(but) <= MOST_EXCEPTIONS else None


def _left(pages: Sequence[Page], past: Past, mask: Mask) -> list[Page]:
    """Return what the mask leaves of pages."""
    seen = zip(pages, past.looks, strict=True)
    return [left_of(page, hidden(look.view, mask)) for page, look in seen]


def _with_rules(mask: Mask, suspects: Sequence[Suspect], past: Past) -> Mask:
    """Return the mask with what hides the suspects: whole elements where that will do.

    Where very many blocks differ, none of them stands out and no rule is added.
    """
    if len(suspects) > MOST_DIFFERING_BLOCKS:
        return mask
    for path, inside in _common_elements(suspects, past).items():
        mask = _with_element(mask, path, inside, past)
    rest = [suspect for suspect in suspects if not _is_hidden(suspect, mask, past)]
    for suspect in rest if len(rest) <= MOST_SINGLE_BLOCKS else ():
        mask = _with_rule(mask, suspect, past)
    return mask


def _common_elements(suspects: Sequence[Suspect], past: Past) -> dict[str, list[Suspect]]:
    """Return the paths of elements that hold several suspects with these, the outermost first.

    Few looks cannot show that nothing in a whole element stays.
    """
    if len(past.rounds) < FEWEST_ROUNDS_FOR_ELEMENTS:
        return {}
    around: dict[str, list[Suspect]] = {}
    for suspect in suspects:
        for path in above(suspect.path):
            around.setdefault(path, []).append(suspect)
    return {path: inside for path, inside in around.items() if len(inside) >= FEWEST_TOGETHER}


def _with_element(mask: Mask, path: str, inside: Sequence[Suspect], past: Past) -> Mask:
    """Return the mask with a whole element, if nothing in it ever stays."""
    if all(_is_hidden(suspect, mask, past) for suspect in inside):
        return mask
    return _added(mask, path, inside[0].why) if _is_harmless(path, mask, past) else mask


def _with_rule(mask: Mask, suspect: Suspect, past: Past) -> Mask:
    """Return the mask with a rule for a block, if any does and none hides the block already."""
    if _is_hidden(suspect, mask, past):
        return mask
    for what in _forms(suspect, past):
        if _is_harmless(what, mask, past) and _hits(what, suspect, past):
            return _added(mask, what, suspect.why)
    return mask


def _added(mask: Mask, what: str, why: str) -> Mask:
    if sum(rule.by == "learnt" for rule in mask.rules) >= MOST_RULES:
        return mask
    return replace(mask, rules=(*mask.rules, Rule(what, "learnt", why)))


def _is_hidden(suspect: Suspect, mask: Mask, past: Past) -> bool:
    """Say whether the mask's patterns leave nothing of a block that differs, or its path is in.

    It counts as hidden where no work is left, so that nothing more is added.
    """
    past.spend(len(suspect.path) ** 2 // 8 + (1 + len(mask.rules)) * suspect.chars)
    if past.is_done:
        return True
    full = (*above(suspect.path), suspect.path)
    paths = {*full, *map(kind_of, full)}
    if any(rule.is_path and rule.what in paths for rule in mask.rules):
        return True
    if len(suspect.distinct) < 2:
        return not any(past.shows(text, mask) for text in suspect.distinct)
    return len({visible_text(text, mask) for text in suspect.distinct}) < 2


def _forms(suspect: Suspect, past: Past) -> Iterator[str]:
    """Yield ways to say what to hide: a pattern, all elements of a kind, or one element.

    A text that comes and goes is itself the pattern.
    """
    once = suspect.distinct[0] if len(suspect.distinct) == 1 else ""
    flaps = once and len(runs_of(once, [frozenset(each) for each in suspect.texts])) > 1
    pattern = literal_of(once) if flaps else pattern_of(suspect.distinct)
    if pattern is not None:
        yield pattern
    if suspect.path:
        kind = kind_of(suspect.path)
        if kind.rpartition("/")[2] not in _GENERIC or _several(kind, past):
            yield kind
        yield suspect.path


def _several(path: str, past: Past) -> bool:
    return any(len(rows_at(dom, path)) > 1 for dom in past.doms)


def _is_harmless(what: str, mask: Mask, past: Past) -> bool:
    """Say whether a rule hides nothing that stays, that a user wants to see, or that is most."""
    try:
        alone = Mask(0, (Rule(what),))
    except SettingsError:
        return False
    if past.is_done:
        return False
    past.spend(passes=PASSES_OF_A_TRIAL)
    taken_out = Mask(0, tuple(Rule(never) for never in mask.never))
    return not (past.overlap(alone, taken_out) or past.is_most(alone) or past.stays(alone))


def _hits(what: str, suspect: Suspect, past: Past) -> bool:
    """Say whether a pattern takes what differs out of a block's lines, and little else."""
    alone = Mask(0, (Rule(what),))
    if alone.reads_dom:
        return True
    left = {visible_text(text, alone) for text in suspect.distinct}
    few = (
        len(past.hidden_lines(alone, place)) <= max(MOST_ALIKE, len(texts))
        for place, texts in enumerate(suspect.texts)
    )
    return len(left) == 1 and all(few)
