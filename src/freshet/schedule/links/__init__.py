"""Policies that look for new links: the default of the objective ``links``, and rankings."""
