/* Python, with the library, in a worker of its own: the page stays responsive, and files may be read synchronously.

   Each message in is {id, name, …}, each one out {id, answer} or {id, problem}; {read} counts bytes as they are read. */
import { loadPyodide } from "./pyodide/pyodide.mjs";

const FOLDER = "/models";
const PACKAGES = "/packages";
const UNREADABLE = 29; // EIO

const bytes = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
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
  operations.read = (...place) => {
    try {
      const got = original(...place);
      count(got);
      return got;
    } catch {
      throw new FS.ErrnoError(UNREADABLE);
    }
  };
};

const install = (python, archive) => python.unpackArchive(archive, "zip", { extractDir: PACKAGES });

const started = (async () => {
  const loading = loadPyodide({
    env: { HOME: "/home/pyodide", HF_HUB_DISABLE_TELEMETRY: "1" },
  });
  const archive = bytes("python.zip");
  const python = await loading;
  install(python, await archive);
  // Python looks for modules here and in its own library, and never where files were dropped.
  python.runPython(`import sys; sys.path[:] = ["${PACKAGES}", *filter(None, sys.path)]`);
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
  install(python, await bytes("hub.zip"));
})());

const commands = {
  /* Put files where the library finds them: {place, files: [{path, file}]}. */
  async mount({ place, files }) {
    const { FS } = (await started).python;
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
    return JSON.parse(engine.view(view, JSON.stringify(targets), JSON.stringify(options)));
  },
};

addEventListener("message", async ({ data: { id, name, ...rest } }) => {
  try {
    const answer = await commands[name](rest);
    postMessage({ id, answer, read });
  } catch (error) {
    postMessage({ id, fatal: String(error?.message ?? error).trim().split("\n").at(-1), read });
  }
});

started.then(
  ({ engine }) => postMessage({ started: JSON.parse(engine.about()) }),
  (error) => postMessage({ broken: String(error) }),
);
