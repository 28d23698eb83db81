"""The strangers of the exam: programs that others wrote for phones."""
