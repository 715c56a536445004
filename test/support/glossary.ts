import { readFileSync } from "node:fs"
import { exportsOf } from "./exports.ts"
import { matches, type Source } from "./source.ts"

const text = readFileSync(`${import.meta.dirname}/../../docs/glossary.md`, "utf8")
const [, meanings = "", replaced = ""] = text.split("\n## ")

/** Returns the first cells of a table without its header, in lower case. */
const firstCells = (table: string) =>
  Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, cell = ""]) => cell.toLowerCase())
    .filter((cell) => !/^-+$/.test(cell)).slice(1)

/** Words that `docs/glossary.md` explains, and words that it bans from names of files and exports, in lower case. */
export const glossary = {
  words: firstCells(meanings),
  banned: new Set(firstCells(replaced).flatMap((cell) => cell.split(", ")))
}

/** Returns the banned words in a name: `QuietRows` has `Quiet`. */
const bannedIn = (name: string) =>
  matches(name, /[A-Z]?[a-z0-9]+/g).filter((word) => glossary.banned.has(word.toLowerCase()))

/** Returns the file's name and exports that have banned words. */
export const bannedNames = (file: Source): ReadonlyArray<string> =>
  [file.path.slice(file.path.lastIndexOf("/") + 1), ...exportsOf(file)].filter((name) => bannedIn(name).length > 0)
