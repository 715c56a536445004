import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { cli } from "../support/CommandLine.ts"
import { argumentsOf, refused } from "../support/CommandTree.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Command lines in documents, except those that show the form of a command. */
const lines = globSync(["*.md", "docs/**/*.md"], { cwd: root }).flatMap((path) => {
  const text = readFileSync(`${root}${path}`, "utf8").replaceAll(/\\\n\s*/g, "")
  // Packages install the command `murmuration`.
  return [...text.matchAll(/(?:npm run (?:--silent |-s )?cli --|^ {4,}(?:sudo )?murmuration) ([a-z][^`\n]*)/gm)]
    .map(([, line = ""]) => ({ path, line: line.replace(/ [#|>].*$/, "") }))
    .filter(({ line }) => !line.includes("[flags]"))
})

describe("command lines in documents", () => {
  it.live("are accepted by the program", () =>
    Effect.gen(function*() {
      assert.isTrue(lines.some(({ path }) => path === "README.md"))
      for (const { line, path } of lines) {
        const { code, err } = yield* cli(argumentsOf(line), refused)
        assert.include([0, 1], code, `${path}: ${line}: ${err}`)
      }
    }))
})
