/* Stands for the editor at its documented boundary: the module `vscode`, a webview's `acquireVsCodeApi` and messages.

   node host.cjs serve EXTENSION APP FILE    the extension in this process, its view in a page at the printed address
   node host.cjs check EXTENSION FOLDER      what the extension answers, asked directly */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const Module = require("node:module");
const path = require("node:path");

class Uri {
  constructor(scheme, place) { this.scheme = scheme; this.path = place; }
  get fsPath() { return this.path; }
  static joinPath({ scheme, path: place }, ...parts) { return new Uri(scheme, path.posix.join(place, ...parts)); }
}

const asked = []; // whole files
const provided = {};
const kind = (entry) => (entry.isSymbolicLink() ? 64 : 0) | (entry.isDirectory() ? 2 : 1);
const vscode = {
  Uri,
  FileType: { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 },
  window: { registerCustomEditorProvider: (view, provider) => { provided[view] = provider; return { dispose() {} }; } },
  workspace: { fs: {
    readFile: async (uri) => { asked.push(path.basename(uri.path)); return new Uint8Array(fs.readFileSync(uri.path)); },
    readDirectory: async (uri) => fs.readdirSync(uri.path, { withFileTypes: true }).map((entry) => [entry.name, kind(entry)]),
    stat: async (uri) => { const { size, mtime } = fs.statSync(uri.path); return { size, mtime: mtime.getTime() }; },
  } },
};

/* The extension, and a webview whose messages are collected: `heard` is called with each that it gets. */
const opened = async (extension, app, uri, heard, address = "https://files.invalid") => {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  require(path.resolve(extension, "extension.js")).activate({ extensionUri: new Uri("file", path.resolve(app, "..")), subscriptions: [] });
  Module._load = load;
  let listener = null;
  const webview = {
    cspSource: address, options: {}, html: "",
    asWebviewUri: (given) => `${address}/${path.basename(given.path)}`,
    onDidReceiveMessage: (wanted) => { listener = wanted; },
    postMessage: async (message) => heard(message),
  };
  const [provider] = Object.values(provided);
  await provider.resolveCustomEditor(provider.openCustomDocument(uri), { webview });
  return { webview, post: (message) => listener(message) };
};

// --- a page with the view -----------------------------------------------------------------------------

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };
const HOST = `<!doctype html><meta charset="utf-8"><title>an editor</title><link rel="icon" href="data:,"><style>iframe { width: 100%; height: 90vh; border: 0; }</style>
<iframe id="view"></iframe><script>
const view = document.getElementById("view").contentWindow;
new EventSource("/events").onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.bytes !== undefined) message.bytes = Uint8Array.from(atob(message.bytes), (each) => each.charCodeAt(0)).buffer;
  view.postMessage(message, "*");
};
view.acquireVsCodeApi = () => ({ postMessage: (message) => fetch("/post", { method: "POST", body: JSON.stringify(message) }) });
fetch("/view").then((answer) => answer.text()).then((html) => { view.document.open(); view.document.write(html); view.document.close(); });
</script>`;

const serve = async (extension, app, file) => {
  let events = null;
  const heard = (message) => {
    const bytes = message.bytes && Buffer.from(message.bytes).toString("base64");
    events.write(`data: ${JSON.stringify({ ...message, bytes })}\n\n`);
  };
  const routes = {
    "/": (answer) => answer.writeHead(200, { "content-type": "text/html" }).end(HOST),
    "/view": (answer) => answer.end(view.webview.html.replace("<body", '<body data-vscode-theme-kind="vscode-dark"')),
    "/events": (answer) => { events = answer.writeHead(200, { "content-type": "text/event-stream" }); answer.flushHeaders(); },
  };
  let view = null;
  const server = http.createServer((request, answer) => {
    if (request.method === "POST") {
      const parts = [];
      request.on("data", (part) => parts.push(part)).on("end", () => { view.post(JSON.parse(Buffer.concat(parts))); answer.end(); });
    } else if (routes[request.url]) routes[request.url](answer);
    else { // a part of the app, at an address of another site
      const place = path.join(app, path.posix.normalize(request.url));
      if (!fs.existsSync(place)) return answer.writeHead(404).end();
      answer.writeHead(200, { "content-type": TYPES[path.extname(place)] ?? "application/octet-stream", "access-control-allow-origin": "*" });
      fs.createReadStream(place).pipe(answer);
    }
    return undefined;
  });
  server.listen(0, "127.0.0.1", async () => {
    const { port } = server.address();
    view = await opened(extension, app, new Uri("file", file), heard, `http://localhost:${port}`);
    console.log(`http://127.0.0.1:${port}/`);
  });
};

