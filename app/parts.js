/* The worker's parts, fetched by the page: for a worker that cannot fetch them. In an editor's view that is any; in Firefox
   one without a network, where a service worker answers pages alone. */

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

/* What the worker imports, in order; modules among the parts as well, since Firefox lets none of a blob come later. */
export const scripts = async () => {
  parts ??= Object.fromEntries([["pyodide/", "https://pyodide.invalid/"], ...await Promise.all(PARTS.map(fetched))]);
  const modules = Object.keys(parts).filter((name) => name.endsWith(".mjs"));
  const code = modules.map((name, at) => `import * as part${at} from ${JSON.stringify(parts[name])};`);
  code.push(`globalThis.PARTS = ${JSON.stringify(parts)};`, `globalThis.MODULES = { ${modules.map((name, at) => `${JSON.stringify(name)}: part${at}`)} };`);
  return [URL.createObjectURL(new Blob([code.join("\n")], { type: "text/javascript" })), parts["worker.js"]];
};
