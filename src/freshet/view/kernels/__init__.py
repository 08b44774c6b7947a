"""Compiled loops of the view stage."""
