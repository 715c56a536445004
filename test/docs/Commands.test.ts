import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { HelpDoc } from "effect/cli"
import { fileURLToPath } from "node:url"
import { typed } from "../../src/cli/Examples.ts"
import { exitCodes } from "../../src/layers/OperatorError.ts"
import { helpOf, places } from "../support/CommandTree.ts"

const cell = (text: string) => text.replaceAll("|", "\\|")

const table = (head: string, rows: ReadonlyArray<readonly [string, string]>) =>
  rows.length === 0
    ? []
    : [
      `| ${head} | Meaning |\n|---|---|\n${rows.map(([name, meaning]) => `| ${name} | ${cell(meaning)} |`).join("\n")}`
    ]

const meaningOf = (one: { readonly description: Option.Option<string> }) => Option.getOrElse(one.description, () => "")

const argumentRow = (one: HelpDoc.ArgDoc) =>
  [`\`${one.name}\``, `${meaningOf(one)}${one.required ? "" : " (optional)"}`] as const

const flagRow = (one: HelpDoc.FlagDoc) => {
  const names = [`--${one.name}`, ...one.aliases].join(", ")
  return [
    `\`${names}${one.type === "boolean" ? "" : ` ${one.type}`}\``,
    `${meaningOf(one)}${one.required ? " (required)" : ""}`
  ] as const
}

const code = (text: string) => text.split("\n").map((line) => `    ${line}`).join("\n")

/** Title of a command: the words that call it. */
const titleOf = (path: ReadonlyArray<string>) => path.slice(1).join(" ")
const link = (path: ReadonlyArray<string>) => `[${titleOf(path)}](#${path.slice(1).join("-")})`

const sectionOf = (path: ReadonlyArray<string>) =>
  Effect.map(helpOf(path), ({ args = [], description, examples = [], flags, usage }) =>
    [
      `## ${titleOf(path)}`,
      `${description}.`,
      code(typed(usage)),
      ...table("Argument", args.map(argumentRow)),
      ...table("Flag", flags.map(flagRow)),
      "Examples:",
      code(examples.map(({ command, description }) => `# ${description}\n${command}`).join("\n"))
    ].join("\n\n"))

const intro = `# Command line

Commands read the same environment variables as the server. They can run while it runs, also with the embedded Postgres, and running
servers apply every change at once. \`npm run docs:commands\` writes this page from the commands.

\`npm run cli -- COMMAND\` runs a command in the folder of the server. \`--help\` after any command shows its examples and flags.
Commands that list or show something have \`--json\`: it prints an array or an object with the names of the API, ids as strings and
times in ISO 8601. \`npm run --silent cli --\` prints nothing else to standard output; warnings go to standard error.

## Exit codes

${table("Code", Object.entries(exitCodes)).join("")}

A command waits three seconds for its database. Use code 3 to try again, for example while the database starts.

## Shell completion

Scripts for bash, zsh and fish complete commands and flags of \`murmuration\`. Define that word as a function, with the folder of your server,
and load the script at the start of the shell:

    # bash, in ~/.bashrc
    murmuration() { npm --prefix /srv/murmuration run --silent cli -- "$@"; }
    source <(murmuration --completions bash)

    # zsh, in ~/.zshrc after compinit
    murmuration() { npm --prefix /srv/murmuration run --silent cli -- "$@"; }
    source <(murmuration --completions zsh)

    # fish, in ~/.config/fish/config.fish
    function murmuration; npm --prefix /srv/murmuration run --silent cli -- $argv; end
    murmuration --completions fish | source

Paths in arguments are relative to the folder of the server. A completion script that is saved in a file loads faster; write it again after an upgrade.`

describe("docs/command-line.md", () => {
  it.live("equals the output of `npm run docs:commands` for the current commands", () =>
    Effect.gen(function*() {
      const leaves = places.filter(({ isLeaf }) => isLeaf).map(({ path }) => path)
      assert.isAtLeast(leaves.length, 45)
      const list = yield* Effect.forEach(leaves, (path) =>
        Effect.map(helpOf(path), ({ description }) => `- ${link(path)}: ${description}`))
      const sections = yield* Effect.forEach(leaves, sectionOf)
      yield* Effect.promise(() =>
        expect(`${intro}\n\n## Commands\n\n${list.join("\n")}\n\n${sections.join("\n\n")}\n`)
          .toMatchFileSnapshot(fileURLToPath(new URL("../../docs/command-line.md", import.meta.url)))
      )
    }))
})
