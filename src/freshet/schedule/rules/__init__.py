"""Published rules that rank pages by a score; those with an estimate weigh it by importance."""
