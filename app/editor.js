/* The app in an editor (editors/vscode): its files come from the extension, slice by slice, and there is no network.

   A worker of such a view may import nothing from the editor's own addresses, so this page fetches the parts for it. */

const api = acquireVsCodeApi();
const waiting = new Map(); // number of a slice → what waits for it
let given = null;
let complain = null;

addEventListener("message", ({ data }) => {
  if (data.slice !== undefined) {
    waiting.get(data.slice)?.(data);
    waiting.delete(data.slice);
  } else if (data.open) given?.(data.open);
  else if (data.problem) complain?.(data.problem);
});

/* Calls `show` with {folder, name, files: [{name, size, borrowed}]} as the extension opens a file. */
export const opened = (show, problem) => {
  [given, complain] = [show, problem];
  api.postMessage({ ready: true });
};

/* Bytes of a file: {slice, file, offset, length} → {slice, bytes}, or {slice, problem}. */
export const slice = (wanted) => new Promise((resolve) => {
  waiting.set(wanted.slice, (answer) => { if (answer.problem) complain?.(answer.problem); resolve(answer); });
  api.postMessage(wanted);
});

const TYPES = { js: "text/javascript", mjs: "text/javascript", zip: "application/zip", bin: "application/octet-stream", json: "application/json" };
const PARTS = [
  "worker.js", "memory.bin", "files.bin", "pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs", "pyodide/wasm.bin",
  "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json",
];
let parts = null;

const fetched = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return [name, URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: TYPES[name.split(".").at(-1)] }))];
};

/* What the worker imports, in order. */
export const scripts = async () => {
  parts ??= Object.fromEntries([["pyodide/", "https://pyodide.invalid/"], ...await Promise.all(PARTS.map(fetched))]);
  const places = new Blob([`globalThis.PARTS = ${JSON.stringify(parts)};`], { type: "text/javascript" });
  return [URL.createObjectURL(places), parts["worker.js"]];
};

// --- the editor's colours ---------------------------------------------------------------------------

document.body.classList.add("editor");
const root = document.documentElement;
const follow = () => {
  const kind = document.body.dataset.vscodeThemeKind ?? "vscode-light";
  const wanted = kind.endsWith("light") ? "light" : "dark";
  root.dataset.theme ??= wanted === "light" ? "dark" : "light";
  if (root.dataset.theme !== wanted) document.getElementById("theme").click();
};
follow();
new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-vscode-theme-kind"] });
