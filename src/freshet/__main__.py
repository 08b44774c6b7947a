"""Lets ``python -m freshet`` run the command line."""

from freshet.cli.app import main

if __name__ == "__main__":
    main()
