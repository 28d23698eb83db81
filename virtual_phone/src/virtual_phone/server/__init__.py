"""Phones that are served to adb and to their owner."""