// --- what the extension answers -----------------------------------------------------------------------

const check = async (extension, folder) => {
  const app = path.join(folder, "app");
  fs.mkdirSync(path.join(folder, "a model"));
  fs.mkdirSync(path.join(folder, "a model", "sub"));
  fs.mkdirSync(app);
  fs.writeFileSync(path.join(app, "index.html"), '<meta http-equiv="Content-Security-Policy" content="script-src *"><script src="app.js"></script>');
  const own = path.join(folder, "a model", "<b>.safetensors");
  const data = Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 251));
  fs.writeFileSync(own, data);
  fs.writeFileSync(path.join(folder, "a model", "config.json"), "{}");
  fs.symlinkSync(path.join(folder, "a model", "gone"), path.join(folder, "a model", "nowhere"));

  const answers = [];
  const view = await opened(extension, app, new Uri("file", own), (message) => answers.push(message));
  const reply = async (message) => { await view.post(message); return answers.at(-1); };
  assert.deepEqual(Object.keys(provided), ["checkpointInspector.weights", "checkpointInspector.binary"]);
  assert.match(view.webview.html, /content="default-src 'none'; script-src https:\/\/files\.invalid blob: 'wasm-unsafe-eval'; /);
  assert.doesNotMatch(view.webview.html, /script-src [^;"]*('unsafe-|\*)/);
  assert.ok(view.webview.html.includes('src="https://files.invalid/app.js"'));
  assert.deepEqual(view.webview.options.localResourceRoots.map((uri) => uri.path), [app]);

  const { open } = await reply({ ready: true });
  assert.deepEqual([open.folder, open.name], ["a model", "<b>.safetensors"]);
  assert.deepEqual(open.files, [{ name: "<b>.safetensors", size: 5000, borrowed: 0 }, { name: "config.json", size: 2, borrowed: 1 }]);

  const slice = async (file, offset, length) => reply({ slice: 7, file, offset, length });
  assert.deepEqual(Buffer.from((await slice(0, 4000, 1000)).bytes), data.subarray(4000));
  assert.deepEqual(Buffer.from((await slice(1, 0, 2)).bytes), Buffer.from("{}"));
  for (const wrong of [[0, 4000, 1001], [0, -1, 2], [0, 0.5, 2], [2, 0, 1], [-1, 0, 1], ["0", 0, 1], ["constructor", 0, 1], [0, 0, 2 ** 53], [null, 0, 1]]) {
    assert.deepEqual(await slice(...wrong), { slice: 7, problem: "there is no such part of a file" }, String(wrong));
  }
  const before = answers.length;
  await view.post({ slice: "7", file: 0, offset: 0, length: 1 });
  assert.equal(answers.length, before);
  assert.deepEqual(asked, ["index.html"]); // from a disk come slices alone
  fs.writeFileSync(own, "other");
  assert.match((await slice(0, 0, 8)).problem, /<b>\.safetensors has changed since it was opened/);
  fs.unlinkSync(own);
  assert.match((await slice(0, 0, 8)).problem, /ENOENT/);
  assert.match((await reply({ ready: true })).problem, /ENOENT/);

  fs.writeFileSync(own, data); // where the editor gives whole files only
  const virtual = await opened(extension, app, new Uri("vscode-vfs", own), (message) => answers.push(message));
  await virtual.post({ ready: true });
  for (const offset of [10, 20]) {
    await virtual.post({ slice: 8, file: 0, offset, length: 4 });
    assert.deepEqual(Buffer.from(answers.at(-1).bytes), data.subarray(offset, offset + 4));
  }
  assert.equal(asked.filter((name) => name === "<b>.safetensors").length, 1);
  fs.truncateSync(own, 2 ** 30 + 1);
  const large = await opened(extension, app, new Uri("vscode-vfs", own), (message) => answers.push(message));
  await large.post({ ready: true });
  await large.post({ slice: 9, file: 0, offset: 0, length: 8 });
  assert.match(answers.at(-1).problem, /gives whole files only, of at most 1073741824 bytes/);
  console.log("as expected");
};

const [wanted, ...rest] = process.argv.slice(2);
({ serve, check })[wanted](...rest);
