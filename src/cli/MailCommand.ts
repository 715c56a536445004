import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { Environment } from "../layers/Environment.ts"
import * as TestEmail from "../layers/mail/TestEmail.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { traced } from "../services/runtime/Traced.ts"
import { terminalText } from "../services/text/TerminalText.ts"
import { withExamples } from "./Examples.ts"

const test = Command.make(
  "test",
  { address: Argument.String("address").pipe(Argument.withDescription("The recipient's e-mail address")) },
  traced("mail test")(function*({ address }) {
    yield* TestEmail.send(
      address,
      ({ subject, words }) => Console.log(terminalText(`ok     ${subject}: ${words}`))
    ).pipe(
      Effect.mapError(({ message }) => new OperatorError({ message: `FAIL   ${message}` }))
    )
    yield* Console.log("Look into the mailbox, and into its spam folder; doctor checks SPF, DKIM and DMARC.")
  }, (effect) => Effect.provide(effect, Layer.merge(Environment.layer, NodeServices.layer)))
).pipe(
  Command.withDescription("Sends a test e-mail and reports each step"),
  withExamples(["you@example.org", "Sends a test e-mail to you"])
)

export const command = Command.make("mail").pipe(
  Command.withDescription("Outgoing e-mail"),
  withExamples(["test you@example.org", "Sends a test e-mail to you"]),
  Command.withSubcommands([test])
)
