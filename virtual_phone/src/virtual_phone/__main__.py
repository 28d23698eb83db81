"""`python -m virtual_phone` is the `virtual-phone` command."""

from virtual_phone.cli.main import main

if __name__ == "__main__":
    main()
