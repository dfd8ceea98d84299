"""Asks the library that defines a model how it is built: Transformers or Diffusers, in a process of its own.

The process may be of another environment. It has limits of time and memory, no network, and runs no code that came with
a model unless the user trusts it. What it does, and what goes in and out, is in `answering`. An answer becomes a table
(`learning`), which is kept in the user's folder where no other table has the type.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from inspector.architectures.asking import answering, learning
from inspector.architectures.asking.answers import answer_of
from inspector.errors import ConfigError, UsageError
from inspector.units import escape

#: Seconds of work, and of waiting, for which a library may take to answer; bytes of memory that it may write.
MOST_SECONDS, MOST_WAITING, MOST_BYTES = 600, 900, 16 * 1024**3
#: Bytes of an answer. Each tensor takes some 100.
MAX_ANSWER = 256 * 1024 * 1024
#: Seconds in which models with another value of one field each are built.
PROBING = 300
#: Answers that are kept for one model type, each of other fixed fields.
MOST_KEPT = 16
#: The kind of learned tables in the store.
KIND = "learned"


class Library(NamedTuple):
    """Who is asked, and what was permitted."""

    python: str  # the interpreter of the environment that has the library
    modules: tuple[str, ...] = ()  # imported there first: packages that register types of their own
    folder: str | None = None  # whose own code is trusted


def python_of(named: str | None) -> str:
    """The interpreter that `--ask PYTHON` names: itself, or that of an environment's folder. Raises UsageError."""
    if named is None:
        return sys.executable
    path = Path(named).expanduser()
    for each in (path, path / "bin" / "python", path / "Scripts" / "python.exe"):
        if each.is_file() and os.access(each, os.X_OK):
            return str(each.absolute())
    raise UsageError(f"--ask {escape(named)}: neither a Python nor an environment with one")


def names_python(word: str) -> bool:
    """Whether a word after `--ask` is meant for it: a Python, or a virtual environment."""
    path = Path(word).expanduser()
    with suppress(OSError, ValueError):
        if path.name.lower().startswith(("python", "pypy")) and path.is_file():
            return os.access(path, os.X_OK)
        return (path / "pyvenv.cfg").is_file()
    return False


def ask(library: Library, configurations: Sequence[Mapping[str, Any]], probing: int = 0) -> tuple[str, list[Any]]:
    """The library and its version, and its answer for each configuration, as JSON.

    Raises:
        ConfigError: it cannot be asked, or did not answer in time.
    """
    request = {
        "configurations": list(configurations),
        "modules": list(library.modules),
        "home": str(Path.cwd()),
        "folder": library.folder,
        "seconds": MOST_SECONDS,
        "bytes": MOST_BYTES,
        "probing": probing,
    }
    return read_answers(run_alone(library.python, [Path(answering.__file__)], request), len(configurations))


def run_alone(python: str, scripts: Sequence[Path], request: Mapping[str, Any]) -> subprocess.CompletedProcess[bytes]:
    """Run the last of these files with a Python, in a process and a folder of its own; it can import the others.

    Raises:
        ConfigError: it cannot be run, or took too long.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        for each in scripts:  # alone in a folder: what is beside a script can be imported by it
            Path(home, each.name).write_bytes(each.read_bytes())
        env = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "HF_MODULES_CACHE": home,
            "CUDA_VISIBLE_DEVICES": "",
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(
                str(Path(each).absolute()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each
            ),
        }
        try:
            return subprocess.run(  # noqa: S603  the Python that the user named, and this package's files
                [python, str(Path(home, scripts[-1].name))],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=home,
                env=env,
                timeout=MOST_WAITING,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ConfigError(f"the library that was asked did not answer within {MOST_WAITING} seconds") from error
        except OSError as error:
            raise ConfigError(f"{escape(python)} cannot be run: {error.strerror}") from error


def read_answers(done: subprocess.CompletedProcess[bytes], number: int) -> tuple[str, list[Any]]:
    """The library and its version, and this many answers. Raises ConfigError if there are more or fewer."""
    try:
        if len(done.stdout) > MAX_ANSWER:
            raise ValueError(f"{len(done.stdout)} bytes")
        found = json.loads(done.stdout)
        if "error" in found:
            raise ConfigError(f"no library can be asked there (--ask PYTHON): {escape(str(found['error']), 300)}")
        answers = list(found["answers"])
        if len(answers) != number:
            raise ValueError(f"{len(answers)} answers")
        return f"{str(found['library'])[:40]} {str(found['version'])[:40]}", answers
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = escape(lines[-1], 200) if lines else f"exit code {done.returncode}"
        raise ConfigError(f"the library that was asked gave no answer: {last}") from error


def learn(library: Library, values: Mapping[str, Any], *, probing: bool = False) -> dict[str, Any]:
    """The table of a configuration's model, as its library builds it.

    Args:
        probing: whether to ask about other values of its fields, too, so that the table holds for them.

    Raises:
        ConfigError: the library cannot be asked, does not know the type, or refuses the configuration.
    """
    version, (found,) = ask(library, [values], PROBING if probing else 0)
    if isinstance(found, Mapping) and "error" in found:
        raise ConfigError(f"{version} was asked: {escape(str(found['error']), 300)}")
    answer = answer_of(found)
    table = learning.document(str(values.get("model_type")), values, answer, version)
    general = learning.general(table, values, answer) if answer.probes else None
    return general.table if general and _is_proven(library, general) else table


def _is_proven(library: Library, general: learning.General) -> bool:
    """Whether formulas give what the library builds of configurations that they were not made from."""
    _, answers = ask(library, general.configurations)
    built = [
        (values, each) for values, each in zip(general.configurations, answers, strict=True) if "error" not in each
    ]
    return bool(built) and all(general.holds(values, answer_of(each)) for values, each in built)


# --- where tables are kept -----------------------------------------------------------------------


def user_folder() -> Path:
    """The user's folder of tables: XDG's place for data, or the system's own."""
    home = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or "~/.local/share"
    return Path(home).expanduser() / "checkpoint-inspector" / "tables"


def keep(table: Mapping[str, Any], folder: Path) -> Path:
    """Keep a learned table in a folder of tables, in place of an older one for the same fixed fields.

    Raises:
        UsageError: it cannot be written.
    """
    (model_type,) = table["types"]
    stem = "".join(each if each.isalnum() or each in "-_." else "_" for each in model_type)[:100]
    path = folder / KIND / f"{stem}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = [table]
        if path.exists():
            old = json.loads(path.read_text(encoding="utf-8")).values()
            found += [
                each
                for each in old
                if each["learned"]["fixed"] != table["learned"]["fixed"]
                or each["learned"]["class"] != table["learned"]["class"]
            ]
        text = json.dumps({f"{model_type} {at}": each for at, each in enumerate(found[:MOST_KEPT], 1)}, indent=1)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(text)
        Path(file.name).replace(path)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(f"{escape(str(path))}: the learned table cannot be kept: {error}") from error
    return path
