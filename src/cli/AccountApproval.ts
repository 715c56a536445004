import { Console, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { Approvals, type Pending, pendingMax } from "../services/identity/Approvals.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const services = Layer.provideMerge(Approvals.layer, Operator.layer)

const line = ({ confirmed, createdAt, email, locale, reason, username }: Pending) =>
  [
    username,
    email,
    confirmed ? "confirmed" : "not confirmed",
    createdAt.toISOString().slice(0, 16).replace("T", " "),
    locale ?? "-",
    reason?.replace(/\s+/g, " ") ?? "-"
  ].join("\t")

/** Names as in Admin::Account. */
const entity = ({ accountId, reason, ...pending }: Pending) => ({ id: accountId, ...pending, inviteRequest: reason })

export const list = Command.make(
  "list",
  {
    pending: Flag.Boolean("pending").pipe(
      Flag.withDescription("Lists pending sign-ups, oldest first; required"),
      Flag.withDefault(false)
    ),
    json
  },
  traced("account list")(function*(given) {
    if (!given.pending) {
      return yield* new OperatorError({ message: "Pass --pending to list pending sign-ups" })
    }
    const waiting = yield* (yield* Approvals).pending
    yield* printList(given.json, waiting.map(entity), waiting.map(line), "No sign-ups are waiting.")
    if (waiting.length === pendingMax) {
      const more = `Only the first ${pendingMax} are listed; there may be more.`
      yield* given.json ? Console.error(more) : Console.log(more)
    }
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Lists pending sign-ups: name, address, state, time, language, reason"),
  withExamples(["--pending", "Lists pending sign-ups"], ["--pending --json", "The same for a script"])
)

const decision = (word: "approve" | "reject", done: "approved" | "rejected", description: string) =>
  Command.make(
    word,
    { name: Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain")) },
    traced(`account ${word}`)(function*(given) {
      const { accountId } = yield* findUser(given.name)
      yield* asOperatorError((yield* Approvals)[word](accountId)).pipe(
        Effect.mapError(() => new OperatorError({ message: `${given.name} is not waiting for approval` }))
      )
      yield* Console.log(`Account ${given.name} was ${done}.`)
    }, (effect) => Effect.provide(effect, services))
  ).pipe(Command.withDescription(description), withExamples(["ada", description]))

export const approve = decision(
  "approve",
  "approved",
  "Approves a sign-up and notifies the user by e-mail"
)
export const reject = decision(
  "reject",
  "rejected",
  "Rejects a sign-up, notifies the user by e-mail and frees the name"
)
