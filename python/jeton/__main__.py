"""`python -m jeton`: the command line, where no `jeton` is on the path."""

from jeton.cli import main

if __name__ == "__main__":
    main(prog_name="jeton")
