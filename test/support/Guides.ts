import { Effect } from "effect"
import { argumentsOf } from "./CommandTree.ts"
import { documents } from "./documents.ts"
import type { Parsed } from "./Markdown.ts"

const folder = "docs/guide/"

/** A page of the guide. */
interface GuidePage extends Parsed {
  /** Name of the file in docs/guide. */
  readonly name: string
}

/** All pages of the guide. */
export const guidePages: ReadonlyArray<GuidePage> = [...documents].flatMap(([path, parsed]) =>
  path.startsWith(folder) ? [{ name: path.slice(folder.length), ...parsed }] : []
)

/** Starts of lines that a shell runs; lines of other blocks are files. */
const program =
  /^(?:sudo |[A-Z_]+=\S* )*(?:export|unset|npm|npx|git|curl|createuser|createdb|psql|systemctl|journalctl|apt|apt-get|dpkg|docker|podman|murmuration) /

/** Returns the lines of a block that a shell runs, without comments. Continued lines are joined. */
const linesOf = (text: string): ReadonlyArray<string> =>
  text.replaceAll(/\\\n\s*/g, "").split("\n").map((line) => line.replace(/ # .*$/, "").trim()).filter((line) =>
    program.test(line)
  )

/** Commands of a block; `skipped` is the reason why tests do not run them. */
interface Commands {
  readonly lines: ReadonlyArray<string>
  readonly skipped: string | undefined
}

/** Returns the command blocks of a page, in its order. */
export const commandsOf = (name: string): ReadonlyArray<Commands> =>
  (guidePages.find((page) => page.name === name)?.blocks ?? []).flatMap(({ comment, text }) => {
    const lines = linesOf(text)
    const skipped = comment?.startsWith("not run: ") === true ? comment.slice("not run: ".length) : undefined
    return lines.length === 0 ? [] : [{ lines, skipped }]
  })

/** Tests that run the commands of a page, or their steps in a Debian root. Pages without commands have no entry. */
export const runners: Readonly<Record<string, string>> = {
  "backup.md": "docs/GuideFolders.test.ts",
  "federation.md": "docs/GuideCommands.test.ts",
  "first-hour.md": "docs/GuideFolders.test.ts",
  "index.md": "browser/manual.test.ts",
  "install.md": "packages/Systemd.test.ts",
  "moderation.md": "docs/GuideCommands.test.ts",
  "monitoring.md": "docs/GuideCommands.test.ts",
  "moving.md": "docs/GuideFolders.test.ts",
  "storage.md": "docs/GuideCommands.test.ts",
  "troubleshooting.md": "docs/GuideCommands.test.ts",
  "upgrade.md": "docs/Upgrade.test.ts"
}

/** Runs the commands of a page in its order. */
export const runPage = <E, R>(name: string, run: (line: string) => Effect.Effect<unknown, E, R>) =>
  Effect.forEach(
    commandsOf(name).flatMap(({ lines, skipped }) => skipped === undefined ? lines : []),
    run,
    { discard: true }
  )

/** Returns the arguments of a line of the operator's command line; undefined for other commands. */
export const operatorArguments = (line: string): ReadonlyArray<string> | undefined => {
  const [, args] = /^npm run (?:--silent )?cli -- (.*)$/.exec(line) ?? []
  return args === undefined ? undefined : argumentsOf(args)
}
