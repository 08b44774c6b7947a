"""Nearest pages by their semantic vectors: 30 neighbours among vectors of 192 dimensions.

On the processor the reference is faiss's flat index, one thread, 8,192 queries a batch; required is
0.9 of its rate for 200,000 pages, and at most three times the memory of the vectors. The line of
the approximate index has the exact index as its reference and its recall in its name; required is
10 at a recall of 0.97. Times are CPU time of all threads, because other work may run beside it.
``--pages N`` sets another number of pages; ``--without-faiss`` leaves the reference out.
``--gpu`` searches 384,323 pages exactly on a GPU, against the required 3 seconds, and compares some
rows with numpy; it needs only numpy and cupy.
"""

import sys
from argparse import ArgumentParser
from importlib import import_module

PAGES, GPU_PAGES = 50_000, 384_323


def main() -> None:
    """Run the benchmark on the processor or on a GPU, and print its ratios."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--without-faiss", action="store_true")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.gpu:
        import_module("benchmarks.neighbours_gpu").main(options.pages or GPU_PAGES)
    else:
        processor = import_module("benchmarks.neighbours_cpu")
        processor.main(options.pages or PAGES, with_faiss=not options.without_faiss)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
