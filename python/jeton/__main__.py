"""`python -m jeton`: the command line, if the command `jeton` is not on the path."""

from jeton.cli import main

if __name__ == "__main__":
    main(prog_name="jeton")
