"""Sessions as files for people: an HTML page, a GIF, an MP4; and two of them compared."""
