"""Views: steps of an algorithm as frames, and what shows these.

Look here for how a step looks. An algorithm makes frames (`frames.py`) of its steps, and has them
in print (`printed.py`), as a page to step through (`page.py`), and on a screen with keys
(`screen.py`).
"""
