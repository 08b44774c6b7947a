"""Predicting content change: one page alone, its content, and related pages."""
