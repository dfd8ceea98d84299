/* The page: takes files or a name, asks the worker, shows what it answers. Markup comes from the library, which escapes
   all text from files; the policy in index.html lets no markup run. */

const at = (id) => document.getElementById(id);

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const whole = new Intl.NumberFormat("en-US");
const MOST_FILES = 20000;

/* Where the app is an editor's view of a file: where its files come from, and what stands for the network. */
const editor = globalThis.acquireVsCodeApi ? await import("./editor.js") : null;

// --- the worker -------------------------------------------------------------------------------------

let worker = null; // a promise of it
let waiting = new Map();
let number = 0;
let about = { devices: [] };

/* The worker begins as a blob, so that the policy of this document is its own as well. */
const begun = async (fetched) => {
  const scripts = fetched ? await (await import("./parts.js")).scripts() : [new URL("worker.js", import.meta.url).href];
  const code = scripts.map((script) => `import ${JSON.stringify(script)};`).join("\n");
  const made = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
  made.addEventListener("message", ({ data }) => heard(data, made));
  made.addEventListener("error", (event) => { event.preventDefault(); unstarted(event.message || "see the browser's console", fetched); });
  return made;
};

const start = (fetched = editor !== null) => {
  worker = begun(fetched);
  worker.catch((error) => failed(`the reader cannot start: ${error.message}`));
};

/* A worker that could not fetch its parts is replaced by one that this page fetches them for; it is asked what waits. */
const unstarted = (reason, fetched) => {
  if (fetched || document.documentElement.dataset.started) return failed(`the reader cannot start: ${reason}`);
  start(true);
  return worker.then((reader) => { for (const { message } of waiting.values()) reader.postMessage(message); });
};

const heard = (data, from) => {
  if (data.slice !== undefined) { editor.slice(data).then((answer) => from.postMessage(answer)); return; }
  if (data.read !== undefined) at("status").dataset.read = data.read;
  if (data.started) {
    about = data.started;
    document.documentElement.dataset.started = "yes";
    performance.mark("started");
    if (!waiting.size && !shown.targets.length) { say("Ready."); keep(); }
  } else if (data.broken) failed(`the reader cannot start: ${data.broken}`);
  else if (data.id === undefined) { if (waiting.size) say(`Reading … ${amount(data.read - (shown.before ?? 0))} so far.`); }
  else {
    const { resolve } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    resolve?.(data.fatal ? { problem: ended(data.fatal), fatal: true } : data.answer);
  }
};

const ended = (reason) =>
  (reason.includes("call stack") ? "something in the input is nested too deeply" : `the reader failed (${reason})`) + ": it begins anew, choose the files again";

const ask = (name, message = {}) => new Promise((resolve) => {
  const asked = { id: ++number, name, ...message };
  waiting.set(number, { resolve, message: asked });
  worker.then((reader) => reader.postMessage(asked));
});

/* End whatever the reader does, and begin with a new one, which knows no files. */
const restart = () => {
  worker?.then((ended) => ended.terminate());
  for (const { resolve } of waiting.values()) resolve({ problem: "stopped" });
  waiting = new Map();
  places.clear();
  shown.targets = [];
  start();
};

// --- what is said -----------------------------------------------------------------------------------

const amount = (count) => {
  const [unit, of] = count < 1e6 ? [1, "bytes"] : count < 1e9 ? [1e6, "MB"] : [1e9, "GB"];
  return `${unit === 1 ? whole.format(count) : (count / unit).toFixed(unit === 1e9 ? 2 : 1)} ${of}`;
};
const say = (text) => { at("status").textContent = text; };
const failed = (text) => {
  at("problem").textContent = text;
  at("problem").hidden = !text;
  if (text) say("");
  document.documentElement.dataset.ready = "yes";
};

// --- files ------------------------------------------------------------------------------------------

const places = new Map(); // name of a place → size of its files

/* Paths that stay below their folder; a browser gives no others. */
const plain = (path) => path && !path.includes("\0") && path.split("/").every((part) => part && part !== "." && part !== "..");

const dropped = async (items) => {
  const found = [];
  const walk = async (entry, prefix) => {
    if (found.length >= MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
      if (file) found.push({ path: prefix + entry.name, file });
      return;
    }
    const reader = entry.createReader();
    for (;;) { // it answers a hundred at a time
      const entries = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
      if (!entries.length) break;
      for (const each of entries) await walk(each, `${prefix}${entry.name}/`);
    }
  };
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile?.());
  for (const entry of entries) {
    if (entry instanceof File) found.push({ path: entry.name, file: entry });
    else if (entry) await walk(entry, "");
  }
  return found;
};

