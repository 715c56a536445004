import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Account from "./cli/Account.ts"
import * as DeadActivities from "./cli/DeadActivities.ts"
import * as Doctor from "./cli/Doctor.ts"
import * as Domain from "./cli/Domain.ts"
import * as Emoji from "./cli/Emoji.ts"
import * as Media from "./cli/Media.ts"
import * as Migrate from "./cli/Migrate.ts"
import * as Quiet from "./cli/Quiet.ts"
import * as Site from "./cli/Site.ts"
import * as Token from "./cli/Token.ts"
import { inWords, teardown } from "./layers/OperatorError.ts"

/** The operator's command line; works beside a running server and without one. */
Command.make("murmuration").pipe(
  Command.withDescription("Commands for the operator of a Murmuration server"),
  Command.withSubcommands([
    Account.command,
    Token.command,
    Emoji.command,
    Site.command,
    Media.command,
    Domain.command,
    Command.make("federation").pipe(
      Command.withDescription("What goes to other servers and comes from them"),
      Command.withSubcommands([DeadActivities.dead])
    ),
    Migrate.command,
    Doctor.command
  ]),
  Command.run({ version: "0.1.0" }),
  inWords,
  Effect.provide(Layer.merge(NodeServices.layer, Quiet.layer)),
  NodeRuntime.runMain({ teardown })
)
