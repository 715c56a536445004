import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import { TaggedCollections } from "../../services/collections/TaggedCollections.ts"
import { Unavailable } from "../../services/Errors.ts"
import { idOf, idsOf, typeOf } from "../../services/federation/documents/Reading.ts"
import { mayPass, type PostError } from "../../services/federation/fetching/RemotePosts.ts"
import { ClaimedItems } from "../../services/federation/inbox/ClaimedItems.ts"
import { ObjectFetcher } from "../../services/federation/ObjectFetcher.ts"
import { RemoteActors } from "../../services/federation/RemoteActors.ts"
import { AccountId } from "../../services/Ids.ts"
import { AccountActors } from "../account/AccountActors.ts"

/** Documents that are asked for at once for one post or collection. */
const atOnceMax = 4

const originOf = (uri: string) => URL.parse(uri)?.origin

/**
 * Looks at what others say of collections of accounts where that is: at a collection that a post names, which its owner's
 * server has, and at what proves that an account is in one, which is the account's own server's. Made once.
 */
export const make = Effect.gen(function*() {
  const actors = yield* RemoteActors
  const broadcast = yield* Broadcast
  const fetcher = yield* ObjectFetcher
  const items = yield* ClaimedItems
  const people = yield* AccountActors
  const tagged = yield* TaggedCollections

  /** Whether it has to be tried again: what cannot be had now may be there later. */
  const again = (work: Effect.Effect<void, PostError>, otherwise: Effect.Effect<void, SqlError> = Effect.void) =>
    Effect.matchEffect(work, {
      onFailure: (error) => mayPass(error) ? Effect.succeed(true) : Effect.as(otherwise, false),
      onSuccess: () => Effect.succeed(false)
    })

  /** A collection as its server has it, kept by the actor of its owner. */
  const fetched = Effect.fnUntraced(function*(uri: string) {
    const { document, id } = yield* fetcher.fetch(uri)
    const [owner = ""] = idsOf(document["attributedTo"])
    if (id.href !== uri || originOf(owner) !== id.origin || typeOf(document, "FeaturedCollection") === undefined) return
    const account = yield* actors.find(owner)
    yield* people.tell(AccountId.make(account.id), { _tag: "KeepCollections", documents: [JSON.stringify(document)] })
      .pipe(Effect.catch((error) => error._tag === "Unavailable" ? Effect.fail(error) : Effect.void))
  })

  const settled = Effect.fnUntraced(function*(statusId: bigint) {
    if (yield* tagged.settle(statusId)) yield* broadcast.publish({ _tag: "Changed", kind: "status", ids: [statusId] })
  })

  /** Collections that a post of another server names and nobody here knows. */
  const named = Effect.fnUntraced(function*(statusId: bigint) {
    // One may have come by itself meanwhile.
    yield* settled(statusId)
    const uris = yield* tagged.waiting(statusId)
    const late = yield* Effect.forEach(uris, (uri) => again(fetched(uri)), { concurrency: atOnceMax })
    yield* settled(statusId)
    if (late.includes(true)) return yield* new Unavailable()
  })

  type Claimed = Effect.Success<ReturnType<typeof items.waiting>>[number]
  const holds = Effect.fnUntraced(function*({ account, authorization, collection, owner }: Claimed) {
    // The server that has both answers for both.
    if (originOf(account) === originOf(owner)) return true
    if (originOf(authorization) !== originOf(account)) return false
    const { document, id } = yield* fetcher.fetch(authorization)
    return id.href === authorization && typeOf(document, "FeatureAuthorization") !== undefined &&
      idOf(document["interactingObject"]) === collection && idOf(document["interactionTarget"]) === account
  })

  /** Accounts that are said to agree to be in a collection. */
  const claimed = Effect.fnUntraced(function*(collectionId: bigint) {
    const waiting = yield* items.waiting(collectionId)
    const late = yield* Effect.forEach(waiting, (item) =>
      again(
        Effect.gen(function*() {
          const agrees = yield* holds(item)
          const account = agrees ? yield* actors.find(item.account) : undefined
          yield* Effect.orDie(account === undefined ? items.refuse(item) : items.confirm(item, account.id))
        }),
        items.refuse(item)
      ), { concurrency: atOnceMax })
    const left = late.includes(true) || (waiting.length > 0 && (yield* items.waiting(collectionId)).length > 0)
    if (left) return yield* new Unavailable()
  })

  return { claimed, named }
})
