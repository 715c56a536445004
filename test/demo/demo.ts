import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import * as Operator from "../../src/cli/Operator.ts"
import { Environment } from "../../src/layers/Environment.ts"
import { printOperatorError, teardown } from "../../src/layers/OperatorError.ts"
import { softwareVersion } from "../../src/services/instance/Software.ts"
import { Client } from "./Client.ts"
import { fill, show } from "./Fill.ts"
import * as Plan from "./Plan.ts"

const number = (name: string, fallback: number, about: string) =>
  Flag.Int(name).pipe(Flag.withDefault(fallback), Flag.withDescription(about))

const flags = {
  accounts: number("accounts", 200, "Accounts, 2 at least"),
  posts: number("posts", 2000, "Posts"),
  seed: number("seed", 1, "Another one gives other posts")
}

/** Fills the running server of this configuration, to try it with real clients. */
const demo = Command.make(
  "demo",
  flags,
  Effect.fn("demo")(function*({ accounts, posts, seed }) {
    const { server } = yield* Environment
    const figures = yield* fill(Plan.make(seed, Math.max(2, accounts), Math.max(0, posts))).pipe(
      Effect.provide(Client.layer(server.publicUrl))
    )
    yield* Console.log(show(figures))
  }, Effect.provide([Operator.layer, FetchHttpClient.layer]))
).pipe(Command.withDescription("Fills a running server with accounts, follows and posts"))

demo.pipe(
  Command.run({ version: softwareVersion }),
  printOperatorError,
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ teardown })
)
