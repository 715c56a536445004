import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { Environment } from "../layers/Environment.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"

/** Last steps of a copy of a Mastodon server. */
export const command = Command.make(
  "finish",
  {},
  traced("transfer mastodon finish")(function*() {
    const { host, port, server } = yield* Environment
    yield* Console.log([
      "To open this server when the copy is done:",
      "1. Stop Mastodon's web server, wait until its Sidekiq queues are empty, and stop Sidekiq.",
      "2. Run `transfer mastodon delta` and `transfer mastodon verify` once more.",
      `3. Start this server with the variables of these commands. Point the proxy of ${
        new URL(server.publicUrl).host
      } at ${host}:${port}: all paths, with the Host header as it came.`,
      "Until the first request that writes reaches this server you can go back: point the proxy at Mastodon again.",
      "After that there is no way back: other servers know what happened here."
    ].join("\n"))
  }, (effect) => Effect.provide(effect, Environment.layer))
).pipe(
  Command.withDescription("Explains the last steps, and the point of no return"),
  withExamples(["", "Explains the last steps"])
)
