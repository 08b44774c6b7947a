"""What a formula makes of what is known of a page: compiled, and the same wherever it ranks.

The live policy and the simulated crawl both call these functions, so that they choose alike to the
last bit.
"""
