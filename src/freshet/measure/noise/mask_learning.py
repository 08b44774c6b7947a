"""Looks at a page become its mask: what differs as noise does is left out from then on.

Nothing is hidden that stays: every rule is tried on all looks at hand. Where one that was learnt
comes to hide text that lasts, that text is shown again, and where this happens often the rule goes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from freshet.core.errors import SettingsError
from freshet.measure.noise.candidates import (
    MAX_SIMILAR_LINES,
    NoiseCandidate,
    fast_candidates,
    instant_candidates,
    passive_candidates,
)
from freshet.measure.noise.learning_limits import MAX_DIFFERING_BLOCKS, view_refusal
from freshet.measure.noise.line_pattern import common_pattern, literal_pattern
from freshet.measure.noise.mask import Mask, MaskRule, hidden_spans, rows_at_path, visible_text
from freshet.measure.noise.observed_looks import MAX_LOOKS, NoiseLook
from freshet.measure.noise.page_lines import (
    PageLines,
    ancestor_paths,
    lines_of_views,
    path_without_indices,
    visible_lines,
)
from freshet.measure.noise.persistence import LASTING_BURSTS_IN_ROTATION, text_runs
from freshet.measure.noise.rule_evaluator import RuleEvaluator

MIN_BURSTS = 3
MIN_BURSTS_FOR_ELEMENTS = 5
MIN_CANDIDATES_IN_ELEMENT = 3
MAX_SINGLE_BLOCKS = 20
PASSES_PER_TRIAL = 3
MAX_RULES = 30
MAX_EXCEPTIONS = 3
_GENERIC = frozenset({"p", "li", "div", "a", "span", "td", "tr", "ul", "section", "article", "b"})


def learn_mask(looks: Sequence[NoiseLook], mask: Mask) -> Mask | None:
    """Return a better mask for a page, its version one higher; None where this one serves.

    Only the last few looks count. Rules made by hand stay, and what a user took out stays out.
    Nothing is learnt of a page that is too large.
    """
    if learning_refusal(looks):
        return None
    past = RuleEvaluator(looks[-MAX_LOOKS:])
    better = _without_news(mask, past)
    if len(past.bursts) >= MIN_BURSTS:
        whole = lines_of_views([look.view for look in past.looks])
        for gather in (instant_candidates, fast_candidates, passive_candidates):
            suspects = gather(_left(whole, past, better), past.looks)
            better = _with_rules(better, suspects, past)
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def correct_mask(looks: Sequence[NoiseLook], mask: Mask) -> Mask | None:
    """Return the mask that shows again what came and stayed; None where it hides no such text.

    Of a page that is too large the mask stays as it is.
    """
    if learning_refusal(looks):
        return None
    better = _without_news(mask, RuleEvaluator(looks[-MAX_LOOKS:]))
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def learning_refusal(looks: Sequence[NoiseLook]) -> str:
    """Say why nothing can be learnt from looks at a page; nothing where it can."""
    return next((why for look in looks[-MAX_LOOKS:] if (why := view_refusal(look.view))), "")


def _without_news(mask: Mask, past: RuleEvaluator) -> Mask:
    """Return a mask that hides nothing that came and stayed."""
    kept = (_corrected(rule, past) for rule in mask.rules)
    return replace(mask, rules=tuple(rule for rule in kept if rule is not None))


def _corrected(rule: MaskRule, past: RuleEvaluator) -> MaskRule | None:
    """Return a rule with what came to stay left in sight; None where that is more than a little.

    What was there all along a few looks may be what the rule was learnt beside; all along many, it
    is what the rule has come to hide.
    """
    if rule.by == "hand" or past.is_exhausted:
        return rule
    past.spend_work()
    is_short = len(past.bursts) <= LASTING_BURSTS_IN_ROTATION
    news = past.lasting_lines(
        Mask(0, (rule,)), only_new=is_short, min_bursts=LASTING_BURSTS_IN_ROTATION
    )
    but = (*rule.but, *news)
    return replace(rule, but=but) if len(but) <= MAX_EXCEPTIONS else None


def _left(pages: Sequence[PageLines], past: RuleEvaluator, mask: Mask) -> list[PageLines]:
    """Return what the mask leaves of pages."""
    seen = zip(pages, past.looks, strict=True)
    return [visible_lines(page, hidden_spans(look.view, mask)) for page, look in seen]


def _with_rules(mask: Mask, suspects: Sequence[NoiseCandidate], past: RuleEvaluator) -> Mask:
    """Return the mask with what hides the suspects: whole elements where that will do.

    Where very many blocks differ, none of them stands out and no rule is added.
    """
    if len(suspects) > MAX_DIFFERING_BLOCKS:
        return mask
    for path, inside in _common_elements(suspects, past).items():
        mask = _with_element(mask, path, inside, past)
    rest = [suspect for suspect in suspects if not _is_hidden(suspect, mask, past)]
    for suspect in rest if len(rest) <= MAX_SINGLE_BLOCKS else ():
        mask = _with_rule(mask, suspect, past)
    return mask


def _common_elements(
    suspects: Sequence[NoiseCandidate], past: RuleEvaluator
) -> dict[str, list[NoiseCandidate]]:
    """Return the paths of elements that hold several suspects with these, the outermost first.

    Few looks cannot show that nothing in a whole element stays.
    """
    if len(past.bursts) < MIN_BURSTS_FOR_ELEMENTS:
        return {}
    around: dict[str, list[NoiseCandidate]] = {}
    for suspect in suspects:
        for path in ancestor_paths(suspect.path):
            around.setdefault(path, []).append(suspect)
    return {
        path: inside for path, inside in around.items() if len(inside) >= MIN_CANDIDATES_IN_ELEMENT
    }


def _with_element(
    mask: Mask, path: str, inside: Sequence[NoiseCandidate], past: RuleEvaluator
) -> Mask:
    """Return the mask with a whole element, if nothing in it ever stays."""
    if all(_is_hidden(suspect, mask, past) for suspect in inside):
        return mask
    return _added(mask, path, inside[0].why) if _is_harmless(path, mask, past) else mask


def _with_rule(mask: Mask, suspect: NoiseCandidate, past: RuleEvaluator) -> Mask:
    """Return the mask with a rule for a block, if any does and none hides the block already."""
    if _is_hidden(suspect, mask, past):
        return mask
    for what in _forms(suspect, past):
        if _is_harmless(what, mask, past) and _hits(what, suspect, past):
            return _added(mask, what, suspect.why)
    return mask


def _added(mask: Mask, what: str, why: str) -> Mask:
    if sum(rule.by == "learnt" for rule in mask.rules) >= MAX_RULES:
        return mask
    return replace(mask, rules=(*mask.rules, MaskRule(what, "learnt", why)))


def _is_hidden(suspect: NoiseCandidate, mask: Mask, past: RuleEvaluator) -> bool:
    """Say whether the mask's patterns leave nothing of a block that differs, or its path is in.

    It counts as hidden where no work is left, so that nothing more is added.
    """
    past.spend_work(len(suspect.path) ** 2 // 8 + (1 + len(mask.rules)) * suspect.text_chars)
    if past.is_exhausted:
        return True
    full = (*ancestor_paths(suspect.path), suspect.path)
    paths = {*full, *map(path_without_indices, full)}
    if any(rule.is_path and rule.what in paths for rule in mask.rules):
        return True
    if len(suspect.distinct_texts) < 2:
        return not any(past.leaves_visible(text, mask) for text in suspect.distinct_texts)
    return len({visible_text(text, mask) for text in suspect.distinct_texts}) < 2


def _forms(suspect: NoiseCandidate, past: RuleEvaluator) -> Iterator[str]:
    """Yield ways to say what to hide: a pattern, all elements of a kind, or one element.

    A text that comes and goes is itself the pattern.
    """
    once = suspect.distinct_texts[0] if len(suspect.distinct_texts) == 1 else ""
    flaps = once and len(text_runs(once, [frozenset(each) for each in suspect.texts])) > 1
    pattern = literal_pattern(once) if flaps else common_pattern(suspect.distinct_texts)
    if pattern is not None:
        yield pattern
    if suspect.path:
        kind = path_without_indices(suspect.path)
        if kind.rpartition("/")[2] not in _GENERIC or _several(kind, past):
            yield kind
        yield suspect.path


def _several(path: str, past: RuleEvaluator) -> bool:
    return any(len(rows_at_path(dom, path)) > 1 for dom in past.doms)


def _is_harmless(what: str, mask: Mask, past: RuleEvaluator) -> bool:
    """Say whether a rule hides nothing that stays, that a user wants to see, or that is most."""
    try:
        alone = Mask(0, (MaskRule(what),))
    except SettingsError:
        return False
    if past.is_exhausted:
        return False
    past.spend_work(passes=PASSES_PER_TRIAL)
    taken_out = Mask(0, tuple(MaskRule(never) for never in mask.never))
    return not (
        past.masks_overlap(alone, taken_out)
        or past.hides_most(alone)
        or past.hides_lasting_text(alone)
    )


def _hits(what: str, suspect: NoiseCandidate, past: RuleEvaluator) -> bool:
    """Say whether a pattern takes what differs out of a block's lines, and little else."""
    alone = Mask(0, (MaskRule(what),))
    if alone.reads_dom:
        return True
    left = {visible_text(text, alone) for text in suspect.distinct_texts}
    few = (
        len(past.hidden_lines(alone, place)) <= max(MAX_SIMILAR_LINES, len(texts))
        for place, texts in enumerate(suspect.texts)
    )
    return len(left) == 1 and all(few)
