"""Every device that the adb servers know, and who drives which."""
