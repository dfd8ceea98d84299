/* Python, with the library, in a worker of its own: the page stays responsive, and files may be read synchronously.

   Each message in is {id, name, …}, each one out {id, answer} or {id, fatal}; {read} counts bytes as they are read.
   Where the files are an editor's, {slice, file, offset, length} asks for bytes, and {slice, bytes} or {slice, problem} comes. */

const FOLDER = "/models";
const PACKAGES = "/packages";
const UNREADABLE = 29; // EIO

/* Where a part of the app is: beside this script, or where parts.js has put it. */
const place = (name) => (globalThis.PARTS ? PARTS[name] ?? name : new URL(name, import.meta.url).href);

const fetched = async (name) => {
  const answer = await fetch(place(name));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
};
const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());
/* The response of a part that is kept compressed. */
const unpacked = async (name, type = "application/octet-stream") => {
  const { body } = await fetched(name);
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
};

let read = 0;
let shown = 0;
const count = (more) => {
  read += more;
  const now = Date.now();
  if (now - shown > 200) { shown = now; postMessage({ read }); }
};

/* Files are read by slices, and one that cannot be read any more is an error of that file, not the end of Python. */
const counted = ({ FS }) => {
  const operations = FS.filesystems.WORKERFS.stream_ops;
  const original = operations.read;
  operations.read = (stream, buffer, offset, length, position) => {
    try {
      const { contents } = stream.node;
      const read = contents instanceof Blob ? original : borrowed;
      const got = read(stream, buffer, offset, length, position);
      count(got);
      return got;
    } catch {
      throw new FS.ErrnoError(UNREADABLE);
    }
  };
};

// --- files of an editor, whose bytes come by messages -------------------------------------------------

const slices = new Map(); // number → what waits for it
let sliced = 0;

/* The slice that was asked for just before; a file that is read otherwise cannot be read. */
const borrowed = ({ node: { contents: { size, kept } } }, buffer, offset, length, position) => {
  if (position >= size) return 0;
  if (!kept || position < kept.offset || position >= kept.offset + kept.bytes.length) throw new Error("not asked for");
  const part = kept.bytes.subarray(position - kept.offset, position - kept.offset + length);
  buffer.set(part, offset);
  return part.length;
};

/* What Python waits for before it reads at a place of a file that it has open: nothing if the file is here. */
const wanted = (FS, descriptor, length, offset) => {
  const { contents } = FS.getStream(descriptor)?.node ?? {};
  if (contents?.borrowed === undefined || offset >= contents.size) return undefined;
  return new Promise((resolve) => {
    slices.set(++sliced, ({ bytes: got }) => {
      contents.kept = got && { offset, bytes: new Uint8Array(got) };
      resolve();
    });
    postMessage({ slice: sliced, file: contents.borrowed, offset, length: Math.min(length, contents.size - offset) });
  });
};

/* Python's memory and its modules' files, as tools/compiled.mjs has made them. */
const memory = unpacked("memory.bin").then(bytes);
const packages = unpacked("files.bin").then(bytes);
const interpreter = unpacked("pyodide/wasm.bin", "application/wasm");

/* Writes the modules' files: the length of a list, the list [[path, length], …], all bytes. */
const install = ({ FS }, packed) => {
  const start = 4 + new DataView(packed.buffer).getUint32(0, true);
  let end = start;
  const known = new Set();
  for (const [path, length] of JSON.parse(new TextDecoder().decode(packed.subarray(4, start)))) {
    const within = `${PACKAGES}/${path.slice(0, path.lastIndexOf("/") + 1)}`;
    if (!known.has(within)) FS.mkdirTree(within);
    known.add(within);
    FS.writeFile(`${PACKAGES}/${path}`, packed.subarray(end, end += length), { canOwn: true });
  }
};

const begin = async () => {
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all(
    ["pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs"].map((name) => globalThis.MODULES?.[name] ?? import(place(name))),
  );
  const indexURL = place("pyodide/");
  const all = fetch;
  globalThis.fetch = (from, ...rest) => {
    const name = String(from).replace(indexURL, "pyodide/");
    return name === "pyodide/pyodide.asm.wasm" ? interpreter : all(globalThis.PARTS?.[name] ?? from, ...rest);
  };
  return loadPyodide({
    indexURL,
    async createPyodideModule(settings) {
      const made = await createPyodideModule(settings);
      const kept = await memory;
      made.growMemory(kept.length);
      // The only number in it that is the browser's own: how it calls functions of fewer arguments.
      const where = made.__PyRuntime + made.HEAP32[made.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4];
      const view = new DataView(kept.buffer);
      view.setInt32(view.getUint32(4, true) + where, made.HEAP32[where / 4], true);
      return made;
    },
    stdLibURL: place("pyodide/python_stdlib.zip"),
    _loadSnapshot: memory,
  });
};

const started = (async () => {
  const python = await begin();
  install(python, await packages);
  counted(python);
  python.FS.mkdirTree(FOLDER);
  const engine = python.pyimport("engine");
  engine.begin(FOLDER);
  return { python, engine };
})();

let withHub = null;
const hub = () => (withHub ??= (async () => {
  const { python } = await started;
  globalThis.countBytes = count;
  python.unpackArchive(await bytes(await fetched("hub.zip")), "zip", { extractDir: PACKAGES });
})());

const commands = {
  /* Put files where the library finds them: {place, files: [{path, file}]}; a file of an editor's is {size, borrowed}. */
  async mount({ place, files }) {
    const { python: { FS }, engine } = await started;
    if (files.some(({ file }) => file.borrowed !== undefined)) {
      if (!("Suspending" in WebAssembly)) return { problem: "this editor is too old to read files by slices (WebAssembly's JSPI): update it" };
      engine.borrow((...slice) => wanted(FS, ...slice));
    }
    FS.mkdirTree(`${FOLDER}/${place}`);
    const blobs = files.map(({ path, file }) => ({ name: path, data: file }));
    FS.mount(FS.filesystems.WORKERFS, { blobs }, `${FOLDER}/${place}`);
    return null;
  },
  async view({ view, targets, options, remote }) {
    const { engine } = await started;
    if (remote) {
      await hub();
      engine.log_in(remote.hub, remote.token);
    }
    const { view: answer } = engine;
    const ask = "Suspending" in WebAssembly ? answer.callPromising.bind(answer) : answer; // Python waits for a slice
    return JSON.parse(await ask(view, JSON.stringify(targets), JSON.stringify(options)));
  },
};

let last = Promise.resolve(); // one after another, although Python may wait

addEventListener("message", ({ data }) => {
  if (data.slice === undefined) last = last.then(() => obey(data));
  else {
    slices.get(data.slice)?.(data);
    slices.delete(data.slice);
  }
});

const obey = async ({ id, name, ...rest }) => {
  try {
    const answer = await commands[name](rest);
    postMessage({ id, answer, read });
  } catch (error) {
    postMessage({ id, fatal: String(error?.message ?? error).trim().split("\n").at(-1), read });
  }
};

started.then(
  ({ engine }) => postMessage({ started: JSON.parse(engine.about()) }),
  (error) => postMessage({ broken: String(error) }),
);
