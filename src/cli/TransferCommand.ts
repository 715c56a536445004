import { Command } from "effect/cli"
import { withExamples } from "./Examples.ts"
import * as TransferMastodon from "./TransferMastodon.ts"
import * as TransferMedia from "./TransferMedia.ts"
import * as TransferPostgres from "./TransferPostgres.ts"

export const command = Command.make("transfer").pipe(
  Command.withDescription("Copies a server's data: from Mastodon, or to another database or file storage"),
  withExamples(["media bucket", "Copies files to the bucket"]),
  Command.withSubcommands([TransferMastodon.command, TransferPostgres.command, TransferMedia.command])
)
