"""Learn the mask of a page from its looks.

No rule hides text that stays: every rule is tried on all looks. Where a learned rule hides text
that came to stay, that text becomes visible again; a rule with several such texts is removed. A
text that had stayed by chance, and comes and goes again, is hidden again.
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
_GENERIC_ELEMENTS = frozenset({
    "p", "li", "div", "a", "span", "td", "tr", "ul", "section", "article", "b",
})  # fmt: skip


def learn_mask(looks: Sequence[NoiseLook], mask: Mask) -> Mask | None:
    """Return a better mask for a page, its version one higher; None if there is none.

    Only the last few looks count. Manual rules stay, and rules that a user removed are not added
    again. Nothing is learned from a page that is too large.
    """
    if learning_refusal(looks):
        return None
    evaluator = RuleEvaluator(looks[-MAX_LOOKS:])
    better = _without_lasting_text(mask, evaluator)
    if len(evaluator.bursts) >= MIN_BURSTS:
        pages = lines_of_views([look.view for look in evaluator.looks])
        for find_candidates in (instant_candidates, fast_candidates, passive_candidates):
            candidates = find_candidates(_visible_pages(pages, evaluator, better), evaluator.looks)
            better = _with_rules(better, candidates, evaluator)
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def correct_mask(looks: Sequence[NoiseLook], mask: Mask) -> Mask | None:
    """Return a mask that shows text which came to stay; None where it hides no such text.

    The mask of a page that is too large is not changed.
    """
    if learning_refusal(looks):
        return None
    better = _without_lasting_text(mask, RuleEvaluator(looks[-MAX_LOOKS:]))
    return replace(better, version=mask.version + 1) if better.rules != mask.rules else None


def learning_refusal(looks: Sequence[NoiseLook]) -> str:
    """Return why nothing can be learned from these looks; empty where it can."""
    return next((reason for look in looks[-MAX_LOOKS:] if (reason := view_refusal(look.view))), "")


def _without_lasting_text(mask: Mask, evaluator: RuleEvaluator) -> Mask:
    """Return a mask that hides no text which came and stayed."""
    corrected_rules = (_corrected_rule(rule, evaluator) for rule in mask.rules)
    return replace(mask, rules=tuple(rule for rule in corrected_rules if rule is not None))


def _corrected_rule(rule: MaskRule, evaluator: RuleEvaluator) -> MaskRule | None:
    """Return a rule that shows lasting text; None where there is more than a little.

    After few bursts only new text counts: text that was always there may be the text next to
    which the rule was learned. After many bursts all lasting text counts.
    """
    if rule.by == "hand" or evaluator.is_exhausted:
        return rule
    evaluator.spend_work()
    is_short = len(evaluator.bursts) <= LASTING_BURSTS_IN_ROTATION
    lasting_lines = evaluator.lasting_lines(
        Mask(0, (rule,)), only_new=is_short, min_bursts=LASTING_BURSTS_IN_ROTATION
    )
    exceptions = (*_lasting_exceptions(rule, evaluator), *lasting_lines)
    return replace(rule, but=exceptions) if len(exceptions) <= MAX_EXCEPTIONS else None


def _lasting_exceptions(rule: MaskRule, evaluator: RuleEvaluator) -> tuple[str, ...]:
    """Return a rule's exceptions without the lines that come and go again."""
    if not rule.but:
        return ()
    evaluator.spend_work()
    returning_lines = evaluator.returning_lines(Mask(0, (replace(rule, but=()),)))
    return tuple(line for line in rule.but if line not in returning_lines)


def _visible_pages(
    pages: Sequence[PageLines], evaluator: RuleEvaluator, mask: Mask
) -> list[PageLines]:
    """Return the visible lines of pages under a mask."""
    pages_and_looks = zip(pages, evaluator.looks, strict=True)
    return [visible_lines(page, hidden_spans(look.view, mask)) for page, look in pages_and_looks]


def _with_rules(mask: Mask, candidates: Sequence[NoiseCandidate], evaluator: RuleEvaluator) -> Mask:
    """Return the mask with rules that hide the candidates, by whole elements where possible.

    No rule is added where very many blocks differ, because none of them stands out.
    """
    if len(candidates) > MAX_DIFFERING_BLOCKS:
        return mask
    for path, inside in _common_elements(candidates, evaluator).items():
        mask = _with_element(mask, path, inside, evaluator)
    visible = [candidate for candidate in candidates if not _is_hidden(candidate, mask, evaluator)]
    for candidate in visible if len(visible) <= MAX_SINGLE_BLOCKS else ():
        mask = _with_rule(mask, candidate, evaluator)
    return mask


