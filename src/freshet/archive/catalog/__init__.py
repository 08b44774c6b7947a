"""The catalog: pages, visits, changes and links as tables."""
