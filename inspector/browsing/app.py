"""The tree on a terminal: usable with the keyboard alone, at 80 × 24, and without colours.

Browser(load).run()     # `load` opens the target in a thread while the first screen is shown
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from threading import Thread, get_ident
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Input, Static, Tree

from inspector.browsing.contents import Content, Load, Models
from inspector.browsing.nodes import MOST_FOUND, Node
from inspector.errors import InspectorError
from inspector.report.columns import fitted, shortened, text_width, wrapped
from inspector.units import escape, integer

if TYPE_CHECKING:
    from rich.style import Style
    from textual.events import Key, Resize
    from textual.widgets.tree import TreeNode

#: Columns of the terminal from which the details are next to the tree.
WIDE = 110
_SETTLED = 0.2  # seconds until the first screen is painted, which has priority
_NAME = 20  # the fewest columns for a line's name
_LABEL = 11  # columns of the labels in the details


class Lines(Tree[Node]):
    """The tree, with columns at its right edge."""

    ICON_NODE, ICON_NODE_EXPANDED = "+ ", "- "
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", "open", key_display="→"),
        Binding("left", "close", "close", key_display="←"),
        Binding("home", "scroll_home", show=False),
    ]

    def __init__(self) -> None:
        super().__init__("")
        self.content: Content | None = None
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = True

    def on_resize(self, _: Resize) -> None:
        self.notify_style_update()  # lines depend on the widget's width

    def render_label(self, node: TreeNode[Node], base_style: Style, style: Style) -> Text:  # noqa: ARG002  Tree's signature
        """The name and the columns."""
        line, content = node.data, self.content
        if line is None or content is None:
            return Text("", style=style)
        right = self.columns(content, tuple(map(escape, content.cells(line))))
        icon = "" if line.children is None else self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
        room = self.room - self.guide_depth * _depth(node) - text_width(right)
        name = _shortened_name(line, icon, max(room, 8))
        return Text(name + " " * (room - text_width(name)) + right, style=style, no_wrap=True, end="")

    def columns(self, content: Content, cells: tuple[str, ...]) -> str:
        """The cells at the right edge, as many as leave room for names."""
        shown, room = "", self.room - _NAME
        for cell, width in zip(cells, content.widths, strict=True):
            room -= width + 2
            if room >= 0:
                shown += f"  {_right(cell, width)}"
        return shown

    @property
    def room(self) -> int:
        """Columns of a line."""
        return max(self.scrollable_content_region.width or self.size.width, 20)

    def show(self, nodes: list[Node]) -> None:
        """Replace the outermost lines."""
        self.clear()
        self._add(self.root, nodes)
        self.root.expand()
        self.cursor_line = 0

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Node]) -> None:
        self._fill(event.node)

    def _fill(self, node: TreeNode[Node]) -> None:
        """Make the lines of a branch, unless they exist."""
        if node.data is not None and node.data.children is not None and not node.children:
            self._add(node, node.data.children())

    def _add(self, parent: TreeNode[Node], nodes: list[Node]) -> None:
        for each in nodes:
            parent.add("", each, allow_expand=each.children is not None)

    def action_open(self) -> None:
        node = self.cursor_node
        if node is not None and node.allow_expand and not node.is_expanded:
            self._fill(node)  # immediately: the next key may arrive before the event
            node.expand()
        else:
            self.action_cursor_down()

    def action_close(self) -> None:
        node = self.cursor_node
        if node is not None and node.is_expanded:
            node.collapse()
        elif node is not None and node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)


def _depth(node: TreeNode[Node]) -> int:
    depth, above = 0, node.parent
    while above is not None:
        depth, above = depth + 1, above.parent
    return depth


def _right(cell: str, width: int) -> str:
    cell = shortened(cell, width)
    return " " * (width - text_width(cell)) + cell


def _shortened_name(line: Node, icon: str, width: int) -> str:
    """A line's name; if too long, without what its neighbours have in common, or without its middle."""
    name = icon + line.label
    if text_width(name) > width and line.shared:
        name = f"{icon}…{line.label[line.shared :]}"
    if text_width(name) <= width:
        return name
    head = shortened(name, width // 3)
    return head + _end(name, width - text_width(head))


def _end(text: str, width: int) -> str:
    """The longest end of a text that fits."""
    sums = accumulate(text_width(char) for char in reversed(text))
    kept = sum(taken <= width for taken in sums)
    return text[-kept:] if kept else ""


class Browser(App[None]):
    """A screen with the tree, the details of the line under the cursor, and the keys."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #title, #summary, #columns { height: 1; padding: 0 1; }
    #title { text-style: bold; }
    #columns { text-style: underline; }
    #body { layout: vertical; height: 1fr; }
    #body.wide { layout: horizontal; }
    Lines { height: 1fr; padding: 0 1; background: ansi_default; scrollbar-size-vertical: 1; overflow-x: hidden; }
    Lines > .tree--cursor { text-style: reverse; }
    #waiting { height: 1fr; padding: 1 2; }
    #details { height: 9; border-top: solid; padding: 0 1; scrollbar-size-vertical: 1; }
    #body.wide #details { width: 46; height: 1fr; border-top: none; border-left: solid; }
    #search { display: none; height: 1; border: none; padding: 0 1; }
    #search.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("ctrl+c,ctrl+q", "quit", "quit", show=False, priority=True),
        Binding("slash", "search", "search", key_display="/"),
        Binding("escape", "clear", "show all", show=False),
        Binding("l", "turn", "role/layer"),
        Binding("d", "differing", "unchanged too"),
        Binding("v", "measure", "values"),
        Binding("backspace", "home", "back"),
    ]

    def __init__(self, load: Load, name: str) -> None:
        """
        Args:
            load: opens the target.
            name: the target's name, shown until it is open.
        """
        super().__init__(ansi_color=True)
        self._load = load
        self.jobs: set[Thread] = set()  # running
        self._shortened_name = name
        self._home: Content | None = None  # the models of a folder from which one was opened
        self.content: Content | None = None
        self.view = "role"
        self.failure: Exception | None = None
        self._measured: tuple[Node, list[str]] | None = None

    def compose(self) -> ComposeResult:
        yield Static(escape(self._shortened_name, 200), id="title", markup=False)
        yield Static("", id="summary", markup=False)
        yield Static("", id="columns", markup=False)
        with VerticalScroll(id="body", can_focus=False):
            yield Static("reading headers …", id="waiting", markup=False)
            yield Lines()
            with VerticalScroll(id="details"):
                yield Static("", id="about", markup=False)
        yield Input(placeholder="a part of a name, a role, a dtype, layer 3", id="search", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(Lines).display = False
        self.query_one("#details").display = False
        # Everything the first screen does not need is loaded after it: one interpreter does one thing at a time.
        self.call_after_refresh(self.open_target)

    def on_resize(self, event: Resize) -> None:
        self.query_one("#body").set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self.tell)
        self.call_after_refresh(self.head)

    # --- opening --------------------------------------------------------------------------------------

    def open_target(self) -> None:
        """Open the target in a thread."""
        load = self._load

        def opened() -> None:
            try:
                content = load(self._progress)
            except Exception as error:  # the caller of the command reports it
                self.call_later(self.failed, error)
            else:
                self.call_later(self.opened, content)

        self._beside(opened)

    def _beside(self, job: Callable[[], None]) -> None:
        """Run a job in a thread that does not delay the exit, as Textual's own workers would.

        It answers with `call_later`, which waits for nothing: `call_from_thread` is cancelled by an exit.
        """

        def run() -> None:
            with suppress(RuntimeError):  # after the exit the event loop is closed, and no answer is needed
                job()
            self.jobs.discard(thread)

        thread = Thread(target=run, daemon=True)
        self.jobs.add(thread)
        thread.start()

    def _progress(self, done: int, total: int) -> None:
        if total > 1 and get_ident() != self._thread_id:
            text = f"reading headers {integer(done)} of {integer(total)} …"
            self.call_later(self.query_one("#waiting", Static).update, text)

    def failed(self, error: Exception) -> None:
        """A target that cannot be opened ends the program, or leads back to the list of models."""
        if self._home is None:
            self.failure = error
            self.exit()
            return
        self.opened(self._home)
        self.notify(escape(str(error)), severity="error", markup=False)

    def opened(self, content: Content) -> None:
        """Show the opened target."""
        if isinstance(content, Models):
            self._home = content
        self.content, self.view, self._measured = content, "role", None
        lines = self.query_one(Lines)
        lines.content = content
        self.query_one("#title", Static).update(content.title)
        self.query_one("#summary", Static).update(content.summary)
        self.query_one("#waiting").display = False
        lines.display = self.query_one("#details").display = True
        self.rebuild()
        lines.focus()
        self.refresh_bindings()
        self.set_timer(_SETTLED, self.prepare)

    def prepare(self) -> None:
        """Go through the tensors before a branch is opened."""
        content = self.content
        if content is None:
            return

        def prepared() -> None:
            content.prepare()
            self.call_later(self.tell)

        self._beside(prepared)

    # --- display --------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Show the lines of the view, or those that the search finds."""
        content, lines = self.content, self.query_one(Lines)
        if content is None:
            return
        wanted = self.query_one("#search", Input).value.strip()
        if wanted:
            nodes, total = content.search(wanted)
            more = f", the first {integer(MOST_FOUND)} shown" if total > len(nodes) else ""
            self.query_one("#summary", Static).update(f"{integer(total)} found{more}; esc shows all")
        else:
            nodes = content.roots(self.view)
            self.query_one("#summary", Static).update(content.summary)
        lines.show(nodes)
        self.call_after_refresh(self.head)
        self.call_after_refresh(self.tell)

    def head(self) -> None:
        """The names of the columns, aligned."""
        content, lines = self.content, self.query_one(Lines)
        if content is None:
            return
        right = lines.columns(content, content.headers)
        room = lines.room - text_width(right)
        by = f"by {self.view}" if len(content.views) > 1 else ""
        self.query_one("#columns", Static).update(shortened(by, room).ljust(room) + right)

    def on_tree_node_highlighted(self, _: Tree.NodeHighlighted[Node]) -> None:
        self.tell()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Node]) -> None:
        line = event.node.data
        if isinstance(self.content, Models) and line is not None and line.item is not None:
            self._reopen(self.content.opener(line.item))

    def _reopen(self, load: Load) -> None:
        self._load = load
        self.query_one("#waiting", Static).update("reading headers …")
        self.query_one("#waiting").display = True
        self.query_one(Lines).display = self.query_one("#details").display = False
        self.query_one("#search", Input).value = ""
        self.open_target()

    @property
    def line(self) -> Node | None:
        """The line under the cursor."""
        node = self.query_one(Lines).cursor_node
        return node.data if node is not None else None

    def tell(self) -> None:
        """Show the details of the line under the cursor, folded to the panel."""
        about, line = self.query_one("#about", Static), self.line
        if self.content is None or line is None or (line.children is not None and not self.content.is_prepared):
            about.update("")  # until `prepare` is done: the tree does not wait
            return
        width = self.panel_width
        shown = list(folded(self.content.details(line), width))
        if self._measured is not None and self._measured[0] is line:
            shown = [*self._measured[1], "", *shown]
        about.update("\n".join(shown))

    @property
    def panel_width(self) -> int:
        """The width of the details, in columns."""
        return max(20, self.query_one("#details").scrollable_content_region.width)

    # --- keys -----------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  App's signature
        """List only the keys that have an effect."""
        content = self.content
        match action:
            case "turn":
                return content is not None and len(content.views) > 1
            case "differing":
                return content is not None and content.is_comparison
            case "measure":
                return content is not None and bool(content.measures)
            case "home":
                return self._home is not None and content is not self._home
        return True

    def action_search(self) -> None:
        search = self.query_one("#search", Input)
        search.add_class("open")
        search.focus()

    def on_input_changed(self, _: Input.Changed) -> None:
        self.rebuild()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.query_one(Lines).focus()

    def on_key(self, event: Key) -> None:
        if event.key == "down" and self.query_one("#search", Input).has_focus:
            self.query_one(Lines).focus()

    def action_clear(self) -> None:
        """Leave the search."""
        search = self.query_one("#search", Input)
        search.value = ""
        search.remove_class("open")
        self.query_one(Lines).focus()

    def action_turn(self) -> None:
        if self.content is not None:
            views = self.content.views
            self.view = views[(views.index(self.view) + 1) % len(views)]
            self.rebuild()

    def action_differing(self) -> None:
        if self.content is not None:
            self.content.only_differing = not self.content.only_differing
            self.rebuild()

    def action_home(self) -> None:
        if self._home is not None:
            self.action_clear()
            self.opened(self._home)

    def action_measure(self) -> None:
        line = self.line
        if line is None or line.item is None:
            self.notify("values are shown for one tensor: open the branch first", markup=False)
            return
        self._measured = (line, ["reading …"])
        self.tell()
        self.query_one("#details").scroll_home(animate=False)
        self.measure(line, self.panel_width)

    def measure(self, line: Node, width: int) -> None:
        """Read a leaf's data, in a thread."""
        content, item = self.content, line.item
        assert content is not None
        assert item is not None

        def measured() -> None:
            try:
                lines = content.measure(item, width)
            except InspectorError as error:
                lines = [str(error)]
            shown = [fitted(escape(line), width) for text in lines for line in text.split("\n")]
            self.call_from_thread(self.measured, line, shown)

        self._beside(measured)

    def measured(self, line: Node, shown: list[str]) -> None:
        """Show the measurements, unless something else was requested in the meantime."""
        if self._measured is not None and self._measured[0] is line:
            self._measured = (line, shown)
            self.tell()


def folded(details: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Labels and texts in two columns, the second folded."""
    for word, text in details:
        lines = wrapped(text, max(width - _LABEL, 12), 0).split("\n")
        yield f"{word:<{_LABEL}}{lines[0]}"
        yield from (" " * _LABEL + line for line in lines[1:])
