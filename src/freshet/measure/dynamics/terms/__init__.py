"""The words of a page over time: how long each stays, and which set it apart from other pages."""
