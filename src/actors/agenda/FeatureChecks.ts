import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { TaggedCollections } from "../../services/collections/TaggedCollections.ts"
import { AccountId } from "../../services/database/Ids.ts"
import { idOf, idsOf, typeOf } from "../../services/federation/documents/ForeignValues.ts"
import { mayPass, type PostError } from "../../services/federation/fetching/RemotePosts.ts"
import { ClaimedItems } from "../../services/federation/inbox/ClaimedItems.ts"
import { ObjectFetcher } from "../../services/federation/ObjectFetcher.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { Unavailable } from "../../services/runtime/Errors.ts"
import { AccountActors } from "../account/core/AccountActors.ts"

/** Maximum concurrent fetches for a post or collection. */
const atOnceMax = 4

const originOf = (uri: string) => URL.parse(uri)?.origin

/**
 * Verifies claims about collections of accounts at their origin: a collection that a post names is fetched from its
 * owner's server, and the consent of a member from the member's server. Built once per process.
 */
export const make = Effect.gen(function*() {
  const actors = yield* RemoteActors
  const fetcher = yield* ObjectFetcher
  const items = yield* ClaimedItems
  const people = yield* AccountActors
  const tagged = yield* TaggedCollections

  /** Returns true if the work has to be retried, because its failure may be temporary. */
  const shouldRetry = (work: Effect.Effect<void, PostError>, otherwise: Effect.Effect<void, SqlError> = Effect.void) =>
    Effect.matchEffect(work, {
      onFailure: (error) => mayPass(error) ? Effect.succeed(true) : Effect.as(otherwise, false),
      onSuccess: () => Effect.succeed(false)
    })

  /** Fetches a collection from its server; its owner's actor stores it. */
  const fetched = Effect.fnUntraced(function*(uri: string) {
    const { document, id } = yield* fetcher.fetch(uri)
    const [owner = ""] = idsOf(document["attributedTo"])
    if (id.href !== uri || originOf(owner) !== id.origin || typeOf(document, "FeaturedCollection") === undefined) return
    const account = yield* actors.find(owner)
    yield* people.tell(AccountId.make(account.id), { _tag: "KeepCollections", documents: [JSON.stringify(document)] })
      .pipe(Effect.catch((error) => error._tag === "Unavailable" ? Effect.fail(error) : Effect.void))
  })

  const settleStatus = Effect.fnUntraced(function*(statusId: bigint) {
    yield* tagged.settle(statusId)
  })

  /** Fetches unknown collections that a remote post names. */
  const fetchNamed = Effect.fnUntraced(function*(statusId: bigint) {
    // One may have been delivered in the meantime.
    yield* settleStatus(statusId)
    const uris = yield* tagged.waiting(statusId)
    const pending = yield* Effect.forEach(uris, (uri) => shouldRetry(fetched(uri)), { concurrency: atOnceMax })
    yield* settleStatus(statusId)
    if (pending.includes(true)) return yield* new Unavailable()
  })

  type Claimed = Effect.Success<ReturnType<typeof items.waiting>>[number]
  const holds = Effect.fnUntraced(function*({ account, authorization, collection, owner }: Claimed) {
    // A server that has both accounts is trusted for both.
    if (originOf(account) === originOf(owner)) return true
    if (originOf(authorization) !== originOf(account)) return false
    const { document, id } = yield* fetcher.fetch(authorization)
    return id.href === authorization && typeOf(document, "FeatureAuthorization") !== undefined &&
      idOf(document["interactingObject"]) === collection && idOf(document["interactionTarget"]) === account
  })

  /** Verifies accounts that are said to agree to be in a collection. */
  const verifyItems = Effect.fnUntraced(function*(collectionId: bigint) {
    const waiting = yield* items.waiting(collectionId)
    const pending = yield* Effect.forEach(waiting, (item) =>
      shouldRetry(
        Effect.gen(function*() {
          const agrees = yield* holds(item)
          const account = agrees ? yield* actors.find(item.account) : undefined
          yield* Effect.orDie(account === undefined ? items.refuse(item) : items.confirm(item, account.id))
        }),
        items.refuse(item)
      ), { concurrency: atOnceMax })
    const left = pending.includes(true) || (waiting.length > 0 && (yield* items.waiting(collectionId)).length > 0)
    if (left) return yield* new Unavailable()
  })

  return { verifyItems, fetchNamed }
})
