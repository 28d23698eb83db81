"""Phones kept ready to be taken and put back: virtual, emulated, real."""
