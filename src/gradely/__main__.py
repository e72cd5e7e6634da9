"""`python -m gradely`."""

from gradely.cli import main

main()
