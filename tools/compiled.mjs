/* Compiles the Python of archives as the browser's Python would on every visit: node tools/compiled.mjs FOLDER NAME…

   FOLDER is the app's, with Pyodide in it; sources are left out, since nothing reads them. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...names] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(resolve(folder, "pyodide/pyodide.mjs")));
const python = await loadPyodide({ indexURL: resolve(folder, "pyodide") });
const compiled = python.runPython(`
import io, marshal, zipfile
from importlib.util import MAGIC_NUMBER, source_hash

def compiled(archive, docs):
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive.to_bytes())) as given, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in given.namelist():
            data = given.read(name)
            if name.endswith(".py"):
                code = compile(data, name, "exec", dont_inherit=True, optimize=0 if docs else 2)
                unchecked = (1).to_bytes(4, "little")
                name, data = f"{name}c", MAGIC_NUMBER + unchecked + source_hash(data) + marshal.dumps(code)
            out.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()

compiled
`);
for (const name of names) {
  const path = resolve(folder, name);
  const made = compiled(new Uint8Array(readFileSync(path)), name === "python.zip"); // whose docstrings are rules' texts
  writeFileSync(path, made.toJs());
  made.destroy();
}
