/* The app in an editor (editors/vscode): its files come from the extension, slice by slice, and there is no network. */

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
