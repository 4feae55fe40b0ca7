"""`python -m botdrome` is the command `botdrome`."""

from botdrome.cli.app import main

if __name__ == "__main__":
    main()
