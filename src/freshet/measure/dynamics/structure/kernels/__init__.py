"""Compiled loops over DOM histories."""
