"""Folders without a `tokenizer.json`: what the class that a configuration names makes of the files.

Look here for which classes are known (`classes.py`). What each builds is what transformers' class
in Python does, or where there is none, its `AutoTokenizer`. A class that is not known is refused by
name.
"""

from jeton.class_folders.classes import CLASSES
from jeton.class_folders.reading import names_a_class, read

__all__ = ["CLASSES", "names_a_class", "read"]
