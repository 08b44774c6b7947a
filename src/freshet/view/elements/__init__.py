"""The pass over serialised markup that gives text, links, structure and DOM rows together."""
