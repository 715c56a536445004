import { NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { root } from "../../src/cli/RootCommand.ts"

/** A command and the words that call it, starting with the program's name. */
export interface Place {
  readonly path: ReadonlyArray<string>
  readonly isLeaf: boolean
}

/** Returns a command and all commands below it, parents first. */
const placesOf = (command: Command.Command.Any, above: ReadonlyArray<string>): ReadonlyArray<Place> => {
  const path = [...above, command.name]
  const below = command.subcommands.flatMap(({ commands }) => commands)
  return [{ path, isLeaf: below.length === 0 }, ...below.flatMap((one) => placesOf(one, path))]
}

/** All commands of the command line. */
export const places = placesOf(root, [])

/** Returns the help of a command as data. */
export const helpOf = Effect.fnUntraced(function*(path: ReadonlyArray<string>) {
  const shown: Array<HelpDoc.HelpDoc> = []
  const presenter = CliOutput.layerPresenter({
    present: (event) => Effect.sync(() => event._tag === "Version" ? undefined : shown.push(event.helpDoc))
  })
  yield* Command.runWith(root, { version: "0" })([...path.slice(1), "--help"]).pipe(
    Effect.provide([presenter, NodeServices.layer])
  )
  return shown[0]!
}, Effect.orDie)

/**
 * Configuration that every command refuses before it does anything. A command line that parses then ends with code 1.
 */
export const refused = { PORT: "x" }

/** Splits a command line like a shell, in the subset that the examples need. */
export const argumentsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|((?:\$\([^)]*\)|\S)+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
