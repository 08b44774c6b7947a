"""Compiled loops of scheduling."""
