"""Compiled loops of parsing."""
