"""Populations whose measured figures are the published ones.

Tests measure them; where a paper gives no share (of domains, of depths), it was chosen so that its
figures for the groups and for the whole agree.
"""

from collections.abc import Mapping

from freshet.world.parameters import Group, Pace, Parameters, Yield

# Santos et al. 2015 (GP4C), Table 2: what seven rules find in BRDC'12 at a budget of 5 % a day,
# with weights by cycle as in their program.
BRDC = Parameters(
    paces=(Pace(0.8985, 0.0051, 0.45), Pace(0.077, 0.375, 0.2), Pace(0.0245, 6.2)),
    shared=0.04,
)

# The weekly crawls behind look back, look around: pages without new links, means and deviations.
OUTLINKS = Parameters(
    paces=(Pace(0.4, 0.0), Pace(0.3, 0.025, 1.0), Pace(0.3, 0.5, 1.2)),
    cycle_days=7.0,
    shared=0.2,
    internal=Yield(0.85, 1.5, 3.2, 1.1, 0.97),
    external=Yield(0.23, 0.6, 1.9, 1.05, 0.9),
)

# Adar et al. 2009, Tables 1 and 2: hourly looks for five weeks.
WEB_CHANGES = Parameters(
    paces=(
        Pace(0.104, 0.0),
        Pace(0.48, 0.0188, 0.9, dice=0.66),
        Pace(0.416, 96.0, 0.5, dice=0.867),
    ),
    cycle_days=1 / 24,
    shared=0.1,
    domains=(
        Group("com", 0.62, standing=-0.05, dice=-0.005),
        Group("net", 0.08, standing=-0.007, dice=-0.031),
        Group("org", 0.12, standing=0.357, dice=0.044),
        Group("edu", 0.05, standing=-0.452, dice=0.108),
        Group("gov", 0.03, standing=-0.38, dice=0.068),
        Group("other", 0.1, standing=0.226, dice=-0.074),
    ),
    depths=(
        Group("0", 0.22, standing=0.505, dice=0.043),
        Group("1", 0.22, standing=0.238, dice=0.018),
        Group("2", 0.22, standing=-0.008, dice=-0.007),
        Group("3", 0.16, standing=-0.38, dice=-0.028),
        Group("4", 0.105, standing=-0.467, dice=-0.02),
        Group("5+", 0.075, standing=-0.691, dice=-0.069),
    ),
)

PRESETS: Mapping[str, Parameters] = {
    "brdc": BRDC,
    "outlinks": OUTLINKS,
    "web-changes": WEB_CHANGES,
}
