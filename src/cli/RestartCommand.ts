import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { notify } from "../layers/PostgresChannel.ts"
import { withExamples } from "./Examples.ts"
import * as Operator from "./Operator.ts"

export const command = Command.make("restart").pipe(
  Command.withDescription(
    "Restarts the running server without refusing requests"
  ),
  withExamples(["", "Restarts the server, for example after an update"]),
  Command.withHandler(() =>
    Effect.andThen(
      notify({ _tag: "Restart" }),
      Console.log("The running server is restarting; its log shows the result.")
    )
      .pipe(Effect.provide(Operator.layer))
  )
)
