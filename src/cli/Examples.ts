import { Command } from "effect/cli"

/** Start of each command line, as an operator types it in the folder of the server. */
const prefix = "npm run cli --"

/** Returns a command line that begins with the name of the program, as an operator types it. */
export const typed = (line: string) => line.replace(/^murmuration\b/, prefix)

/**
 * Adds examples to a command, which its help prints first. Each has the arguments after the command's name, and a
 * description in a few words.
 */
export const withExamples = (...examples: ReadonlyArray<readonly [args: string, description: string]>) =>
  Command.withExamples(({ commandPath }) =>
    examples.map(([args, description]) => ({
      command: [prefix, ...commandPath.slice(1), args].filter((part) => part !== "").join(" "),
      description
    }))
  )
