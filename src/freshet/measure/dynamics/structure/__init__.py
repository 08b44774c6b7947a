"""The DOM of a page over time: blocks, their contents and moves, survival of elements."""
