"""The language of score functions: parser, variables and a compiled evaluation.

The live policies and the simulated crawls call the same functions, so that their choices are equal
to the last bit.
"""
