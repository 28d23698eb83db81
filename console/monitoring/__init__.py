"""What goes on in a core, for the tools that operators of servers have: metrics and traces.

A listener like any other: it follows the core's events over the socket. Invariant: numbers, names
and states go out, never a goal, a screen, an answer or typed text.
"""
