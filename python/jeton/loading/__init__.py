"""From a name or a path to the stages of a tokenizer, and to the settings beside them.

Look here for which names are known (`registry`), how a file is fetched (`download`, `hub`), what a
folder holds (`settings`, `folder`, `transformers_classes`), and how one without `tokenizer.json` is
read (`class_folders`). `sources` decides between them. `jeton.load` itself makes a `Tokenizer` of
what they read, so it is one layer up: `jeton/tokenizer/loading.py`.
"""
