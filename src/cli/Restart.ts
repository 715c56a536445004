import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { notify } from "../layers/PostgresChannel.ts"
import * as Operator from "./Operator.ts"

export const command = Command.make("restart").pipe(
  Command.withDescription(
    "Has the running server start this program anew and give its place to it, without refusing a request"
  ),
  Command.withHandler(() =>
    Effect.andThen(
      notify({ _tag: "Restart" }),
      Console.log("A running server starts anew now; its log says how that went.")
    )
      .pipe(Effect.provide(Operator.layer))
  )
)
