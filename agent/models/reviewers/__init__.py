"""Who reads acts before they are done: the choice, and a program as one."""
