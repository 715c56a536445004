import { Command } from "effect/cli"
import { commandName } from "../layers/CommandName.ts"

/** Returns a command line that begins with the name of the program, as an operator types it. */
export const typed = (line: string) => line.replace(/^murmuration\b/, commandName)

/**
 * Adds examples to a command, which its help prints first. Each has the arguments after the command's name, and a
 * description in a few words.
 */
export const withExamples = (...examples: ReadonlyArray<readonly [args: string, description: string]>) =>
  Command.withExamples(({ commandPath }) =>
    examples.map(([args, description]) => ({
      command: [commandName, ...commandPath.slice(1), args].filter((part) => part !== "").join(" "),
      description
    }))
  )
