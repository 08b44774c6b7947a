"""Figures of pages, groups of pages and bursts of looks, with tests of significance."""
