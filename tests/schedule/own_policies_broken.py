"""A module of a user that fails when it is imported."""

Rule = 1 / 0
