import { readFileSync } from "node:fs"
import { matches } from "./source.ts"

const text = readFileSync(`${import.meta.dirname}/../../docs/glossary.md`, "utf8")
const [, meanings = "", replaced = ""] = text.split("\n## ")

/** First cells of a table without its header, in lower case. */
const firstCells = (table: string) =>
  Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, cell = ""]) => cell.toLowerCase())
    .filter((cell) => !/^-+$/.test(cell)).slice(1)

/** Words that `docs/glossary.md` explains, and words that it bans from file names, in lower case. */
export const glossary = {
  words: firstCells(meanings),
  banned: new Set(firstCells(replaced).flatMap((cell) => cell.split(", ")))
}

/** Banned words in the last part of a path: `src/services/QuietRows.ts` has `Quiet`. */
export const bannedIn = (path: string) =>
  matches(path.slice(path.lastIndexOf("/") + 1), /[A-Z]?[a-z0-9]+/g).filter((word) =>
    glossary.banned.has(word.toLowerCase())
  )
