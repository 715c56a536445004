import { Effect, Option } from "effect"
import { OperatorError } from "../layers/OperatorError.ts"
import { Users } from "../services/identity/Users.ts"

/** The local user of that name. */
export const findUser = Effect.fnUntraced(function*(name: string) {
  const user = yield* (yield* Users).findByUsername(name.replace(/^@/, ""))
  return Option.isSome(user) ? user.value : yield* new OperatorError({ message: `There is no account ${name} here` })
})

/** An error for clients as one for the operator: its text. */
export const refuse = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.mapError(effect, ({ message }) => new OperatorError({ message }))
