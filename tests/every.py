"""Cases of a millisecond each in one test, which lists all of them that fail.

    @every("name", NAMES)
    def test_it(name: str) -> None: ...

`every` stands in place of `pytest.mark.parametrize`, where a test for each case would cost more than the case: an
entry to collect in each worker, fixtures, a report. `pytest --only TEXT` runs the cases with this text in their names.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

Test = Callable[..., None]
#: Argument values of each case; a function that makes them is called when the test runs, not at collection.
Cases = Iterable[Any] | Callable[[], Iterable[Any]]
#: Names of cases: one for each case, or made from each of its values.
Ids = Callable[[Any], object] | Iterable[str] | None

_PARAMETER = inspect.Parameter.POSITIONAL_OR_KEYWORD


def every(names: str | Sequence[str], cases: Cases, *, ids: Ids = None, parts: int = 1) -> Callable[[Test], Test]:
    """All cases in one test, or dealt out to `parts` tests of up to a second or so, which workers share.

    Each case has a folder of its own under `tmp_path`, and what it did by `monkeypatch` is undone after it. Other
    fixtures are those of the whole test.
    """
    arguments = tuple(names.replace(",", " ").split()) if isinstance(names, str) else tuple(names)

    def decorate(function: Test) -> Test:
        @functools.wraps(function)
        def test(request: pytest.FixtureRequest, part: int = 0, **fixtures: Any) -> None:
            if "request" in own:
                fixtures["request"] = request
            dealt = list(_named(cases() if callable(cases) else cases, arguments, ids))[part::parts]
            run = list(_wanted(dealt, request.config))
            failed: list[str] = []
            for number, (name, values) in enumerate(run):
                try:
                    _one(function, values, fixtures, str(number))
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f"{name}\n{pytest.ExceptionInfo.from_exception(error).getrepr(style='short')}")
                    if request.config.getoption("maxfail") == 1:
                        break
            if failed:
                pytest.fail("\n\n".join([f"{len(failed)} of {len(run)} cases:", *failed]), pytrace=False)

        own = inspect.signature(function).parameters
        left = {name: each for name, each in own.items() if name not in arguments}
        left.setdefault("request", inspect.Parameter("request", _PARAMETER))
        if parts > 1:
            left["part"] = inspect.Parameter("part", _PARAMETER)
            pytest.mark.parametrize("part", range(parts), ids=lambda part: f"{part + 1}of{parts}")(test)
        test.__signature__ = inspect.Signature(list(left.values()))  # type: ignore[attr-defined]
        return test

    return decorate


def _one(function: Test, values: Mapping[str, Any], fixtures: Mapping[str, Any], place: str) -> None:
    """Run one case, with its own folder and `monkeypatch`."""
    given = {**fixtures, **values}
    with ExitStack() as after:
        if "monkeypatch" in fixtures:
            given["monkeypatch"] = after.enter_context(pytest.MonkeyPatch.context())
        if "tmp_path" in fixtures:
            given["tmp_path"] = fixtures["tmp_path"] / place
            given["tmp_path"].mkdir()
        function(**given)


def _named(cases: Iterable[Any], arguments: Sequence[str], ids: Ids) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and arguments of each case."""
    own = [] if ids is None or callable(ids) else list(ids)
    for number, case in enumerate(cases):
        name: object = own[number] if own else None
        if isinstance(case, type(pytest.param())):
            name, case = case.id, case.values
        elif len(arguments) == 1:
            case = (case,)
        reported = [ids(each) if callable(ids) else each for each in case]
        plain = [str(each) for each in reported if isinstance(each, str | int | float) or each is None]
        yield str(name or "-".join(plain) or number)[:200], dict(zip(arguments, case, strict=True))


def _wanted(named: Sequence[Any], config: pytest.Config) -> Iterator[Any]:
    """The cases that `--only` selects, at most `--cases` of them, spread evenly."""
    text, most = config.getoption("--only"), config.getoption("--cases")
    chosen = [each for each in named if not text or text in each[0]]
    few = most and len(chosen) > most
    yield from (chosen[number * len(chosen) // most] for number in range(most)) if few else chosen
