"""Predicting new outlinks: which pages bring new links, how many, and which to visit first."""
