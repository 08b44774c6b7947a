"""How a page changes over its history: change curve, lifespans of words and of DOM blocks."""
