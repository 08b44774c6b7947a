"""The contents of pages as columns, for models that learn from them."""
