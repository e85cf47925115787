"""Views: steps of an algorithm as frames, and the ways to show frames.

Look here for how a step looks. An algorithm turns its steps into frames (`frames.py`). They can be
printed (`printed.py`), shown on a page to step through (`page.py`), or on a screen with keys
(`screen.py`).
"""
