"""PyTorch's own files: a pickle that names tensors, and their bytes next to it. Nothing in one is ever run.

    torch >= 1.6      a ZIP archive: NAME/data.pkl, then NAME/data/KEY, the bytes of each storage, aligned to 64
                      (`archive`; TorchScript and exported programs too)
    before            pickles in a row: magic, version, system, the value, the storages' keys; then each storage: its
                      number of elements in 8 bytes, and its bytes (`legacy`)
    before 0.1.10     a tar archive of pickles and tensors (`legacy`, too)

Each reader returns views of storages and the storages' positions (`Found`); `layout` turns them into tensors and
regions. Regions partition the file as for the other formats: the tensors' parts of storages, the padding before a
storage, gaps that no tensor claims, the pickle, and the enclosing archive. A storage shared by several names is stored
once: the names after the first are in `metadata`, with the name that they share it with.
"""
