"""The words of a page over time: their lifespans, and the words that are specific to the page."""
