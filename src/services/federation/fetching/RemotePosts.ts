import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { StatusId } from "../../database/Ids.ts"
import { idRows } from "../../database/Rows.ts"
import type { RequestedUrls } from "../../outbound/HttpRedirects.ts"
import { Unreachable } from "../../outbound/OutboundError.ts"
import type { Unavailable } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { addressedBy } from "../documents/Envelopes.ts"
import { type Foreign, idOf, idsOf, typeOf } from "../documents/ForeignValues.ts"
import { KnownUris } from "../inbox/KnownUris.ts"
import { type FetchedDocument, Implausible, ObjectFetcher } from "../ObjectFetcher.ts"
import { RemoteAccounts } from "../RemoteAccounts.ts"
import { RemoteActors, type RemoteError, underWayMax } from "../RemoteActors.ts"
import * as SingleFlight from "../SingleFlight.ts"
import * as Budget from "./Budget.ts"
import { FetchedPosts } from "./FetchedPosts.ts"

/** Reason why a post could not be fetched. */
export type PostError = RemoteError | Unavailable

/** Returns true if a retry may succeed. */
export const mayPass = (error: PostError): boolean => {
  switch (error._tag) {
    case "Unavailable":
    case "Unreachable":
      return true
    case "ErrorResponse":
      return error.status >= 500 || error.status === 429 || error.status === 408
    default:
      return false
  }
}

/** A post that was just fetched and stored. */
interface FetchedPost {
  readonly statusId: StatusId
  readonly document: Foreign
}

/** Reason for fetching a post. */
interface FetchReason {
  /** True if a user wants it; otherwise it is stored only if a local account is concerned. */
  readonly asked: boolean
  /** Remaining budget of the same reason. */
  readonly budget?: Budget.Budget
  /** The post that the fetched one must reply to. */
  readonly inReplyTo?: string
}

/** Maximum duration of one look-up with everything that it fetches, in seconds. */
export const lookUpSecondsMax = 45

/**
 * Fetches posts of other servers from their origin. Concurrent callers share a fetch. The author must have the same
 * origin as the post, and only the author's actor stores it.
 */
export class RemotePosts extends Context.Service<RemotePosts, {
  /** Returns the stored status with this id; fetches it if unknown. */
  readonly find: (uri: string) => Effect.Effect<StatusId, PostError>
  /** Fetches and stores a post even if it is known: an edit is applied, and a deleted post stays deleted. */
  readonly refresh: (uri: string, wish: FetchReason) => Effect.Effect<FetchedPost, PostError>
  /** Stores a post that was already fetched. */
  readonly keep: (
    found: FetchedDocument,
    wish: FetchReason,
    places?: RequestedUrls
  ) => Effect.Effect<FetchedPost, PostError>
  /** Returns true if the origin says that the post was deleted; with `open`, also if it replies 404. */
  readonly isGone: (uri: string, open: boolean) => Effect.Effect<boolean, RemoteError>
}>()("murmuration/services/federation/fetching/RemotePosts") {
  static readonly layerNoDeps = Layer.effect(
    RemotePosts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* RemoteAccounts
      const actors = yield* RemoteActors
      const fetcher = yield* ObjectFetcher
      const fetchedPosts = yield* FetchedPosts
      const knownUris = yield* KnownUris
      const shared = yield* SingleFlight.make<FetchedPost, PostError>(underWayMax)

      /** Returns the object of a Create; its own document counts, not the copy in the activity (row 7). */
      const objectOf = Effect.fnUntraced(function*(found: FetchedDocument, places: RequestedUrls) {
        if (typeOf(found.document, "Create") === undefined) return found
        const object = idOf(found.document["object"])
        if (object === undefined || URL.parse(object)?.origin !== found.id.origin) {
          return yield* new Implausible({ url: found.id.href, reason: "an activity about an object of another actor" })
        }
        const named = yield* fetcher.fetch(object, places)
        return { ...named, document: addressedBy(found.document, named.document) }
      })

      /** Charges each new account to the budget. */
      const authorAt = Effect.fnUntraced(function*(uri: string, { budget }: FetchReason) {
        const known = yield* accounts.byUri(uri)
        if (known !== undefined) return known
        if (budget !== undefined && !Budget.spend(budget, "accounts")) {
          return yield* new Implausible({ url: uri, reason: "too many new accounts at once" })
        }
        return yield* actors.find(uri)
      })

      const keep = traced("RemotePosts.keep")(
        function*(found: FetchedDocument, wish: FetchReason, places: RequestedUrls = new Set()) {
          const { document, id } = yield* objectOf(found, places)
          const author = idsOf(document["attributedTo"]).find((uri) => URL.parse(uri)?.origin === id.origin)
          if (author === undefined) {
            return yield* new Implausible({ url: id.href, reason: "not a post of an actor on its host" })
          }
          if (wish.inReplyTo !== undefined && idOf(document["inReplyTo"]) !== wish.inReplyTo) {
            return yield* new Implausible({ url: id.href, reason: "not a reply" })
          }
          const { id: accountId } = yield* authorAt(author, wish)
          const post = { author: accountId, uri: id.href, document: JSON.stringify(document), asked: wish.asked }
          return { statusId: yield* fetchedPosts.store(post), document }
        }
      )

      const fetched = Effect.fnUntraced(function*(uri: string, wish: FetchReason) {
        const places: RequestedUrls = new Set()
        return yield* keep(yield* fetcher.fetch(uri, places), wish, places)
      })

      const refresh = traced("RemotePosts.refresh")((uri: string, wish: FetchReason) =>
        shared(
          `${wish.asked} ${wish.inReplyTo ?? ""} ${uri}`,
          Effect.timeoutOrElse(fetched(uri, wish), {
            duration: `${lookUpSecondsMax} seconds`,
            orElse: () => new Unreachable({ url: uri, reason: "timeout" })
          })
        )
      )

      const find = traced("RemotePosts.find")(function*(uri: string) {
        const known = yield* Effect.orDie(knownUris.status(uri))
        if (known === undefined) return (yield* refresh(uri, { asked: true })).statusId
        const [standing] = yield* Effect.orDie(
          idRows(sql`SELECT id FROM statuses WHERE id = ${known} AND deleted_at IS NULL`)
        )
        return standing === undefined ? yield* new Implausible({ url: uri, reason: "it was deleted" }) : known
      })

      const isGone = traced("RemotePosts.isGone")((uri: string, open: boolean) =>
        fetcher.fetch(uri).pipe(
          Effect.map(({ document, id }) => id.href === uri && typeOf(document, "Tombstone") !== undefined),
          Effect.catchTag("ErrorResponse", (error) =>
            error.status === 410 || (open && error.status === 404) ? Effect.succeed(true) : Effect.fail(error))
        )
      )

      return RemotePosts.of({ find, refresh, keep, isGone })
    })
  )
  static readonly layer = RemotePosts.layerNoDeps.pipe(
    Layer.provide([KnownUris.layer, ObjectFetcher.layer, RemoteAccounts.layer, RemoteActors.layer])
  )
}
