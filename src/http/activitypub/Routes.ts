import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { collection } from "../../services/federation/documents/Collections.ts"
import { InteractionActivities } from "../../services/federation/outbox/InteractionActivities.ts"
import { QuoteActivities } from "../../services/federation/outbox/QuoteActivities.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ActorDocuments } from "./Actors.ts"
import { Admission } from "./Admission.ts"
import * as Authorizations from "./Authorizations.ts"
import * as Collections from "./Collections.ts"
import * as Contexts from "./Contexts.ts"
import { byType, document } from "./DocumentResponse.ts"
import * as EmojiRoute from "./EmojiRoute.ts"
import * as FeaturedCollections from "./FeaturedCollections.ts"
import { ObjectDocuments, type Part } from "./Objects.ts"
import { Requesters } from "./Requesters.ts"

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const { admit } = yield* Admission
  const actors = yield* ActorDocuments
  const interactionActivities = yield* InteractionActivities
  const objects = yield* ObjectDocuments
  const quoteActivities = yield* QuoteActivities
  const requesters = yield* Requesters

  /** Redirects to the HTML page of an object. */
  const page = (path: string) => HttpServerResponse.redirect(publicUrl + path)

  const actor = byType(
    admit("documents", Effect.flatMap(HttpRouter.params, ({ name = "" }) => actors.answer(name))),
    Effect.map(HttpRouter.params, ({ name = "" }) => page(`/@${encodeURIComponent(name)}`))
  )
  const note = byType(
    admit(
      "documents",
      Effect.flatMap(HttpRouter.params, ({ id = "", name = "" }) => objects.answer(name, id, "note"))
    ),
    Effect.map(
      HttpRouter.params,
      ({ id = "", name = "" }) => page(`/@${encodeURIComponent(name)}/${encodeURIComponent(id)}`)
    )
  )
  const part = (which: Part) =>
    admit(
      "documents",
      Effect.flatMap(HttpRouter.params, ({ id = "", name = "" }) => objects.answer(name, id, which))
    )

  const emoji = yield* EmojiRoute.make
  const stamp = admit("documents", Authorizations.make(requesters, quoteActivities.stamp))
  const consent = admit("documents", Authorizations.make(requesters, interactionActivities.stamp))
  const outbox = `${publicUrl}/actor/outbox`

  const base = "/users/:name/statuses/:id"
  return Layer.mergeAll(
    HttpRouter.add("GET", "/actor", actors.instance),
    HttpRouter.add(
      "GET",
      "/actor/outbox",
      document(collection("OrderedCollection", outbox, { totalItems: 0 }), "everybody")
    ),
    HttpRouter.add("GET", "/emojis/:id", emoji),
    HttpRouter.add("GET", "/users/:name", actor),
    HttpRouter.add("GET", "/users/:name/quote_authorizations/:id", stamp),
    HttpRouter.add("GET", "/users/:name/authorizations/:id", consent),
    HttpRouter.add("GET", base, note),
    HttpRouter.add("GET", `${base}/activity`, part("activity")),
    HttpRouter.add("GET", `${base}/replies`, part("replies")),
    HttpRouter.add("GET", `${base}/emoji_reactions`, part("emojiReactions")),
    HttpRouter.add("GET", `${base}/likes`, part("likes")),
    HttpRouter.add("GET", `${base}/shares`, part("shares"))
  )
})

/** Document services, for the routes here and the pages at the same addresses. */
export const documents = Layer.mergeAll(ActorDocuments.layer, ObjectDocuments.layer).pipe(
  Layer.provideMerge(Layer.merge(Requesters.layer, Admission.layer))
)

/** Routes from which other servers read local objects. */
export const layer = Layer.mergeAll(Layer.unwrap(make), Collections.layer, Contexts.layer, FeaturedCollections.layer)
