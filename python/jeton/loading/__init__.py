"""Reads the stages and the settings of a tokenizer from a name or a path.

Look here for the known names (`registry`), downloads (`download`, `hub`), the contents of a folder
(`settings`, `folder`, `transformers_classes`, `transformers_stages`), and folders without
`tokenizer.json` (`class_folders`). `sources` decides between them. `jeton.load` builds a
`Tokenizer` from the result, so it is one layer above: `jeton/tokenizer/loading.py`.
"""
