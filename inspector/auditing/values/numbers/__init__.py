"""One pass over the data of a model's weights: statistics of each tensor's bytes and numbers.

`reading` reads the files, and hashes them on the way; `pieces` and `bits` examine a piece, `facts` accumulates the
results for a tensor, `copies` finds duplicate blocks, `peers` relates each tensor to its role in other layers.
"""
