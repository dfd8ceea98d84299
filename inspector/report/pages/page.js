/* The page's own script: tables of any length, and the switch between light and dark.
   It makes elements and sets their text; it never takes text for markup. */
"use strict";

(() => {
  let scope = new AbortController(); // ends what belongs to the contents of now
  const ROW = 28; // pixels, as in the style sheet
  const SPARE = 12; // rows that are drawn beyond the visible ones
  const PRINTED = 500;
  const PIECE = 4000; // rows between which the page answers
  const WIDEST = 460; // pixels of a column
  const NARROW = 600; // pixels of a phone's page, as in the style sheet
  const PAPER = 1700; // pixels of a screen that has as many columns as paper, whose letters are smaller
  const BAR = 18; // pixels of a scroll bar and of the frame

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // --- columns ------------------------------------------------------------------------------------

  /* The texts or numbers of a column; what JavaScript's numbers cannot represent is written as text. */
  const exact = (value) => (value !== null && typeof value === "object" ? BigInt(value.big) : value);

  const whole = new Intl.NumberFormat("en-US"); // made once: toLocaleString makes one each time

  const shown = (value, kind) => {
    if (value === null || value === undefined) return "";
    if (kind !== "number" || typeof value === "string") return String(value);
    if (Number.isInteger(value) || typeof value === "bigint") return whole.format(value).replace("-", "\u2212");
    return String(Number(value.toPrecision(6))).replace("-", "\u2212");
  };

  /* Nothing comes last, whichever way the others stand. */
  const compared = (a, b, sign) => {
    const [none, other] = [a === null || a === "", b === null || b === ""];
    if (none || other) return none - other;
    return a < b ? -sign : a > b ? sign : 0;
  };

  /* Value → how many rows have it. */
  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return counts;
  };

  // --- tables -------------------------------------------------------------------------------------

  class LongTable {
    constructor(place, described) {
      this.all = described.columns.map((column) => (column.kind === "number" ? { ...column, values: column.values.map(exact) } : column));
      this.count = described.rows;
      this.columns = this.fitting(place.clientWidth);
      this.caption = described.caption;
      this.order = Array.from({ length: this.count }, (_, row) => row);
      this.chosen = new Map();
      this.selects = new Map();
      this.words = [];
      this.sorted = null;
      this.first = this.last = -1;
      this.show(place, this.columns);
      this.print(place);
    }

    /* The first columns that are as wide as the page; at least one, which may be shortened on a phone. */
    fitting(room) {
      let left = room - BAR - (room > NARROW ? this.width(this.all[0]) : WIDEST / 2);
      return this.all.filter((column, at) => {
        if (at) left -= this.width(column);
        return !at || left > 0;
      });
    }

    build(place) {
      this.status = element("span", { role: "status", class: "status" });
      this.search = element("input", { type: "search", placeholder: "words, all of which occur", autocomplete: "off" });
      this.search.addEventListener("input", () => {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.look(), 120);
      });
      const tools = element("div", { class: "tools", role: "search" }, element("label", { class: "wide" }, "Search", this.search));
      for (const column of this.all) if (column.filtered) tools.append(this.filter(column));
      tools.append(this.status);
      if (this.columns.length < this.all.length) tools.append(this.more(place));
      this.body = element("tbody");
      const widths = this.columns.map((column) => this.width(column));
      if (place.clientWidth <= NARROW && this.columns.length < this.all.length) {
        widths[0] = Math.max(0, place.clientWidth - 2 - widths.slice(1).reduce((sum, width) => sum + width, 0));
      }
      const group = element("colgroup");
      widths.forEach((width) => { const col = element("col"); col.style.width = `${width}px`; group.append(col); });
      this.heads = this.columns.map((column, at) => this.head(column, at));
      this.table = element("table", { "aria-rowcount": this.count + 1 },
        element("caption", {}, this.caption), group,
        element("thead", {}, element("tr", { "aria-rowindex": 1 }, ...this.heads)), this.body);
      this.table.style.width = `${widths.reduce((sum, width) => sum + width, 0)}px`;
      this.window = element("div", { class: "window", tabindex: 0, role: "region", "aria-label": this.caption }, this.table);
      this.window.addEventListener("scroll", () => this.draw(), { passive: true });
      place.replaceChildren(tools, this.window);
      new ResizeObserver(() => this.draw(true)).observe(this.window);
    }

    /* On paper the columns that it has room for, of a page that was opened on a phone too. */
    print(place) {
      const { signal } = scope;
      let kept = null;
      addEventListener("beforeprint", () => {
        const fitting = this.fitting(PAPER);
        kept = fitting.length > this.columns.length ? this.columns : null;
        if (kept) this.show(place, fitting);
        this.draw(true, PRINTED);
      }, { signal });
      addEventListener("afterprint", () => {
        if (kept) this.show(place, kept);
        this.draw(true);
      }, { signal });
    }

    show(place, columns) {
      this.columns = columns;
      this.build(place);
      this.apply();
    }

    /* A button that shows every column, beyond the page's width. */
    more(place) {
      const button = element("button", { type: "button" }, `all ${this.all.length} columns`);
      button.addEventListener("click", () => this.show(place, this.all));
      return button;
    }

    head(column, at) {
      const button = element("button", { type: "button" }, column.name);
      button.addEventListener("click", () => this.sort(at));
      return element("th", { scope: "col", class: column.kind, "aria-sort": "none" }, button);
    }

    filter(column) {
      const { counts } = column;
      const select = element("select", {}, element("option", { value: "" }, "all"));
      this.selects.set(column.name, select);
      [...counts.keys()].sort().forEach((value, number) => {
        const option = element("option", { value: String(number + 1) }, `${value === "" || value === null ? "none" : value} (${whole.format(counts.get(value))})`);
        option.wanted = value;
        select.append(option);
      });
      select.addEventListener("change", () => { this.choose(column.name); this.apply(); });
      return element("label", {}, column.name, select);
    }

    /* Takes over what is selected for a column. */
    choose(name) {
      const [option] = this.selects.get(name).selectedOptions;
      if (option.value) this.chosen.set(this.all.find((column) => column.name === name), option.among ?? new Set([option.wanted]));
      else this.chosen.delete(this.all.find((column) => column.name === name));
    }

    width(column) {
      let most = column.name.length + 3;
      const step = Math.max(1, Math.floor(this.count / (column.kind === "number" ? 100 : 2000)));
      for (let row = 0; row < this.count; row += step) most = Math.max(most, shown(column.values[row], column.kind).length);
      if (column.kind === "number") {
        const largest = column.values.reduce((a, b) => (b > a ? b : a), 0);
        most = Math.max(most, shown(largest, column.kind).length);
      }
      return Math.min(WIDEST, Math.ceil(most * 8.6) + 30);
    }

    /* Only rows with these values, several of a column as a choice of their own; other columns are left alone. */
    narrow(values) {
      this.search.value = "";
      for (const [name, select] of this.selects) {
        select.querySelector("[value=several]")?.remove();
        const wanted = new Set(values[name]);
        const options = [...select.options].filter((option) => option.value && wanted.has(option.wanted));
        if (options.length > 1) {
          const several = element("option", { value: "several" }, options.map((option) => option.wanted).join(", "));
          several.among = wanted;
          select.append(several);
        }
        select.value = options.length > 1 ? "several" : options.length ? options[0].value : "";
        this.choose(name);
      }
      this.look();
      this.search.focus();
    }

    async look() {
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length) await this.haystack();
      this.words = words;
      this.apply();
    }

    /* All texts of a row in one, made when somebody searches for the first time; in pieces, between which the page answers. */
    haystack() {
      const texts = this.all.filter((column) => column.kind === "text").map((column) => column.values);
      this.made ??= (async () => {
        for (this.texts = []; this.texts.length < this.count;) {
          const end = Math.min(this.count, this.texts.length + PIECE);
          for (let row = this.texts.length; row < end; row++) this.texts.push(texts.map((values) => values[row]).join("\n").toLowerCase());
          if (end < this.count) await frame();
        }
      })();
      return this.made;
    }

    apply() {
      const haystack = this.texts;
      const tests = [...this.chosen];
      this.rows = !tests.length && !this.words.length ? this.order : this.order.filter((row) =>
        tests.every(([column, wanted]) => wanted.has(column.values[row])) &&
        this.words.every((word) => haystack[row].includes(word)));
      const all = whole.format(this.count);
      this.status.textContent = this.rows.length === this.count ? `${all} rows` : `${whole.format(this.rows.length)} of ${all} rows`;
      this.table.setAttribute("aria-rowcount", this.rows.length + 1);
      this.window.scrollTop = 0;
      this.draw(true);
    }

    sort(at) {
      const down = this.sorted === at && this.heads[at].getAttribute("aria-sort") === "ascending";
      this.heads.forEach((head) => head.setAttribute("aria-sort", "none"));
      this.heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
      this.sorted = at;
      const values = this.columns[at].values;
      const sign = down ? -1 : 1;
      this.order.sort((a, b) => compared(values[a], values[b], sign) || a - b);
      this.apply();
    }

    draw(anew = false, printed = 0) {
      const first = printed ? 0 : Math.max(0, Math.floor(this.window.scrollTop / ROW) - SPARE);
      const visible = printed || Math.ceil(this.window.clientHeight / ROW) + 2 * SPARE;
      const last = Math.min(this.rows.length, first + visible);
      if (!anew && first === this.first && last === this.last) return;
      const left = this.rows.length - last;
      if (!anew && first < this.last && last > this.first) return this.move(first, last, left);
      [this.first, this.last] = [first, last];
      const drawn = [];
      for (let number = first; number < last; number++) drawn.push(this.row(number));
      const foot = printed && left ? element("tr", {}, element("td", { colspan: this.columns.length }, `and ${whole.format(left)} more`)) : this.space(left);
      this.body.replaceChildren(this.space(first), ...drawn, foot);
    }

    /* Rows that stay in sight are kept, between the two that stand for what is above and below. */
    move(first, last, left) {
      const [above, below] = [this.body.firstChild, this.body.lastChild];
      for (; this.first < first; this.first++) above.nextSibling.remove();
      for (; this.last > last; this.last--) below.previousSibling.remove();
      const [ahead, behind] = [[], []];
      for (let number = first; number < this.first; number++) ahead.push(this.row(number));
      for (let number = this.last; number < last; number++) behind.push(this.row(number));
      [this.first, this.last] = [first, last];
      above.after(...ahead);
      below.before(...behind);
      above.replaceWith(this.space(first));
      below.replaceWith(this.space(left));
    }

    row(number) {
      const at = this.rows[number];
      return element("tr", { "aria-rowindex": number + 2 }, ...this.columns.map((column, place) => {
        const text = shown(column.values[at], column.kind);
        const severity = column.name === "severity" && /^(error|warning|info)$/.test(text) ? text : column.kind;
        return element("td", { class: severity, title: text }, place ? text : element("bdi", {}, text));
      }));
    }

    space(rows) {
      const cell = element("td", { class: "space", colspan: this.columns.length });
      cell.style.height = `${rows * ROW}px`;
      const row = element("tr", { "aria-hidden": "true" }, cell);
      row.hidden = !rows;
      return row;
    }
  }

  /* A block of a drawing leads to its tensors, which are what the last table is narrowed to. */
  const linked = (table) => {
    for (const block of document.querySelectorAll(".chart .block")) {
      block.setAttribute("tabindex", 0);
      block.setAttribute("role", "button");
      const look = () => table.narrow({ role: block.dataset.roles.split(" "), tower: [block.dataset.tower] });
      block.addEventListener("click", look);
      block.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); look(); } });
    }
  };

  // --- charts -------------------------------------------------------------------------------------

  /* What a finger points at, which has no tooltip. */
  addEventListener("click", ({ target }) => {
    const figure = target.closest("figure");
    const title = target.closest("svg, rect, circle, g")?.querySelector("title") ?? target.closest("svg[x]")?.querySelector("title");
    if (!figure || !target.closest(".chart svg") || !title) return;
    let shown = figure.querySelector("output");
    if (!shown) figure.querySelector(".chart").after(shown = element("output"));
    shown.textContent = title.textContent;
  });

  // --- light and dark -----------------------------------------------------------------------------

  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const switchTo = document.getElementById("theme");

  const repaint = () => {
    switchTo.textContent = isDark() ? "Light" : "Dark";
    switchTo.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  };

  switchTo.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  system.addEventListener("change", repaint);

  /* Paper is white, whatever the screen was. */
  let before = null;
  addEventListener("beforeprint", () => {
    before ??= { theme: root.dataset.theme };
    root.dataset.theme = "light";
    repaint();
  });
  addEventListener("afterprint", () => {
    if (before?.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before = null;
    repaint();
  });
  switchTo.hidden = false;

  // --- the order of work: what is seen first -------------------------------------------------------

  /* Draws into the places of what is in the document now, instead of what was there before. */
  const show = async (tables) => {
    scope.abort();
    scope = new AbortController();
    let last = null;
    for (const [id, described] of Object.entries(tables)) {
      await frame();
      for (const column of described.columns) {
        if (!column.filtered) continue;
        column.counts = counted(column.values);
        if (described.rows > PIECE) await frame();
      }
      last = new LongTable(document.getElementById(id), described);
    }
    if (last) linked(last);
    root.dataset.ready = "yes";
    performance.mark("ready");
  };

  const frame = () => new Promise((resolve) => setTimeout(resolve));

  repaint();
  const tables = document.getElementById("tables");
  if (tables) {
    const bytes = Uint8Array.from(atob(tables.textContent), (letter) => letter.charCodeAt(0));
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json().then(show);
  } else globalThis.showPage = show; // a document that is filled later
})();
