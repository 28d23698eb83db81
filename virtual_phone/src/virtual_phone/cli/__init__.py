"""The `virtual-phone` command."""
