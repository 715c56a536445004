import { Console, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import * as Scopes from "../services/oauth/Scopes.ts"
import { Tokens } from "../services/oauth/Tokens.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain"))

const create = Command.make(
  "create",
  {
    name,
    scopes: Flag.String("scopes").pipe(
      Flag.withDescription("Scopes of the token, separated by spaces (default: read)"),
      Flag.withDefault("read")
    )
  },
  traced("token create")(function*(given) {
    const scopes = Scopes.parse(given.scopes)
    if (scopes.length === 0 || !Scopes.areKnown(scopes)) {
      return yield* new OperatorError({
        message: `Unknown scope in: ${given.scopes}. Known scopes: ${Scopes.all.join(" ")}`
      })
    }
    const { accountId } = yield* findUser(given.name)
    const { secret } = yield* (yield* Tokens).issue({ appId: undefined, accountId }, scopes)
    yield* Console.log(Redacted.value(secret))
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(
  Command.withDescription("Creates a token for an account and prints it once"),
  withExamples(["ada --scopes \"read write\"", "Creates a token for a script of ada"])
)

const revoke = Command.make(
  "revoke",
  {
    name,
    token: Flag.optional(
      Flag.Redacted("token").pipe(Flag.withDescription("Only this token instead of all of the account"))
    )
  },
  traced("token revoke")(function*(given) {
    const tokens = yield* Tokens
    const { accountId } = yield* findUser(given.name)
    if (Option.isNone(given.token)) {
      yield* tokens.revoke({ accountId })
    } else {
      const found = yield* tokens.find(given.token.value)
      if (Option.isNone(found) || found.value.accountId !== accountId) {
        return yield* new OperatorError({ message: `${given.name} has no such token` })
      }
      yield* tokens.revoke({ tokenIds: [found.value.tokenId] })
    }
    yield* Console.log("Revoked.")
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(
  Command.withDescription("Revokes tokens of an account; their streams close at once"),
  withExamples(["ada", "Revokes all tokens of ada"])
)

export const command = Command.make("token").pipe(
  Command.withDescription("Access tokens"),
  withExamples(["create ada --scopes \"read write\"", "Creates a token for a script of ada"]),
  Command.withSubcommands([create, revoke])
)
