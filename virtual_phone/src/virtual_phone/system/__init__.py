"""What the phone's system draws itself: bars, launcher, keyboard, dialogs, shade, recents."""
