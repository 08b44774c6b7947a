"""One module per command; its docstring is the description in the help."""
