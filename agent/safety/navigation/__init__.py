"""Presses that are known, in one version of an app, to do no more than open another page."""
