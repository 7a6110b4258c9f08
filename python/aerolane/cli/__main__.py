"""`python -m aerolane.cli`: the same as `aerolane`."""

from aerolane.cli import main

if __name__ == "__main__":
    main()
