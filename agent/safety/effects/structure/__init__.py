"""Find what a press commits by where it stands, whatever it is called.

Each module knows one kind of evidence: what a page is about to charge, whom a form reaches, which
page of the system it is, what a dialog warns of. None of them needs to know the language of a
screen; where words help they are those of the lexicon.
"""
