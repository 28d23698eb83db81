"""The programs of the exam: third-party clients of phones."""
