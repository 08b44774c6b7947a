"""Compiled loops over the words of a page."""
