"""The process that decodes the video of all phones."""
