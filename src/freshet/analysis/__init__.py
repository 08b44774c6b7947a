"""How one page and a whole collection change: figures, curves, tables and charts."""
