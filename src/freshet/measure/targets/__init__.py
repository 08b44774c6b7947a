"""What can be predicted of a page: the labels that models learn."""
