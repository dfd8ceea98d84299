/* Makes what starts Python in the browser, once instead of on every visit: node tools/compiled.mjs FOLDER MODEL

   FOLDER is the app's, with Pyodide in it. Sources are compiled and left out, since nothing reads them. Then a Python
   reads MODEL, a folder, in each of the app's views, forgets it, and its memory is kept: with it a visit begins where this
   one ended, with modules imported and tables read. What was imported is in no archive any more. Written are
   memory.bin and files.bin (see pack); they and Python itself, wasm.bin, are compressed, since many hosts compress nothing. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, model] = process.argv.slice(2);
const here = (name) => resolve(folder, name);
const archive = (name) => new Uint8Array(readFileSync(here(name)));
const write = (name, made) => { writeFileSync(here(name), made.toJs()); made.destroy(); };
// Python remembers whether it can wait for a promise; what waits in the app asks the browser first.
WebAssembly.Suspending ??= function Suspending(called) { return called; };
WebAssembly.promising ??= (called) => called;
const { loadPyodide } = await import(pathToFileURL(here("pyodide/pyodide.mjs")));
const begun = () => loadPyodide({
  indexURL: here("pyodide"),
  _makeSnapshot: true,
  env: { HOME: "/home/pyodide", HF_HUB_DISABLE_TELEMETRY: "1", PYTHONDONTWRITEBYTECODE: "1" },
});

const TOOLS = `
import io, json, marshal, zipfile
from importlib.util import MAGIC_NUMBER, source_hash

def rewritten(archive, of):
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive.to_bytes())) as given, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in given.namelist():
            if (entry := of(name, given.read(name))) is not None:
                out.writestr(zipfile.ZipInfo(entry[0]), entry[1], zipfile.ZIP_DEFLATED)
    return made.getvalue()

def compiled(archive, docs):
    def of(name, data):
        if not name.endswith(".py"):
            return name, data
        code = compile(data, name, "exec", dont_inherit=True, optimize=0 if docs else 2)
        return f"{name}c", MAGIC_NUMBER + (1).to_bytes(4, "little") + source_hash(data) + marshal.dumps(code)
    return rewritten(archive, of)

def without(archive, names):
    gone = set(names.to_py())
    return rewritten(archive, lambda name, data: None if name in gone else (name, data))

def pack(archive, names):
    """The files of an archive in one: the length of a list, the list [[path, length], …] as JSON, and all bytes."""
    gone, listed, parts = set(names.to_py()), [], []
    with zipfile.ZipFile(io.BytesIO(archive.to_bytes())) as given:
        for name in given.namelist():
            if name not in gone and not name.endswith("/"):
                parts.append(given.read(name))
                listed.append([name, len(parts[-1])])
    head = json.dumps(listed).encode()
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])
`;

/* Where each imported module lies, relative to a folder or an archive; then all is forgotten that a visit does not need. */
const ENDED = `
import gc, sys, zipimport
def imported(root):
    files = (getattr(module, "__file__", None) or "" for module in sys.modules.values())
    return [file.removeprefix(root) for file in files if file.startswith(root)]
found = imported("/packages/"), imported("/lib/python314.zip/")
engine.forget()
zipimport._zip_directory_cache.clear()
sys.path_importer_cache.clear()
del sys.modules["__main__"].__dict__["imported"]
gc.collect()
found
`;

const tools = await begun();
tools.runPython(TOOLS);
const { globals } = tools;
for (const name of ["python.zip", "hub.zip", "pyodide/python_stdlib.zip"]) {
  write(name, globals.get("compiled")(archive(name), name === "python.zip")); // whose docstrings are rules' texts
}

const python = await begun();
python.unpackArchive(archive("python.zip"), "zip", { extractDir: "/packages" });
// Python looks for modules here and in its own library, and never where files were dropped.
python.runPython(`import sys; sys.path[:] = ["/packages", *filter(None, sys.path)]`);
const { FS } = python;
FS.mkdirTree("/models/built");
for (const name of readdirSync(model)) FS.writeFile(`/models/built/${name}`, new Uint8Array(readFileSync(resolve(model, name))));
python.runPython("import engine; engine.begin('/models')");
const seen = python.runPython(`
import json
[engine.view(name, json.dumps(["built", "built"][:1 + (name == "diff")]), "{}") for name in engine.VIEWS]
`).toJs();
for (const answer of seen) if (JSON.parse(answer).problem) throw new Error(answer);
const [ours, standard] = python.runPython(ENDED).toJs();
python.runPython("for each in ('found', 'json', 'gc', 'zipimport'): globals().pop(each, None)");
const small = (bytes) => gzipSync(bytes, { level: 9 });
writeFileSync(here("memory.bin"), small(python.makeMemorySnapshot()));
const packed = globals.get("pack")(archive("python.zip"), ours);
writeFileSync(here("files.bin"), small(packed.toJs()));
write("pyodide/python_stdlib.zip", globals.get("without")(archive("pyodide/python_stdlib.zip"), standard));
writeFileSync(here("pyodide/wasm.bin"), small(archive("pyodide/pyodide.asm.wasm")));
for (const name of ["python.zip", "pyodide/pyodide.asm.wasm"]) rmSync(here(name));
process.exit(0); // Python waits for nothing
