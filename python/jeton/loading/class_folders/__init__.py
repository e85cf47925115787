"""Loads folders without a `tokenizer.json`, as the class that their configuration names does.

`classes.py` lists the known classes. Each builds what transformers' Python class builds, or what
`AutoTokenizer` does where there is none. An unknown class is an error that names it.
"""

from jeton.loading.class_folders.classes import CLASSES
from jeton.loading.class_folders.reading import VOCABULARIES, names_a_class, read

__all__ = ["CLASSES", "VOCABULARIES", "names_a_class", "read"]
