"""A checkpoint's tensors: the totals of a branch, and all details of one tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial

from inspector.browsing.contents import Content, Detail, place
from inspector.browsing.nodes import VIEWS, Item, Node, branch
from inspector.model import Expected, Labelled, Reconciliation, RoleSum
from inspector.report.words import shape_text
from inspector.units import bits, count, decimal, escape, integer, plural, size

#: The number of tensors that takes no noticeable time.
_FEW = 5000
Measure = Callable[[Labelled, int], list[str]]


class Tensors(Content):
    """The tensors of a checkpoint."""

    headers, widths = ("tensors/shape", "bytes", "dtype"), (13, 9, 8)
    measures = "values"

    def __init__(self, result: Reconciliation, measure: Measure) -> None:
        """
        Args:
            measure: reads a tensor and returns lines of a given width about its values. Raises InspectorError.
        """
        self.result, self._measure = result, measure
        checkpoint = result.checkpoint
        self.title = escape(checkpoint.title, 200)
        facts = [f"{count(result.logical)} parameters", escape(result.dtype or checkpoint.format, 40)]
        self.summary = ", ".join((*facts, plural(len(result.tensors), "tensor"), decimal(result.on_disk)))

    @property
    def is_prepared(self) -> bool:
        return len(self.result.tensors) <= _FEW or "items" in vars(self)

    def made(self) -> Iterable[Item]:
        words: dict[tuple[str, str, str], tuple[str, ...]] = {}
        for each in self.result.tensors:
            terms = (each.key.role, each.group, each.tensor.dtype)
            known = words.get(terms) or words.setdefault(terms, tuple(word.lower() for word in terms))
            yield Item(each.tensor.name, each.key, each.group, known, each)

    def roots(self, view: str) -> list[Node]:
        """By role, the groups are known from the result's totals, before the tensors are visited."""
        groups = dict.fromkeys(role.group for role in self.result.roles if role.tensors)
        if view != "role" or len(groups) < 2:
            return super().roots(view)
        return [branch(group, partial(self._of_group, group), VIEWS[view][1:]) for group in groups]

    @cached_property
    def _groups(self) -> dict[str, list[Item]]:
        groups: dict[str, list[Item]] = {}
        for item in self.items:
            groups.setdefault(item.group, []).append(item)
        return groups

    def _of_group(self, group: str) -> Sequence[Item]:
        return self._groups.get(group, ())

    def cells(self, node: Node) -> tuple[str, ...]:
        tensors, nbytes, dtypes = self._root_sums.get(node.label) or self._sums(node)
        if node.children is None:
            return shape_text([node.items()[0].subject.tensor.shape]), decimal(nbytes), dtypes
        return integer(tensors), decimal(nbytes), dtypes

    @cached_property
    def _root_sums(self) -> dict[str, tuple[int, int, str]]:
        sums: dict[str, list[RoleSum]] = {}
        for role in self.result.roles:
            sums.setdefault(role.group, []).append(role)
        return {
            escape(group, 200): (
                sum(role.tensors for role in roles),
                sum(role.bytes for role in roles),
                _dtypes(dtype for role in roles for dtype in role.dtypes),
            )
            for group, roles in sums.items()
        }

    def _sums(self, node: Node) -> tuple[int, int, str]:
        items = node.items()
        tensors = [item.subject.tensor for item in items]
        return len(tensors), sum(each.nbytes for each in tensors), _dtypes(each.dtype for each in tensors)

    # --- details --------------------------------------------------------------------------------------

    def details(self, node: Node) -> list[Detail]:
        item = node.item
        return list(self._tensor(item.subject) if item else self._branch(node))

    def _branch(self, node: Node) -> Iterator[Detail]:
        items = node.items()
        held = [item.subject for item in items]
        nbytes, parameters = sum(each.tensor.nbytes for each in held), sum(each.parameters for each in held)
        yield "branch", node.label
        yield "tensors", integer(len(held))
        yield "parameters", integer(parameters)
        share = f", {nbytes * 100 / self.result.on_disk:.1f} % of the files" if self.result.on_disk else ""
        yield "bytes", f"{integer(nbytes)} ({size(nbytes)}{share})"
        weights = sum(each.tensor.nbytes for each in held if each.parameters or each.group == "quantization")
        if parameters:
            yield "bits", f"{bits(weights * 8 / parameters)} per parameter"
        for dtype, number in Counter(each.tensor.dtype for each in held).most_common(8):
            yield "dtype", f"{escape(dtype, 40)} in {plural(number, 'tensor')}"
        lines = {(each.key.role or "other", each.group, each.key.tower, each.key.branch) for each in held}
        if len(lines) == 1:
            yield from self._formula_of_role(lines.pop())

    def _formula_of_role(self, line: tuple[str, str, str, str]) -> Iterator[Detail]:
        for role in self.result.roles:
            if (role.role, role.group, role.tower, role.branch) == line:
                if role.formula:
                    yield "predicted", escape(role.formula)
                elif role.explained:
                    yield "explained", escape(role.explained)

    def _tensor(self, each: Labelled) -> Iterator[Detail]:
        tensor = each.tensor
        yield "name", escape(tensor.name)
        yield "shape", shape_text([tensor.shape])
        yield "dtype", escape(tensor.dtype, 40)
        yield "bytes", f"{integer(tensor.nbytes)} ({size(tensor.nbytes)})"
        yield "parameters", integer(each.parameters)
        yield from place(each.key, each.group)
        yield from self._predicted(each)
        yield from self._packed(each)
        yield "file", escape(each.file)
        yield "offset", integer(tensor.offset)
        for finding in self.result.findings:
            if finding.tensor == tensor.name:
                yield finding.severity, escape(finding.message)
        if tensor.name in self._unexplained:
            yield "warning", "this tensor is unexplained"

    @cached_property
    def _unexplained(self) -> frozenset[str]:
        return frozenset(self.result.unexplained)

    @cached_property
    def _rows(self) -> dict[tuple[object, ...], list[Expected]]:
        """Rows of the prediction, by the attributes that their keys share."""
        rows: dict[tuple[object, ...], list[Expected]] = {}
        known = self.result.prediction
        if known:
            for row in (*known.expected, *known.tied, *known.buffers, *known.optional, *known.ahead):
                rows.setdefault((row.tower, row.role, row.part, row.branch, row.indexes), []).append(row)
        return rows

    def _predicted(self, each: Labelled) -> Iterator[Detail]:
        """The formula of the prediction's row; if layouts differ, that of its role."""
        key = each.key
        for row in self._rows.get((key.tower, key.role, key.part, key.branch, key.indexes), ()):
            if key.layer is None if row.layers is None else key.layer in row.layers:
                yield "predicted", f"{' × '.join(row.formula) or '1'} = {' × '.join(row.numbers) or '1'}"
                return
        yield from self._formula_of_role((key.role or "other", each.group, key.tower, key.branch))

    def _packed(self, each: Labelled) -> Iterator[Detail]:
        packing, name = self.result.packing, each.tensor.name
        if packing and name in packing.shapes:
            yield "packs", f"{shape_text([packing.shapes[name]])} by {escape(packing.scheme, 40)}"
        elif packing and name in packing.side:
            yield "serves", escape(packing.side[name])

    def measure(self, item: Item, width: int) -> list[str]:
        return self._measure(item.subject, width)


def _dtypes(dtypes: Iterable[str]) -> str:
    """The dtype, or the number of dtypes: `BF16`, `3 dtypes`."""
    known = dict.fromkeys(dtypes)
    return escape(next(iter(known)), 40) if len(known) == 1 else f"{len(known)} dtypes" if known else ""
