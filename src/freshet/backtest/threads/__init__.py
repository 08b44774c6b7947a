"""Replay of threads: how late visits find posts, at how many visits."""
