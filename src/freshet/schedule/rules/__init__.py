"""Published rules that rank pages by a score; they ignore the importance of pages."""
