"""How a page changes over its history: curves, terms and structure."""
