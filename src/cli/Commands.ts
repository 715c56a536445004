import { Effect } from "effect"
import { Command } from "effect/cli"
import { printOperatorError } from "../layers/OperatorError.ts"
import * as Account from "./Account.ts"
import * as Announcement from "./Announcement.ts"
import * as Backup from "./Backup.ts"
import * as Doctor from "./Doctor.ts"
import * as Domain from "./Domain.ts"
import * as Emoji from "./Emoji.ts"
import * as Federation from "./Federation.ts"
import * as Instance from "./Instance.ts"
import * as Logging from "./Logging.ts"
import * as Mail from "./Mail.ts"
import * as Media from "./Media.ts"
import * as Migrate from "./Migrate.ts"
import * as Restart from "./Restart.ts"
import * as Token from "./Token.ts"
import * as Transfer from "./Transfer.ts"
import * as Trends from "./Trends.ts"

/** The operator's command line, with the arguments of `Stdio`. Works with or without a running server. */
export const program = Command.make("murmuration").pipe(
  Command.withDescription("Commands for the operator of a Murmuration server"),
  Command.withSubcommands([
    Account.command,
    Token.command,
    Announcement.command,
    Emoji.command,
    Instance.command,
    Media.command,
    Mail.command,
    Domain.command,
    Federation.command,
    Trends.command,
    Migrate.command,
    Backup.command,
    Backup.restoreCommand,
    Transfer.command,
    Restart.command,
    Doctor.command
  ]),
  Command.run({ version: "0.1.0" }),
  printOperatorError,
  Effect.provide(Logging.layer)
)
