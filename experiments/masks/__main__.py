"""Run the experiment."""

from experiments.masks.experiment import main

main()
