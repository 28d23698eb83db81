"""The scrcpy server that is built into the virtual phone."""
