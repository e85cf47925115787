"""Loads folders without a `tokenizer.json`, as the class named in their configuration does.

`classes.py` lists the known classes. Each builds the stages of transformers' Python class, or
those of `AutoTokenizer` if there is none. An unknown class is an error that names it.
"""

from jeton.loading.class_folders.classes import CLASSES
from jeton.loading.class_folders.reading import VOCABULARIES, names_a_class, read

__all__ = ["CLASSES", "VOCABULARIES", "names_a_class", "read"]
