"""One pass over the data of a model's weights: statistics of each tensor's bytes and numbers.

`reading` reads and hashes the files and finds duplicate blocks; `pieces` examines a piece, `facts` has the results for
a tensor, `peers` relates each tensor to its role in other layers.
"""
