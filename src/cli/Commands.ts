import { Effect, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import { isSqlError } from "effect/sql/SqlError"
import * as Database from "../layers/Database.ts"
import { printOperatorError, WrongUsage } from "../layers/OperatorError.ts"
import { softwareVersion } from "../services/instance/Software.ts"
import * as Account from "./Account.ts"
import * as Announcement from "./Announcement.ts"
import * as Backup from "./Backup.ts"
import * as Doctor from "./Doctor.ts"
import * as Domain from "./Domain.ts"
import * as Emoji from "./Emoji.ts"
import { withExamples } from "./Examples.ts"
import * as Federation from "./Federation.ts"
import * as Help from "./Help.ts"
import * as Instance from "./Instance.ts"
import * as Invite from "./Invite.ts"
import * as Logging from "./Logging.ts"
import * as Mail from "./Mail.ts"
import * as Media from "./Media.ts"
import * as Migrate from "./Migrate.ts"
import * as Restart from "./Restart.ts"
import * as Token from "./Token.ts"
import * as Transfer from "./Transfer.ts"
import * as Trends from "./Trends.ts"
import * as Wal from "./Wal.ts"

/** All commands. */
export const root = Command.make("murmuration").pipe(
  Command.withDescription("Commands for the operator of a Murmuration server"),
  withExamples(
    ["account create ada --email ada@example.org --role owner --confirmed", "Creates the owner's account"],
    ["account show ada --json", "Shows an account, for a script"],
    ["doctor", "Checks the server's configuration and dependencies"],
    ["account create --help", "Explains one command"]
  ),
  Command.withSubcommands([
    Account.command,
    Token.command,
    Announcement.command,
    Emoji.command,
    Instance.command,
    Invite.command,
    Media.command,
    Mail.command,
    Domain.command,
    Federation.command,
    Trends.command,
    Transfer.command,
    Migrate.command,
    Backup.command,
    Backup.restoreCommand,
    Wal.command,
    Restart.command,
    Doctor.command
  ])
)

/** Turns a connection that was lost during a command into an operator error; other defects stay defects. */
const reportOutage = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(command, (defect) =>
    isSqlError(defect) && Database.isConnectionError(defect)
      ? Effect.fail(Database.failed(defect))
      : Effect.die(defect))

/** The operator's command line, with the arguments of `Stdio`. Works with or without a running server. */
export const program = root.pipe(
  Command.run({ version: softwareVersion }),
  reportOutage,
  printOperatorError,
  Effect.mapError((error) => CliError.isCliError(error) ? new WrongUsage() : error),
  Effect.provide(Layer.merge(Logging.layer, Help.layer))
)
