"""Crawls that are killed again and again, compared with what their servers saw."""
