"""Estimators of new links: whether, how many and how often a page brings them."""
