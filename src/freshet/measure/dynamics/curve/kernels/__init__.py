"""Compiled loops of change curves."""
