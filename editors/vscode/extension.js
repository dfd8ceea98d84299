/* Opens weight files in the app (docs/app.md), as an editor that never writes. The same file runs in Node and in a web
   worker: there is no bundle, and no dependency.

   The view asks for slices of the files that it was given, by their numbers. On a disk they are read at their offsets; of
   other file systems the editor gives whole files only, which is bounded. Nothing is sent to any network. */
"use strict";

const vscode = require("vscode");

/* Node's files, in an extension host that has them. */
const disk = (() => { try { return require("node:fs"); } catch { return null; } })();

const MOST_FILES = 2000; // of a folder, beside the one that is opened
const LARGEST_SLICE = 256 * 2 ** 20; // the view's library asks for less
const LARGEST_WHOLE = 2 ** 30; // of a file that can be read only whole

const VIEWS = ["checkpointInspector.weights", "checkpointInspector.binary"];

exports.activate = (context) => {
  const provider = {
    openCustomDocument: (uri) => ({ uri, dispose() {} }),
    resolveCustomEditor: (document, panel) => resolve(context.extensionUri, document.uri, panel),
  };
  const options = { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: false };
  for (const view of VIEWS) context.subscriptions.push(vscode.window.registerCustomEditorProvider(view, provider, options));
};

const resolve = async (extension, uri, { webview }) => {
  const app = vscode.Uri.joinPath(extension, "app");
  webview.options = { enableScripts: true, localResourceRoots: [app] };
  let files = [];
  webview.onDidReceiveMessage(async (message) => {
    if (message.ready) {
      try {
        files = await beside(uri);
        const own = { folder: base(vscode.Uri.joinPath(uri, "..")) || "folder", name: base(uri) };
        webview.postMessage({ open: { ...own, files: files.map(({ name, size }, borrowed) => ({ name, size, borrowed })) } });
      } catch (error) {
        webview.postMessage({ problem: reason(error) });
      }
    } else if (Number.isSafeInteger(message.slice)) webview.postMessage({ slice: message.slice, ...await answer(files, message) });
  });
  const index = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(app, "index.html"));
  webview.html = page(new TextDecoder().decode(index), webview, app);
};

const reason = (error) => String(error?.message ?? error).split("\n")[0].slice(0, 500);

const base = (uri) => uri.path.split("/").filter(Boolean).at(-1) ?? "";

/* The app's own page, whose parts lie at the editor's addresses, and whose policy allows those and nothing else. */
const page = (html, webview, app) => {
  const own = webview.cspSource;
  const policy = [
    "default-src 'none'", `script-src ${own} blob: 'wasm-unsafe-eval'`, "worker-src blob:", `connect-src ${own} blob:`,
    `style-src ${own}`, "img-src data:", "base-uri 'none'", "form-action 'none'",
  ].join("; ");
  return html
    .replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, `$1${policy}`)
    .replace(/ (href|src)="([\w-]+\.(?:css|js))"/g, (_, kind, name) => ` ${kind}="${webview.asWebviewUri(vscode.Uri.joinPath(app, name))}"`);
};

/* The file, and those of its folder: shards, the configuration, the tokenizer. */
const beside = async (uri) => {
  const folder = vscode.Uri.joinPath(uri, "..");
  const own = base(uri);
  let names = [];
  try {
    const entries = await vscode.workspace.fs.readDirectory(folder);
    names = entries.filter(([name, type]) => type & vscode.FileType.File && name !== own).map(([name]) => name).slice(0, MOST_FILES);
  } catch { /* a folder that may not be listed: the file alone */ }
  const found = await Promise.all(names.map((name) => described(vscode.Uri.joinPath(folder, name), name).catch(() => null)));
  return [await described(uri, own), ...found.filter(Boolean)];
};

const described = async (uri, name) => {
  const { size, mtime } = await vscode.workspace.fs.stat(uri);
  return { uri, name, size, mtime };
};

/* Bytes of the file with a number, or what is wrong. */
const answer = async (files, { file, offset, length }) => {
  const wanted = Number.isSafeInteger(file) ? files[file] : undefined;
  const within = wanted && [offset, length].every((each) => Number.isSafeInteger(each) && each >= 0) && offset + length <= wanted.size;
  if (!within || length > LARGEST_SLICE) return { problem: "there is no such part of a file" };
  try {
    const read = disk && wanted.uri.scheme === "file" ? fromDisk : fromWhole;
    return { bytes: await read(wanted, offset, length) };
  } catch (error) {
    return { problem: reason(error) };
  }
};

const changed = ({ name }) => new Error(`${name} has changed since it was opened: close it and open it again`);

const fromDisk = async (file, offset, length) => {
  const { O_RDONLY, O_NONBLOCK = 0 } = disk.constants;
  const handle = await disk.promises.open(file.uri.fsPath, O_RDONLY | O_NONBLOCK);
  try {
    const status = await handle.stat();
    if (!status.isFile() || status.size !== file.size || status.mtime.getTime() !== file.mtime) throw changed(file);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
      if (!bytesRead) throw changed(file);
      done += bytesRead;
    }
    return bytes.buffer;
  } finally {
    await handle.close();
  }
};

/* The editor has no slices of what is on no disk of its own: the whole file is read once, and kept. */
const fromWhole = async (file, offset, length) => {
  if (file.size > LARGEST_WHOLE) throw new Error(`${file.name} has ${file.size} bytes, and this file system gives whole files only, of at most ${LARGEST_WHOLE} bytes`);
  file.whole ??= vscode.workspace.fs.readFile(file.uri);
  const whole = await file.whole;
  if (whole.length !== file.size) throw changed(file);
  return whole.slice(offset, offset + length).buffer;
};