def _common_elements(
    candidates: Sequence[NoiseCandidate], evaluator: RuleEvaluator
) -> dict[str, list[NoiseCandidate]]:
    """Return the paths of elements with several candidates, outermost first.

    Few looks cannot show that no text in a whole element stays.
    """
    if len(evaluator.bursts) < MIN_BURSTS_FOR_ELEMENTS:
        return {}
    candidates_by_path: dict[str, list[NoiseCandidate]] = {}
    for candidate in candidates:
        for path in ancestor_paths(candidate.path):
            candidates_by_path.setdefault(path, []).append(candidate)
    return {
        path: inside
        for path, inside in candidates_by_path.items()
        if len(inside) >= MIN_CANDIDATES_IN_ELEMENT
    }


def _with_element(
    mask: Mask, path: str, inside: Sequence[NoiseCandidate], evaluator: RuleEvaluator
) -> Mask:
    """Return the mask with a rule for a whole element, if no text in it stays."""
    if all(_is_hidden(candidate, mask, evaluator) for candidate in inside):
        return mask
    is_harmless = _is_harmless(path, mask, evaluator)
    return _with_learned_rule(mask, path, inside[0].why) if is_harmless else mask


def _with_rule(mask: Mask, candidate: NoiseCandidate, evaluator: RuleEvaluator) -> Mask:
    """Return the mask with a rule for a block, if it is visible and a harmless rule hides it."""
    if _is_hidden(candidate, mask, evaluator):
        return mask
    for pattern in _possible_patterns(candidate, evaluator):
        is_harmless = _is_harmless(pattern, mask, evaluator)
        if is_harmless and _hides_difference(pattern, candidate, evaluator):
            return _with_learned_rule(mask, pattern, candidate.why)
    return mask


def _with_learned_rule(mask: Mask, pattern: str, why: str) -> Mask:
    if sum(rule.by == "learnt" for rule in mask.rules) >= MAX_RULES:
        return mask
    return replace(mask, rules=(*mask.rules, MaskRule(pattern, "learnt", why)))


def _is_hidden(candidate: NoiseCandidate, mask: Mask, evaluator: RuleEvaluator) -> bool:
    """Return whether the mask hides the differences of a block, or contains its path.

    Without remaining work a block counts as hidden, so that no more rules are added.
    """
    evaluator.spend_work(
        len(candidate.path) ** 2 // 8 + (1 + len(mask.rules)) * candidate.text_chars
    )
    if evaluator.is_exhausted:
        return True
    full_paths = (*ancestor_paths(candidate.path), candidate.path)
    paths = {*full_paths, *map(path_without_indices, full_paths)}
    if any(rule.is_path and rule.what in paths for rule in mask.rules):
        return True
    if len(candidate.distinct_texts) < 2:
        return not any(evaluator.leaves_visible(text, mask) for text in candidate.distinct_texts)
    return len({visible_text(text, mask) for text in candidate.distinct_texts}) < 2


def _possible_patterns(candidate: NoiseCandidate, evaluator: RuleEvaluator) -> Iterator[str]:
    """Yield a pattern, the path of all elements of a kind, and the path of one element.

    A text that comes and goes is itself the pattern.
    """
    texts = candidate.distinct_texts
    pattern = common_pattern(texts)
    if len(texts) == 1 and len(text_runs(texts[0], list(map(frozenset, candidate.texts)))) > 1:
        pattern = literal_pattern(texts[0])
    if pattern is not None:
        yield pattern
    if candidate.path:
        general_path = path_without_indices(candidate.path)
        is_specific = general_path.rpartition("/")[2] not in _GENERIC_ELEMENTS
        if is_specific or any(len(rows_at_path(dom, general_path)) > 1 for dom in evaluator.doms):
            yield general_path
        yield candidate.path


def _is_harmless(pattern: str, mask: Mask, evaluator: RuleEvaluator) -> bool:
    """Return whether a rule hides no lasting text, nothing a user wants, and not most text."""
    try:
        rule_mask = Mask(0, (MaskRule(pattern),))
    except SettingsError:
        return False
    if evaluator.is_exhausted:
        return False
    evaluator.spend_work(passes=PASSES_PER_TRIAL)
    removed_rules = Mask(0, tuple(MaskRule(never) for never in mask.never))
    return not (
        evaluator.masks_overlap(rule_mask, removed_rules)
        or evaluator.hides_most(rule_mask)
        or evaluator.hides_lasting_text(rule_mask)
    )


def _hides_difference(pattern: str, candidate: NoiseCandidate, evaluator: RuleEvaluator) -> bool:
    """Return whether a pattern hides the differing part of a block's lines, and little else."""
    rule_mask = Mask(0, (MaskRule(pattern),))
    if rule_mask.reads_dom:
        return True
    visible_texts = {visible_text(text, rule_mask) for text in candidate.distinct_texts}
    is_narrow = (
        len(evaluator.hidden_lines(rule_mask, look_index)) <= max(MAX_SIMILAR_LINES, len(texts))
        for look_index, texts in enumerate(candidate.texts)
    )
    return len(visible_texts) == 1 and all(is_narrow)
