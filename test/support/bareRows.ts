import type { Source } from "./source.ts"

/**
 * Files with statements whose rows are not decoded (CONTRIBUTING.md, "Rows"), and the reasons. Each was measured, and a
 * test compares its rows with the schema of their type.
 */
const bareRows: Readonly<Record<string, string>> = {
  "src/services/statuses/ViewerStates.ts":
    "up to 14 arrays of ids for every page of every home, by ready texts; test/services/statuses/Visibility.test.ts"
}

const bare = /\bsql(?:\.unsafe)?<.*/g

const found = (files: ReadonlyArray<Source>, pattern: RegExp) =>
  files.flatMap(({ code, path }) => [...code.matchAll(pattern)].map(([line]) => `${path}: ${line.trim()}`))

/** Finds statements with undecoded rows in unlisted files, and listed files without them. */
export const bareStatements = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => [
  ...found(sources.filter(({ path }) => !(path in bareRows)), bare),
  ...Object.keys(bareRows).filter((path) => found(sources.filter((file) => file.path === path), bare).length === 0)
]

/** Finds decoders that are not made at the top of a file. */
export const decodersInside = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  found(
    sources.filter(({ path }) => path !== "src/services/database/Rows.ts"),
    /^(?!(?:export )?const \w+Rows = rowsOf\().*\browsOf\(.*/gm
  )

/**
 * Finds statements outside StatusRows.ts that insert or update statuses; a copy of another server's database has its
 * own statements.
 */
export const statusWrites = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.filter(({ path }) =>
    path !== "src/services/statuses/StatusRows.ts" && !path.startsWith("src/services/mastodon/")
  ).flatMap(({ literals, path }) =>
    literals.filter((literal) => /\b(?:INSERT INTO|UPDATE) statuses\b/.test(literal)).map((literal) =>
      `${path}: ${literal}`
    )
  )
