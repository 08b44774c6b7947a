"""Measures become pictures."""
