import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"

/** `import` and `export` with a fixed module, at the start of a line or in minified code. */
const imported =
  /(?:\bfrom|\bimport)\s*["']([^"'\n]{1,200})["']|\bimport\s*\(\s*(?:\/\*[^*]*\*\/\s*)?["']([^"'\n]{1,200})["']/g
const required = /\brequire(?:\.resolve)?\s*\(\s*["']([^"'\n]{1,200})["']/g
/** Files that a module reads from its own folder. */
const beside = /\bnew URL\(\s*["'](\.[^"'\n]{1,200})["'],\s*import\.meta\.url/g
/** Documentation comments, whose examples import modules that the code does not. */
const documentation = /^[ \t]*\/\*\*[\s\S]*?\*\//gm
const code = /(?<!\.d)\.[cm]?[jt]s$/
const declarations = /\.d\.[cm]?ts$/

const specifiers = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, first, second]) => first ?? second ?? "")

/** Returns the file of a module; undefined for Node's own modules, and for optional packages that are not installed. */
const resolved = (find: () => string): ReadonlyArray<string> => {
  try {
    const found = find()
    const file = found.startsWith("file:") ? fileURLToPath(found) : found
    return file.startsWith("/") && existsSync(file) ? [file] : []
  } catch {
    return []
  }
}

/**
 * Returns the modules that a file may load. Text that only looks like an import adds a module; the result has too many
 * rather than too few. Modules whose name is computed are not found.
 */
const importsOf = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(file, "utf8").replaceAll(documentation, "")
  const { href } = pathToFileURL(file)
  const require = createRequire(file)
  return [
    ...specifiers(text, imported).flatMap((name) => resolved(() => import.meta.resolve(name, href))),
    ...specifiers(text, required).flatMap((name) => resolved(() => require.resolve(name))),
    ...specifiers(text, beside).flatMap((name) => resolved(() => new URL(name, href).href))
  ]
}

/**
 * Returns all files below `node_modules` that the program in these folders may load, as absolute paths, without those
 * that are never installed in production. Needs Node's flag `--experimental-import-meta-resolve`.
 */
export const reachableFrom = (
  folders: ReadonlyArray<string>,
  isDevelopment: (file: string) => boolean
): ReadonlySet<string> => {
  const found = new Set<string>()
  const waiting = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`)
  ).filter((file) => code.test(file))
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (!code.test(file)) continue
    for (const next of importsOf(file)) {
      if (found.has(next) || !next.includes("/node_modules/")) continue
      if (isDevelopment(next) || declarations.test(next)) continue
      found.add(next)
      waiting.push(next)
    }
  }
  return found
}
