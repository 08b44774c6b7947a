"""Compiled loops of the simulated crawl by history classes."""
