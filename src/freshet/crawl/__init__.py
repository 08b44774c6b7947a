"""Decides which pages to fetch now and records the results: frontier, budget, bursts, plan."""
