"""The data of a model's weights, looked at once: what each tensor's bytes and numbers are like.

`passing` reads the files, and hashes them on the way; `glance` looks at a piece, `facts` keeps what was seen of a
tensor, `copies` finds blocks that are there twice, `peers` sets each beside its role in other layers. What is wrong
with it is said in `rules/data.py`.
"""
