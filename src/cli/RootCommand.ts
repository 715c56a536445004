import { Effect, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import { isSqlError } from "effect/sql/SqlError"
import * as Database from "../layers/Database.ts"
import { printOperatorError, WrongUsage } from "../layers/OperatorError.ts"
import { softwareVersion } from "../services/instance/Software.ts"
import * as AccountCommand from "./AccountCommand.ts"
import * as AnnouncementCommand from "./AnnouncementCommand.ts"
import * as BackupCommand from "./BackupCommand.ts"
import * as DoctorCommand from "./DoctorCommand.ts"
import * as DomainCommand from "./DomainCommand.ts"
import * as EmojiCommand from "./EmojiCommand.ts"
import { withExamples } from "./Examples.ts"
import * as FederationCommand from "./FederationCommand.ts"
import * as Help from "./Help.ts"
import * as InstanceCommand from "./InstanceCommand.ts"
import * as InviteCommand from "./InviteCommand.ts"
import * as Logging from "./Logging.ts"
import * as MailCommand from "./MailCommand.ts"
import * as MediaCommand from "./MediaCommand.ts"
import * as MigrateCommand from "./MigrateCommand.ts"
import * as RestartCommand from "./RestartCommand.ts"
import * as TokenCommand from "./TokenCommand.ts"
import * as TransferCommand from "./TransferCommand.ts"
import * as TrendsCommand from "./TrendsCommand.ts"
import * as WalCommand from "./WalCommand.ts"

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
    AccountCommand.command,
    TokenCommand.command,
    AnnouncementCommand.command,
    EmojiCommand.command,
    InstanceCommand.command,
    InviteCommand.command,
    MediaCommand.command,
    MailCommand.command,
    DomainCommand.command,
    FederationCommand.command,
    TrendsCommand.command,
    TransferCommand.command,
    MigrateCommand.command,
    BackupCommand.command,
    BackupCommand.restoreCommand,
    WalCommand.command,
    RestartCommand.command,
    DoctorCommand.command
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
