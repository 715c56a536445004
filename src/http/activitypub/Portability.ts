import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { HttpServerResponse } from "effect/http"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import { portableDocument } from "../../services/federation/documents/ActorDocument.ts"
import { noteContext } from "../../services/federation/documents/NoteDocument.ts"
import { collection, collectionPage } from "../../services/federation/documents/PagedCollection.ts"
import type { Document } from "../../services/federation/documents/Vocabulary.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { portability } from "../../services/oauth/Scopes.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import { type ClientError, NotAllowed, Unauthorized } from "../../services/runtime/Errors.ts"
import { PortableAccounts } from "../../services/transfers/live/PortableAccounts.ts"
import { Limits } from "../guard/Limits.ts"
import { Admission } from "./Admission.ts"
import { document, idIn, queryOf, refused } from "./DocumentResponse.ts"
import { type OwnerBase, ownerBases, ownerIn } from "./OwnerPaths.ts"

/** Posts, and ids, per page. Other servers read documents of a megabyte. */
const postsPerPage = 20
const idsPerPage = 500

/** Collections of an account that only a server with the user's consent may read. */
type PortableCollection = "migration" | "content" | "blocked" | "liked"

type Handled<E = ClientError, R = never> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  R | HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
>
/** Response to a server with the user's consent. Any other one gets `otherwise`, also with the token of an app. */
type OrOwn = <E, R>(otherwise: Handled<E, R>) => Handled<E | ClientError, R>

/**
 * Copies of accounts by other servers, with the user's consent (LOLA 0.2): the actor document and collections for a
 * bearer token with the scope `activitypub_account_portability`. The token must be in the header. It opens its own
 * account only, also while that is suspended. No response is cached.
 */
export class Portability extends Context.Service<Portability, {
  /** Actor document with the collections. */
  readonly actor: OrOwn
  /** Complete collection of followed accounts. */
  readonly following: OrOwn
  readonly collection: (which: PortableCollection) => Handled
}>()("murmuration/http/activitypub/Portability") {
  static readonly layer = Layer.effect(Portability, Effect.suspend(() => make)).pipe(
    Layer.provide(PortableAccounts.layer)
  )
}

const bearer = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /^bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1]

const make = Effect.gen(function*() {
  const accounts = yield* PortableAccounts
  const actors = yield* LocalActors
  const config = yield* ServerConfig
  const limits = yield* Limits
  const tokens = yield* Tokens

  /** Returns the account that the request's token opens. */
  const opened = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const secret = bearer(request)
    if (secret === undefined) return yield* new Unauthorized({ reason: "invalid" })
    const token = Option.getOrUndefined(yield* tokens.find(Redacted.make(secret)))
    if (token === undefined || token.revoked) {
      return yield* new Unauthorized({ reason: token === undefined ? "invalid" : "revoked" })
    }
    const { accountId, scopes, tokenId } = token
    if (accountId === undefined || !scopes.has(portability)) {
      return yield* new NotAllowed({ text: "This action is outside the authorized scopes" })
    }
    yield* limits.spend([
      { limit: "apiUser", key: String(accountId) },
      { limit: "apiToken", key: String(tokenId) }
    ])
    return accountId
  })

  /** Returns the actor in the path if the request's token opens it. */
  const owner = Effect.gen(function*() {
    const accountId = yield* opened
    const found = yield* actors.find(ownerIn(yield* HttpRouter.params))
    if (found.id !== accountId || !(yield* accounts.isOpen(accountId))) return yield* new NotAllowed()
    return { found, accountId, actor: LocalIds.actor(config, found.actorPath) }
  })

  const sources = {
    migration: { id: LocalIds.migration, read: accounts.activities, rows: postsPerPage },
    content: { id: LocalIds.content, read: accounts.notes, rows: postsPerPage },
    following: { id: LocalIds.following, read: accounts.following, rows: idsPerPage },
    blocked: { id: LocalIds.blocked, read: accounts.blocked, rows: idsPerPage },
    liked: { id: LocalIds.liked, read: accounts.liked, rows: idsPerPage }
  }

  const page = Effect.fnUntraced(function*(
    accountId: AccountId,
    id: string,
    { read, rows }: typeof sources[keyof typeof sources]
  ): Effect.fn.Return<Document, never, HttpServerRequest.HttpServerRequest> {
    const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
    if (query.get("page") === null) return collection("OrderedCollection", id, { first: `${id}?page=true` })
    const maxId = idIn(query, "max_id")
    const { entries, next } = yield* read(accountId, { maxId, limit: rows })
    return {
      "@context": noteContext,
      ...collectionPage("OrderedCollectionPage", id, {
        query: `${maxId === undefined ? "" : `max_id=${maxId}&`}page=true`,
        items: entries,
        next: next === undefined ? undefined : `max_id=${next}&page=true`
      })
    }
  })

  const collectionOf = Effect.fnUntraced(function*(which: keyof typeof sources) {
    const source = sources[which]
    const { accountId, actor } = yield* owner
    return yield* document(yield* page(accountId, source.id(actor), source), "bearer")
  })

  const orElse = (own: Handled): OrOwn => (otherwise) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      bearer(request) === undefined
        ? otherwise
        : Effect.catchTags(own, { NotAllowed: () => otherwise, Unauthorized: () => otherwise }))

  return Portability.of({
    actor: orElse(owner.pipe(
      Effect.flatMap(({ actor, found }) =>
        Effect.map(actors.document(found), (value) => portableDocument(value, actor))
      ),
      Effect.flatMap((value) => document(value, "bearer"))
    )),
    following: orElse(collectionOf("following")),
    collection: collectionOf
  })
})

const routes = Effect.gen(function*() {
  const { admit } = yield* Admission
  const portable = yield* Portability
  const admitted = (which: PortableCollection) => admit("documents", Effect.catch(portable.collection(which), refused))
  const ofOwner = (base: OwnerBase) =>
    [
      HttpRouter.add("GET", `${base}/migration`, admitted("migration")),
      HttpRouter.add("GET", `${base}/content`, admitted("content")),
      HttpRouter.add("GET", `${base}/blocked`, admitted("blocked")),
      HttpRouter.add("GET", `${base}/liked`, admitted("liked"))
    ] as const
  const [byName, byId] = ownerBases
  return Layer.mergeAll(...ofOwner(byName), ...ofOwner(byId))
})

/** Collections for servers that copy accounts. */
export const layer = Layer.unwrap(routes)
