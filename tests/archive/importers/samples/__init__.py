"""One small input for every importer: a module of its name, with ``sample(folder)``."""
