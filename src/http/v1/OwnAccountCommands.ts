import { Effect, type Redacted } from "effect"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { OwnCredentials } from "../../services/credentials/OwnCredentials.ts"
import { AccountId } from "../../services/database/Ids.ts"
import * as LocalUrls from "../../services/discovery/LocalUrls.ts"
import { parseHandle } from "../../services/federation/DomainNames.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { NotAllowed, validationFailed } from "../../services/runtime/Errors.ts"
import { Moves } from "../../services/social/Moves.ts"

/** Maximum characters of an account that a user names. */
const accountCharactersMax = 2_048
/** Maximum seconds to fetch an account from its server. */
const fetchSecondsMax = 8
/** Maximum aliases in one request, as each may be fetched. */
const aliasesOfRequestMax = 20

const notFound = () => validationFailed("Account could not be found")

/** Commands of members on their whole account, for the API and the pages: deletion, aliases and the move. */
export const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const actors = yield* AccountActors
  const config = yield* ServerConfig
  const credentials = yield* OwnCredentials
  const moves = yield* Moves
  const remote = yield* RemoteActors

  /** Finds an account by handle or actor id; a remote one is fetched again, as its aliases may be new. */
  const resolve = Effect.fnUntraced(function*(given: string) {
    const text = given.trim()
    if (text === "" || text.length > accountCharactersMax || text.includes("\0")) return yield* notFound()
    const isUrl = LocalUrls.isUrl(text)
    const local = LocalUrls.parse(config, text)
    const handle = parseHandle(text)
    const name = local?.kind === "account"
      ? local.name
      : isUrl
      ? undefined
      : handle === undefined
      ? text.replace(/^@/, "")
      : handle.domain === config.localDomain
      ? handle.username
      : undefined
    if (name !== undefined) {
      const id = yield* accounts.lookup(name).pipe(Effect.mapError(notFound))
      const [found] = yield* accounts.load([id])
      return found === undefined ? yield* notFound() : { id, uri: Urls.actor(config, found.actorPath) }
    }
    const found = isUrl
      ? remote.refresh(text)
      : Effect.flatMap(remote.findByHandle(text), ({ uri }) => remote.refresh(uri))
    return yield* found.pipe(
      Effect.timeoutOrElse({ duration: `${fetchSecondsMax} seconds`, orElse: notFound }),
      Effect.mapError(notFound)
    )
  })

  const requireOther = (accountId: AccountId, target: { readonly id: bigint }) =>
    target.id === accountId ? validationFailed("Account is your own") : Effect.void

  /** Adds an alias: an account that may move to this one. */
  const addAlias = Effect.fnUntraced(function*(accountId: AccountId, given: string) {
    const target = yield* resolve(given)
    yield* requireOther(accountId, target)
    yield* actors.tell(accountId, { _tag: "Alias", uri: target.uri, present: true })
  })

  const removeAlias = (accountId: AccountId, uri: string) =>
    actors.tell(accountId, { _tag: "Alias", uri, present: false })

  return {
    aliases: (accountId: AccountId) => Effect.orDie(moves.aliases(accountId)),
    addAlias,
    removeAlias,
    /** Replaces all aliases. Known ones are not fetched again. */
    setAliases: Effect.fnUntraced(function*(accountId: AccountId, given: ReadonlyArray<string>) {
      const known = yield* Effect.orDie(moves.aliases(accountId))
      const requested = [...new Set(given.map((uri) => uri.trim()).filter((uri) => uri !== ""))]
      const added = requested.filter((uri) => !known.includes(uri))
      if (added.length > aliasesOfRequestMax) {
        return yield* validationFailed(`Aliases are too many (maximum is ${aliasesOfRequestMax})`)
      }
      // All are found before the first is changed.
      const found = yield* Effect.forEach(
        added,
        (uri) => Effect.tap(resolve(uri), (one) => requireOther(accountId, one))
      )
      yield* Effect.forEach(known.filter((uri) => !requested.includes(uri)), (uri) => removeAlias(accountId, uri), {
        discard: true
      })
      yield* Effect.forEach(found, ({ uri }) => actors.tell(accountId, { _tag: "Alias", uri, present: true }), {
        discard: true
      })
    }),
    /** Moves the account and its followers to another one, which must name this one as an alias. */
    move: Effect.fnUntraced(function*(accountId: AccountId, password: Redacted.Redacted, given: string) {
      const user = yield* credentials.requirePassword(accountId, password)
      const target = yield* resolve(given)
      yield* requireOther(accountId, target)
      const named = yield* Effect.orDie(moves.aliasesOf(target.id))
      if (!named.includes(Urls.actor(config, user.actorPath))) {
        return yield* new NotAllowed({ text: "The target account does not list this account as an alias" })
      }
      yield* actors.tell(accountId, { _tag: "Move", target: AccountId.make(target.id) })
    }),
    /** Deletes the account for good. */
    remove: Effect.fnUntraced(function*(accountId: AccountId, password: Redacted.Redacted) {
      yield* credentials.requirePassword(accountId, password)
      yield* actors.tell(accountId, { _tag: "DeleteAccount", own: true })
    })
  }
})
