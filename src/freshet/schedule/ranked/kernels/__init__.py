"""Compiled loops of formula policies."""
