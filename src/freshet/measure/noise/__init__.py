"""What on a page differs at every visit and is no change: learnt from its looks, block by block."""
