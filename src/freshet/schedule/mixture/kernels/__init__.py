"""Compiled loops of mixed policies."""
