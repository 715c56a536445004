import { Config, Effect } from "effect"

/**
 * Start of a command line of the operator in messages and help, as typed on this machine. Packages set
 * `MURMURATION_COMMAND` to the name of their command; the default is for the folder of the repository.
 */
export const commandName: string = Effect.runSync(
  Effect.orDie(Config.String("MURMURATION_COMMAND").pipe(Config.withDefault("npm run cli --")))
)
