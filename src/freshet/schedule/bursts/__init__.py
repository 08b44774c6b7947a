"""Bursts, which are looks minutes apart: their rules and their queue."""
