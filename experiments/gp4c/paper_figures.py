"""Figures that Santos et al. 2015 published for BRDC'12: 417,048 pages, 57 days, 5 % a day."""

METRICS: tuple[str, ...] = ("changerate", "ndcg")

# Table 2: the mean over all cycles and folds, and the margin of its 95 % interval.
PAPER_MEANS: dict[tuple[str, str], tuple[float, float]] = {
    ("rand", "changerate"): (0.1566, 0.0019),
    ("age", "changerate"): (0.1753, 0.0016),
    ("nad", "changerate"): (0.7162, 0.0033),
    ("sad", "changerate"): (0.5451, 0.0107),
    ("aad", "changerate"): (0.6778, 0.0071),
    ("gad", "changerate"): (0.6535, 0.0059),
    ("cg", "changerate"): (0.6672, 0.0036),
    ("gp-basic", "changerate"): (0.7164, 0.0068),
    ("gp-all", "changerate"): (0.7256, 0.0061),
    ("rand", "ndcg"): (0.1565, 0.0018),
    ("age", "ndcg"): (0.1754, 0.0015),
    ("nad", "ndcg"): (0.7288, 0.0033),
    ("sad", "ndcg"): (0.5674, 0.0098),
    ("aad", "ndcg"): (0.6986, 0.0062),
    ("gad", "ndcg"): (0.6769, 0.0054),
    ("cg", "ndcg"): (0.6888, 0.0037),
    ("gp-basic", "ndcg"): (0.7287, 0.0042),
    ("gp-all", "ndcg"): (0.7419, 0.0077),
}

# Table 3: cycles won and lost as printed, each with its mean relative difference.
# The counts in the paper's text (section 5.3) are higher, and are not compared.
PAPER_WINS: dict[tuple[str, str, str], tuple[int, float | None, int, float | None]] = {
    ("gp-basic", "nad", "changerate"): (3, 0.0397, 2, -0.0302),
    ("gp-basic", "aad", "changerate"): (11, 0.0820, 1, -0.0160),
    ("gp-basic", "gad", "changerate"): (15, 0.1180, 1, -0.0160),
    ("gp-basic", "cg", "changerate"): (12, 0.0850, 0, None),
    ("gp-all", "nad", "changerate"): (9, 0.0354, 1, -0.0636),
    ("gp-all", "aad", "changerate"): (14, 0.0904, 1, -0.0119),
    ("gp-all", "gad", "changerate"): (15, 0.1318, 1, -0.0119),
    ("gp-all", "cg", "changerate"): (16, 0.0932, 0, None),
    ("gp-basic", "nad", "ndcg"): (0, None, 2, -0.0083),
    ("gp-basic", "aad", "ndcg"): (13, 0.0621, 3, -0.0210),
    ("gp-basic", "gad", "ndcg"): (13, 0.1023, 2, -0.0167),
    ("gp-basic", "cg", "ndcg"): (15, 0.0648, 0, None),
    ("gp-all", "nad", "ndcg"): (9, 0.0421, 0, None),
    ("gp-all", "aad", "ndcg"): (14, 0.0814, 0, None),
    ("gp-all", "gad", "ndcg"): (15, 0.1171, 0, None),
    ("gp-all", "cg", "ndcg"): (15, 0.0835, 0, None),
}
COMPARED_RULES = ("nad", "aad", "gad", "cg")

# The text on Figure 3: the cycles in which Best beats, and is beaten by, another selection.
PAPER_SELECTION_WINS: dict[tuple[str, str], tuple[int, int]] = {
    ("changerate", "avg"): (3, 3),
    ("changerate", "sum"): (4, 1),
    ("ndcg", "avg"): (4, 0),
    ("ndcg", "sum"): (2, 0),
}
