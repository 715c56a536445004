import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Account from "./cli/Account.ts"
import * as Doctor from "./cli/Doctor.ts"
import * as Domain from "./cli/Domain.ts"
import * as Emoji from "./cli/Emoji.ts"
import * as Federation from "./cli/Federation.ts"
import * as Media from "./cli/Media.ts"
import * as Migrate from "./cli/Migrate.ts"
import * as Quiet from "./cli/Quiet.ts"
import * as Restart from "./cli/Restart.ts"
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
    Federation.command,
    Migrate.command,
    Restart.command,
    Doctor.command
  ]),
  Command.run({ version: "0.1.0" }),
  inWords,
  Effect.provide(Layer.merge(NodeServices.layer, Quiet.layer)),
  NodeRuntime.runMain({ teardown })
)
