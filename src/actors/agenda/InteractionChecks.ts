import { Effect } from "effect"
import { isStamp } from "../../services/federation/documents/InteractionDocument.ts"
import { mayPass } from "../../services/federation/fetching/RemotePosts.ts"
import { ObjectFetcher } from "../../services/federation/ObjectFetcher.ts"
import { InteractionRequests } from "../../services/statuses/InteractionRequests.ts"
import { AccountActors } from "../account/core/AccountActors.ts"

/**
 * Verifies the consent that a remote reply or reblog claims to have from another remote author. It must be on the
 * author's own server and name the interaction. Built once per process.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const fetcher = yield* ObjectFetcher
  const requests = yield* InteractionRequests

  return Effect.fnUntraced(function*(requestId: bigint) {
    const claim = yield* requests.claim(requestId)
    if (claim === undefined) return
    const { accountId, author, authorizationUri, kind, target, uri } = claim
    const check = Effect.map(
      fetcher.fetch(authorizationUri),
      ({ document, id }) =>
        id.href === authorizationUri && isStamp(document, { kind, id: authorizationUri, author, object: uri, target })
    )
    const holds = URL.parse(authorizationUri)?.origin === URL.parse(author)?.origin &&
      (yield* Effect.catch(check, (error) => mayPass(error) ? Effect.fail(error) : Effect.succeed(false)))
    yield* actors.tell(accountId, { _tag: "InteractionKnown", requestId, holds })
  })
})
