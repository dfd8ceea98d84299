"""Tables derived from Transformers' and diffusers' own models. Each stage is a command: `PYTHONPATH=tools python -m zoo.build`.

    build     builds each model type on the meta device under many configurations: the records of its tensors
    trace     builds once more with numbers that remember how they were made: the formula of each dimension
    derive    bounds, formulas and conditions of each pattern of names: drafts of tables
    check     records against drafts or tables
    write     drafts as tables
    release   all of this for what a release brings

Modules that belong to one stage begin with its name.
"""

import sys
from pathlib import Path

#: The repository, whose package, tools and fixtures the stages use from their sources.
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "fixtures"), str(ROOT / "tools")]
