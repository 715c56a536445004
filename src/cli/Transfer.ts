import { Command } from "effect/cli"
import * as TransferMastodon from "./TransferMastodon.ts"

export const command = Command.make("transfer").pipe(
  Command.withDescription("Brings a whole server here"),
  Command.withSubcommands([TransferMastodon.command])
)
