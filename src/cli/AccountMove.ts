import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { AccountId } from "../services/database/Ids.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import * as Urls from "../services/instance/Urls.ts"
import { traced } from "../services/runtime/Traced.ts"
import { Moves } from "../services/social/Moves.ts"
import { enqueue } from "./Enqueue.ts"
import { withExamples } from "./Examples.ts"
import { findUser } from "./Lookup.ts"
import { json, print } from "./Output.ts"
import * as RemoteServices from "./RemoteServices.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain"))
const handle = Argument.String("handle").pipe(Argument.withDescription("name@domain of the other account"))

const aliasing = (word: string, present: boolean, description: string) =>
  Command.make(
    word,
    { name, handle },
    traced(`account alias ${word}`)(function*(given) {
      const { accountId } = yield* findUser(given.name)
      const { uri } = yield* RemoteServices.account(given.handle)
      yield* enqueue(accountId, { _tag: "Alias", uri, present })
      yield* Console.log(`Account ${given.name}: ${word} ${uri} has started.`)
    }, (effect) => Effect.provide(effect, RemoteServices.layer))
  ).pipe(Command.withDescription(description), withExamples(["ada ada@old.example", description]))

const list = Command.make(
  "list",
  { name, json },
  traced("account alias list")(function*(given) {
    const { accountId } = yield* findUser(given.name)
    const aliases = yield* Effect.orDie((yield* Moves).aliases(accountId))
    if (given.json || aliases.length > 0) yield* print(given.json, aliases, aliases.join("\n"))
  }, (effect) => Effect.provide(effect, RemoteServices.layer))
).pipe(
  Command.withDescription("Prints the aliases of an account"),
  withExamples(["ada", "Prints the aliases of ada"])
)

/** Aliases of a local account: only these accounts may move to it. */
export const alias = Command.make("alias").pipe(
  Command.withDescription("Aliases: remote accounts that may move to a local account"),
  withExamples(["add ada ada@old.example", "Lets ada@old.example move to ada"]),
  Command.withSubcommands([
    aliasing("add", true, "Adds an alias"),
    aliasing("remove", false, "Removes an alias"),
    list
  ])
)

/** Moves an account away. The target's aliases are checked here, and again by the account's actor. */
export const move = Command.make(
  "move",
  { name, handle },
  traced("account move")(function*(given) {
    const config = yield* ServerConfig
    const moves = yield* Moves
    const { accountId, actorPath } = yield* findUser(given.name)
    const target = yield* RemoteServices.account(given.handle)
    const named = yield* Effect.orDie(moves.aliasesOf(target.id))
    if (!named.includes(Urls.actor(config, actorPath))) {
      return yield* new OperatorError({
        message: `${given.handle} does not list ${given.name}@${config.localDomain} as an alias`
      })
    }
    yield* enqueue(accountId, { _tag: "Move", target: AccountId.make(target.id) })
    yield* Console.log(`The move of account ${given.name} to ${given.handle} has started.`)
  }, (effect) => Effect.provide(effect, RemoteServices.layer))
).pipe(
  Command.withDescription("Moves an account and its followers to another account, which must list it as an alias"),
  withExamples(["ada ada@new.example", "Moves ada to another server"])
)
