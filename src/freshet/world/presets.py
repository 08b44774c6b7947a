"""Populations calibrated to published figures.

Tests measure them. Where a paper gives no shares of domains or depths, they were chosen so that the
figures of the groups and of the whole agree.
"""

from collections.abc import Mapping

from freshet.world.parameters import ChangePace, LinkYield, PopulationGroup, PopulationParameters

# Santos et al. 2015 (GP4C), Table 2: seven rules on BRDC'12 at a budget of 5 % a day,
# with weights by cycle as in their program.
BRDC = PopulationParameters(
    paces=(
        ChangePace(0.8985, 0.0051, 0.45),
        ChangePace(0.077, 0.375, 0.2),
        ChangePace(0.0245, 6.2),
    ),
    shared_chance=0.04,
)

# The weekly crawls behind look back, look around: pages without new links, means and deviations.
OUTLINKS = PopulationParameters(
    paces=(ChangePace(0.4, 0.0), ChangePace(0.3, 0.025, 1.0), ChangePace(0.3, 0.5, 1.2)),
    cycle_days=7.0,
    shared_chance=0.2,
    internal_links=LinkYield(0.85, 1.5, 3.2, 1.1, 0.97),
    external_links=LinkYield(0.23, 0.6, 1.9, 1.05, 0.9),
)

# Adar et al. 2009, Tables 1 and 2: hourly looks for five weeks.
WEB_CHANGES = PopulationParameters(
    paces=(
        ChangePace(0.104, 0.0),
        ChangePace(0.48, 0.0188, 0.9, dice=0.66),
        ChangePace(0.416, 96.0, 0.5, dice=0.867),
    ),
    cycle_days=1 / 24,
    shared_chance=0.1,
    domains=(
        PopulationGroup("com", 0.62, rank_shift=-0.05, dice_shift=-0.005),
        PopulationGroup("net", 0.08, rank_shift=-0.007, dice_shift=-0.031),
        PopulationGroup("org", 0.12, rank_shift=0.357, dice_shift=0.044),
        PopulationGroup("edu", 0.05, rank_shift=-0.452, dice_shift=0.108),
        PopulationGroup("gov", 0.03, rank_shift=-0.38, dice_shift=0.068),
        PopulationGroup("other", 0.1, rank_shift=0.226, dice_shift=-0.074),
    ),
    depths=(
        PopulationGroup("0", 0.22, rank_shift=0.505, dice_shift=0.043),
        PopulationGroup("1", 0.22, rank_shift=0.238, dice_shift=0.018),
        PopulationGroup("2", 0.22, rank_shift=-0.008, dice_shift=-0.007),
        PopulationGroup("3", 0.16, rank_shift=-0.38, dice_shift=-0.028),
        PopulationGroup("4", 0.105, rank_shift=-0.467, dice_shift=-0.02),
        PopulationGroup("5+", 0.075, rank_shift=-0.691, dice_shift=-0.069),
    ),
    visitors=(
        PopulationGroup("2", 0.3, rank_shift=-0.16, dice_shift=0.01),
        PopulationGroup("3-6", 0.3, rank_shift=0.0, dice_shift=0.02),
        PopulationGroup("7-38", 0.2, rank_shift=0.25, dice_shift=-0.005),
        PopulationGroup("39+", 0.2, rank_shift=0.25, dice_shift=-0.02),
    ),
    categories=(
        PopulationGroup("Industry/trade", 0.05, rank_shift=-0.9, dice_shift=-0.08),
        PopulationGroup("Music", 0.05, rank_shift=-0.17, dice_shift=0.02),
        PopulationGroup("Porn", 0.05, rank_shift=-0.14, dice_shift=-0.025),
        PopulationGroup("Personal pages", 0.05, rank_shift=0.4, dice_shift=0.01),
        PopulationGroup("Sports/recreation", 0.05, rank_shift=0.85, dice_shift=0.075),
        PopulationGroup("News/magazines", 0.05, rank_shift=1.45, dice_shift=0.025),
        PopulationGroup("other", 0.7, rank_shift=-0.07, dice_shift=0.0),
    ),
)

PRESETS: Mapping[str, PopulationParameters] = {
    "brdc": BRDC,
    "outlinks": OUTLINKS,
    "web-changes": WEB_CHANGES,
}
