"""Compiled replay of the visits of a thread."""