const chosen = (input) => [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/* One file is a target; files of one folder are that folder, others one of no name. */
const mounted = async (files) => {
  const kept = files.filter(({ path }) => plain(path)).slice(0, MOST_FILES);
  if (!kept.length) return { problem: "no file was found there" };
  const roots = new Set(kept.map(({ path }) => path.split("/")[0]));
  const [root] = roots;
  const inside = roots.size === 1 && kept[0].path.includes("/");
  const named = inside ? root : kept.length === 1 ? "file" : "files";
  let place = named;
  for (let copy = 2; places.has(place); copy++) place = `${named} (${copy})`;
  places.set(place, kept.reduce((sum, { file }) => sum + file.size, 0));
  const within = kept.map(({ path, file }) => ({ path: inside ? path.slice(root.length + 1) : path, file }));
  const answer = await ask("mount", { place, files: within });
  if (answer?.problem) return answer;
  return { target: !inside && kept.length === 1 ? `${place}/${within[0].path}` : place, size: places.get(place) };
};

// --- opening and showing ----------------------------------------------------------------------------

const VIEWS = { overview: "Overview", memory: "Memory", quants: "Quantizations", audit: "Audit", diff: "Compare" };
let shown = { targets: [], view: "overview", size: 0, remote: null, before: 0 };
let turn = 0;

const open = async (source) => {
  failed("");
  document.documentElement.dataset.ready = "";
  say(document.documentElement.dataset.started ? "Reading …" : "Starting Python, then reading …");
  shown = { targets: [], view: "overview", size: 0, remote: null, before: Number(at("status").dataset.read ?? 0), ...source };
  at("views").hidden = at("controls").hidden = true;
  await show("overview");
};

const openFiles = async (files, other = false) => {
  const from = (document.documentElement.dataset.ready = "", await mounted(files));
  if (from.problem) return failed(from.problem);
  if (!other) return open({ targets: [from.target], size: from.size });
  shown.targets = [shown.targets[0], from.target];
  return show("diff");
};

const remote = () => ({ hub: at("hub").value.trim() || at("hub").defaultValue, token: at("token").value.trim() });

const openName = (name, other = false) => {
  if (!other) {
    const link = new URL(location.href);
    link.searchParams.set("model", name);
    history.replaceState(null, "", link);
    return open({ targets: [name], remote: remote() });
  }
  shown.targets = [shown.targets[0], name];
  shown.remote = remote();
  return show("diff");
};

const show = async (view, options = {}) => {
  const own = ++turn;
  const { targets } = shown;
  const [first, second] = targets;
  shown.view = view;
  if (view !== "diff") settings(view);
  if (view === "diff" && !second) return compare();
  const wanted = view === "diff" ? [first, second] : [first];
  document.documentElement.dataset.ready = "";
  const answer = await ask("view", { view, targets: wanted, options, remote: shown.remote });
  keep();
  if (own !== turn) return undefined; // something else was asked for since
  if (answer.fatal) { restart(); at("views").hidden = at("controls").hidden = true; }
  if (answer.problem) {
    if (!at("head").childElementCount || view !== "memory") clear();
    if (targets.length && !answer.fatal && view !== "overview") tabs(view);
    if (answer.problem.includes("HF_TOKEN")) at("open").querySelector("details").open = true; // where a token is entered
    return failed(answer.problem);
  }
  at("problem").hidden = true;
  document.body.classList.add("opened");
  document.title = `${answer.title} · checkpoint-inspector`;
  tabs(view);
  if (view === "diff") compare();
  at("head").innerHTML = answer.head;
  at("main").innerHTML = answer.body;
  const read = Number(at("status").dataset.read ?? 0) - shown.before;
  say(shown.size ? `${amount(read)} read of ${amount(shown.size)}.` : `${amount(read)} read.`);
  const verdict = at("head").querySelector(".verdict")?.textContent ?? "";
  at("status").append(element("span", { class: "spoken" }, ` ${answer.title}: ${verdict}`));
  await showPage(answer.tables);
  return undefined;
};

/* The app's own files for the next visit, when nothing waits for this one any more. */
const keep = () => { if (!editor && "serviceWorker" in navigator) navigator.serviceWorker.register("sw.js"); };

const clear = () => { at("head").replaceChildren(); at("main").replaceChildren(); };

const tabs = (view) => {
  const known = at("views").querySelectorAll("[data-view]");
  for (const button of known) button.setAttribute("aria-pressed", String(button.dataset.view === view));
  at("views").hidden = false;
  if (known.length) return; // which keep the focus
  const buttons = Object.entries(VIEWS).map(([name, label]) => {
    const button = element("button", { type: "button", "aria-pressed": String(name === view), "data-view": name }, label);
    button.addEventListener("click", () => show(name));
    return button;
  });
  const json = element("button", { type: "button" }, "JSON");
  json.addEventListener("click", save);
  at("views").replaceChildren(...buttons, json);
};

/* What `inspect TARGET --json --tensors` prints, as a file. */
const save = async () => {
  const answer = await ask("view", { view: "json", targets: [shown.targets[0]], options: { tensors: true }, remote: shown.remote });
  if (answer.problem) return failed(answer.problem);
  const url = URL.createObjectURL(new Blob([JSON.stringify(answer.document)], { type: "application/json" }));
  element("a", { href: url, download: "inspect.json" }).click();
  return setTimeout(() => URL.revokeObjectURL(url), 10000);
};

// --- settings of a view -----------------------------------------------------------------------------

const CONTEXTS = Array.from({ length: 23 }, (_, step) => (step % 2 ? 3 : 2) * 2 ** (8 + Math.floor(step / 2))); // 512, 768, 1,024, … 1,048,576
const CACHES = ["", "f16", "bf16", "q8_0", "q4_0", "fp8"];
const ENGINES = ["", "transformers", "llama.cpp", "vllm"];

const choice = (label, id, values, first) => {
  const select = element("select", { id }, ...values.map((value) => element("option", { value }, value || first)));
  return element("label", {}, label, select);
};

/* The form of a view that takes options; it stays as it is while the view does. */
const settings = (view) => {
  const form = at("controls");
  if (form.dataset.view === view) return;
  form.dataset.view = view;
  form.hidden = !["memory", "quants"].includes(view);
  if (form.hidden) return form.replaceChildren();
  const devices = element("datalist", { id: "devices" }, ...about.devices.map((value) => element("option", { value })));
  const device = element("input", { id: "gpu", list: "devices", placeholder: "rtx-4090, 24 GiB, 2xh100", autocomplete: "off" });
  const slider = element("input", { id: "context", type: "range", min: -1, max: CONTEXTS.length - 1, value: -1 });
  const label = element("output", { for: "context" });
  const speak = () => {
    label.textContent = slider.value < 0 ? "the model's own" : `${whole.format(CONTEXTS[slider.value])} tokens`;
    slider.setAttribute("aria-valuetext", label.textContent);
  };
  speak();
  slider.addEventListener("input", speak);
  const parts = [element("span", {}, element("label", { for: "context" }, "Context: "), label, slider), choice("Cache type", "cache", CACHES, "the engine's own")];
  if (view === "memory") parts.push(choice("Program", "engine", ENGINES, "by the format"));
  form.replaceChildren(...parts, element("label", {}, "Card", device), devices);
  form.onchange = () => show(view, {
    context: slider.value < 0 ? "" : CONTEXTS[slider.value],
    cache_dtype: at("cache").value,
    engine: at("engine")?.value ?? "",
    gpu: device.value.trim(),
  });
  return undefined;
};

/* Comparing asks for the second model first. */
const compare = () => {
  const form = at("controls");
  if (form.dataset.view === "diff") return;
  form.dataset.view = "diff";
  form.onchange = null;
  form.hidden = false;
  const files = element("input", { type: "file", multiple: "", id: "other" });
  files.addEventListener("change", () => openFiles(chosen(files), true));
  const folder = element("input", { type: "file", webkitdirectory: "", id: "other-folder" });
  folder.addEventListener("change", () => openFiles(chosen(folder), true));
  const name = element("input", { type: "text", id: "other-name", autocomplete: "off", placeholder: "org/name" });
  const go = element("button", { type: "submit" }, "Compare");
  form.onsubmit = (event) => { event.preventDefault(); if (name.value.trim()) openName(name.value.trim(), true); };
  const byName = editor ? [] : [element("label", { class: "wide" }, "or a name", name), go];
  form.replaceChildren(element("span", {}, "With: "), element("label", { class: "button" }, "Choose files", files),
    element("label", { class: "button" }, "Choose a folder", folder), ...byName);
  if (shown.targets.length < 2) { clear(); tabs("diff"); document.documentElement.dataset.ready = "yes"; }
};

// --- the page's own controls ------------------------------------------------------------------------

const take = (field) => { if (field.files.length) openFiles(chosen(field)); field.value = ""; };
at("controls").addEventListener("submit", (event) => event.preventDefault());
at("open").addEventListener("submit", (event) => { event.preventDefault(); if (at("name").value.trim()) openName(at("name").value.trim()); });
for (const id of ["files", "folder"]) {
  at(id).addEventListener("change", () => take(at(id)));
}
addEventListener("dragover", (event) => { event.preventDefault(); at("open").classList.add("over"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) at("open").classList.remove("over"); });
addEventListener("drop", async (event) => {
  event.preventDefault();
  at("open").classList.remove("over");
  const other = shown.view === "diff" && shown.targets.length === 1;
  openFiles(await dropped(event.dataTransfer.items), other);
});

/* The file of an editor, among those beside it. */
const openBorrowed = async ({ folder, name, files }) => {
  const answer = await mounted(files.map((file) => ({ path: `${folder}/${file.name}`, file })));
  if (answer.problem) return failed(answer.problem);
  return open({ targets: [`${answer.target}/${name}`], size: files.find((file) => file.name === name)?.size ?? 0 });
};

start();
take(at("files")); // what was chosen before this script ran
editor?.opened(openBorrowed, failed);
const named = new URL(location.href).searchParams.get("model");
if (named) { at("name").value = named; openName(named); }
