import { Effect, Option } from "effect"
import { OperatorError } from "../layers/OperatorError.ts"
import { Users } from "../services/identity/Users.ts"

/** Returns the local user with this name; a leading @ is ignored. */
export const findUser = Effect.fnUntraced(function*(name: string) {
  const user = yield* (yield* Users).findByUsername(name.replace(/^@/, ""))
  return Option.isSome(user) ? user.value : yield* new OperatorError({ message: `There is no account ${name} here` })
})

/** Turns a client error into an operator error with the same text. */
export const asOperatorError = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.mapError(effect, ({ message }) => new OperatorError({ message }))
