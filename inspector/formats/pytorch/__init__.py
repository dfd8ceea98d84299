"""PyTorch's own files: a pickle that names tensors, and their bytes beside it. Nothing in one is ever run.

    torch >= 1.6      a ZIP archive: NAME/data.pkl, then NAME/data/KEY, the bytes of each storage, aligned to 64
                      (`archive`; TorchScript and exported programs too)
    before            pickles in a row: magic, version, system, the value, the storages' keys; then each storage: its
                      number of elements in 8 bytes, and its bytes (`legacy`)
    before 0.1.10     a tar archive of pickles and tensors (`tar`)

Each gives views of storages, and where those lie (`Found`); `layout` makes tensors and regions of them. Regions
partition the file as for the other formats: what tensors claim of storages, the padding before a storage, holes that
no tensor claims, the pickle, and the archive around all. A storage that several names share is stored once: the names
after the first are in `metadata`, under the name that they share it with.
"""
