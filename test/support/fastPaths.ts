import { readFileSync } from "node:fs"
import type { Source } from "./source.ts"

/** Rows of docs/fast-paths.md: name, file and bench row. */
const ledger = [
  ...readFileSync(new URL("../../docs/fast-paths.md", import.meta.url), "utf8")
    .matchAll(/^\| ([a-z-]+) \| `([^`]+)` \|[^|]+\| ([^|]+) \|/gm)
].map(([, name = "", path = "", bench = ""]) => ({ mark: `${path}: ${name}`, bench }))

/** Compares the marks `@fastPath NAME` of the sources with docs/fast-paths.md; returns entries of only one of them. */
export const unlistedFastPaths = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const marks = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/@fastPath ([a-z-]+)/g)].map(([, name = ""]) => `${path}: ${name}`)
  )
  const listed = ledger.map(({ mark }) => mark)
  return [...marks.filter((mark) => !listed.includes(mark)), ...listed.filter((mark) => !marks.includes(mark))]
}

/** Returns bench rows of docs/fast-paths.md that the benchmark does not have. */
export const unknownBenchRows = (tests: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const rows = new Set(
    tests.filter(({ path }) => path.startsWith("test/bench/rows/")).flatMap(({ literals }) => literals)
  )
  return ledger.map(({ bench }) => bench).filter((bench) => !rows.has(bench))
}
