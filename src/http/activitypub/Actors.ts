import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Broadcast } from "../../services/Broadcast.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import { onChanged } from "../render/Changes.ts"
import * as JsonCache from "../render/JsonCache.ts"
import { ready, refused } from "./DocumentResponse.ts"
import { Requesters } from "./Requesters.ts"

/** Bytes of documents that are kept ready. */
const actorCacheBytesMax = 8 * 1_024 * 1_024

/** Local accounts as actors, ready as text. */
export class ActorDocuments extends Context.Service<ActorDocuments, {
  readonly answer: (
    username: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
  /** The server itself, which everybody may always fetch: a signed request of ours needs its key. */
  readonly instance: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/activitypub/ActorDocuments") {
  static readonly layer = Layer.effect(
    ActorDocuments,
    Effect.gen(function*() {
      const actors = yield* LocalActors
      const requesters = yield* Requesters
      const { connected } = yield* Broadcast
      const cache = JsonCache.make<{ readonly text: string }>({
        bytesMax: actorCacheBytesMax,
        bytesOf: ({ text }) => text.length * 2,
        connected
      })
      yield* onChanged("account", cache.forget)

      const respond = Effect.fnUntraced(function*(username: string) {
        const { scope } = yield* requesters.current
        const account = yield* actors.find(username)
        const texts = yield* cache.get([account.id], ([id]) =>
          Effect.map(
            actors.document(account),
            (value) => new Map(id === undefined ? [] : [[id, { text: JSON.stringify(value) }]])
          ))
        return yield* ready(texts.get(account.id)?.text ?? "", scope)
      })

      return ActorDocuments.of({
        answer: (username) => Effect.catch(respond(username), refused),
        instance: Effect.flatMap(actors.instance, (value) => ready(JSON.stringify(value), "everybody"))
      })
    })
  )
}
