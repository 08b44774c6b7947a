"""Compiled loops of simulated crawls."""
