"""Continuous backtest: crawlers visit the same changing pages with the same budget.

Each crawler keeps its own copies and is scored on the ground truth, which no policy sees. The
ground truth of a trace is made by drawing a moment for each change, because a cycle gives only the
day.
"""
