"""Commands for the pages of a collection: add, list, show, compare, configure."""
