"""Compiled loops of the comparison of two versions."""
