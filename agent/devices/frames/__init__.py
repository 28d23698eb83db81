"""Pictures of a screen: captures, live feeds for any number of readers, shared memory."""
