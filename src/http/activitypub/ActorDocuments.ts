import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Cache from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import type { LocalName } from "../../services/instance/LocalNames.ts"
import {
  bytesOf,
  document,
  refused,
  respondWith,
  type SerialisedDocument,
  serialiseDocument
} from "./DocumentResponse.ts"
import { Requesters } from "./Requesters.ts"

/** Maximum bytes of cached documents. */
const actorCacheBytesMax = 8 * 1_024 * 1_024

/** Documents of local accounts as actors. */
export class ActorDocuments extends Context.Service<ActorDocuments, {
  readonly respond: (
    name: LocalName
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
  /** Document of the instance actor. Anyone may always fetch it: verifying our signed requests needs its key. */
  readonly instance: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/activitypub/ActorDocuments") {
  static readonly layer = Layer.effect(
    ActorDocuments,
    Effect.gen(function*() {
      const actors = yield* LocalActors
      const requesters = yield* Requesters
      const cache = yield* Cache.make<bigint, SerialisedDocument>({
        rows: (_, id) => [["account", id]],
        kinds: ["emojis"],
        max: { bytes: actorCacheBytesMax, bytesOf }
      })

      const respond = Effect.fnUntraced(function*(name: LocalName) {
        const { scope } = yield* requesters.current
        const account = yield* actors.find(name)
        return yield* respondWith(
          yield* cache.get(account.id, Effect.map(actors.document(account), serialiseDocument)),
          scope
        )
      })

      return ActorDocuments.of({
        respond: (name) => Effect.catch(respond(name), refused),
        instance: Effect.flatMap(actors.instance, (value) => document(value, "everybody"))
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
