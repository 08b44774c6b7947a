"""Continuous back-tests of policies, plain and weighted by importance."""
