"""Files of object stores, named by URLs: listed, fetched to this machine, and written whole.

`urls.py` says what a URL is, and how errors show it without secrets. `files.py` lists, fetches and
writes through fsspec. `local_copies.py` fetches the files of a corpus ahead of their reader.
"""
