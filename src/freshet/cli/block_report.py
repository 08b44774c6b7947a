"""The blocks of a page in its report: how long their texts stay, and which behave alike."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from freshet.analysis.page_study import PageStudy
from freshet.cli.output import print_table, print_text
from freshet.core.humanize import count_text, duration_text, percent_text
from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import BlockBehaviour, DomBlock

SECONDS_PER_DAY = 86_400
BLOCK_COLUMNS = (
    "block",
    "behaviour",
    "content stays",
    "changes",
    "moves",
    "seen",
    "last change",
    "text",
)


def print_blocks(study: PageStudy, limit: int) -> None:
    """Print the blocks that change most, and those that behave alike."""
    blocks = study.blocks
    if not blocks or study.outline is None:
        return
    if all(block.behaviour is BlockBehaviour.ONCE for block in blocks):
        print_text("")
        count = count_text(len(blocks), "block")
        print_text(f"{count}, seen once: too little data about their behaviour.")
        return
    print_text("")
    most_changed = sorted(blocks, key=lambda block: (-block.changes, block.lifespan))[:limit]
    listed = [
        block for block in blocks if any(block is changed_block for changed_block in most_changed)
    ]
    selection = "" if len(listed) == len(blocks) else f", the {len(listed)} that change most"
    selection += f"; {study.outline.left_out:,} least frequent ones are omitted" * bool(
        study.outline.left_out
    )
    rows = [_block_cells(block) for block in listed]
    print_table(BLOCK_COLUMNS, rows, f"{count_text(len(blocks), 'block')}{selection}")
    _print_co_changing(study, limit)
    _print_similar(study, limit)


def _print_co_changing(study: PageStudy, limit: int) -> None:
    """Print the blocks that always change at the same times."""
    if not study.co_changing:
        return
    print_text("")
    names = block_names(study.blocks)
    rows = [
        (
            len(group.times),
            len(group.blocks),
            ", ".join(names[block_index] for block_index in group.blocks[:5]),
        )
        for group in study.co_changing[:limit]
    ]
    groups = count_text(len(study.co_changing), "group")
    print_table(("times", "blocks", ""), rows, f"{groups} of blocks that always change together")


def _print_similar(study: PageStudy, limit: int) -> None:
    """Print the blocks whose texts stay about as long."""
    if not study.similar:
        return
    print_text("")
    names = block_names(study.blocks)
    rows = [
        (
            _format_range(group.shortest, group.longest),
            len(group.blocks),
            ", ".join(names[block_index] for block_index in group.blocks[:5]),
        )
        for group in study.similar[:limit]
    ]
    groups = count_text(len(study.similar), "group")
    print_table(("content stays", "blocks", ""), rows, f"{groups} of blocks with similar lifespans")


def _format_range(shortest: float, longest: float) -> str:
    """Return two durations in seconds, or one where both read the same.

    >>> _format_range(3600.0, 5400.0), _format_range(3600.0, 3600.0)
    ('1 hour to 1.5 hours', '1 hour')
    """
    first, last = (duration_text(seconds / SECONDS_PER_DAY) for seconds in (shortest, longest))
    return first if first == last else f"{first} to {last}"


def _block_cells(block: DomBlock) -> tuple[Any, ...]:
    return (
        "/".join(block.path.strip("/").split("/")[-3:]),
        str(block.behaviour),
        duration_text(block.lifespan / SECONDS_PER_DAY),
        block.changes,
        block.moves or None,
        percent_text(block.presence),
        format_day(block.last_change),
        block.sample,
    )


def block_documents(study: PageStudy) -> dict[str, Any]:
    """Return the blocks of a page for JSON."""
    return {
        "blocks": [_block_document(block) for block in study.blocks],
        "together": [
            {
                "blocks": [study.blocks[block_index].path for block_index in group.blocks],
                "times": epoch_times(group.times.tolist()),
            }
            for group in study.co_changing
        ],
        "similar_lifespans": [
            {
                "blocks": [study.blocks[block_index].path for block_index in group.blocks],
                "hours": [group.shortest / 3600, group.longest / 3600],
            }
            for group in study.similar
        ],
    }


def _block_document(block: DomBlock) -> dict[str, Any]:
    return {
        "path": block.path,
        "habit": str(block.behaviour),
        "lifespan_hours": block.lifespan / 3600,
        "page_lifespan_hours": None if block.page_lifespan is None else block.page_lifespan / 3600,
        "run_hours": block.run_length / 3600,
        "texts": block.texts,
        "constant": block.is_constant,
        "changes": block.changes,
        "moves": block.moves,
        "presence": block.presence,
        "last_change": None if block.last_change is None else epoch_times([block.last_change])[0],
        "text": block.sample,
    }


def format_day(moment: float | None) -> str:
    """Return the UTC day of a time; empty if there is none."""
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def epoch_times(moments: Sequence[float]) -> list[datetime]:
    """Return epoch seconds as times."""
    return [datetime.fromtimestamp(moment, UTC) for moment in moments]
