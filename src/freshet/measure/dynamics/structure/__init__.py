"""Structure over time: which elements stay, which content, what moves, what changes together."""
