"""Models judged by exercises: trials on virtual phones, runs that are kept, compared and shown."""
