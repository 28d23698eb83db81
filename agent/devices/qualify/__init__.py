"""Find out what works on a phone, without leaving a trace."""
