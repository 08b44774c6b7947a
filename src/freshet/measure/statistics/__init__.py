"""Figures of many pages: summaries, groups and tests between groups."""
