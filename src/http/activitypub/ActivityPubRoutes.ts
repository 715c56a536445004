import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { collection } from "../../services/federation/documents/PagedCollection.ts"
import { InteractionActivities } from "../../services/federation/outbox/InteractionActivities.ts"
import { QuoteActivities } from "../../services/federation/outbox/QuoteActivities.ts"
import { Handles } from "../../services/identity/Handles.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ActorDocuments } from "./ActorDocuments.ts"
import { Admission } from "./Admission.ts"
import * as Authorizations from "./Authorizations.ts"
import * as CollectionDocuments from "./CollectionDocuments.ts"
import { byType, document, refused } from "./DocumentResponse.ts"
import * as EmojiRoute from "./EmojiRoute.ts"
import * as FeaturedCollections from "./FeaturedCollections.ts"
import { ObjectDocuments, type Part } from "./ObjectDocuments.ts"
import { type OwnerBase, ownerBases, ownerIn, type Params } from "./OwnerPaths.ts"
import { Portability } from "./Portability.ts"
import * as PortabilityRoutes from "./Portability.ts"
import { Requesters } from "./Requesters.ts"
import * as ThreadCollections from "./ThreadCollections.ts"

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const { admit } = yield* Admission
  const actors = yield* ActorDocuments
  const interactionActivities = yield* InteractionActivities
  const handles = yield* Handles
  const objects = yield* ObjectDocuments
  const portability = yield* Portability
  const quoteActivities = yield* QuoteActivities
  const requesters = yield* Requesters

  /** Redirects to the HTML page of an object. */
  const page = (path: string) => HttpServerResponse.redirect(publicUrl + path)

  /** Redirects to the account's page, or to a page below it. */
  const profile = (below: (params: Params) => string) =>
    Effect.flatMap(HttpRouter.params, (params) => {
      const { name } = params
      return name !== undefined
        ? Effect.succeed(page(`/@${encodeURIComponent(name)}${below(params)}`))
        : Effect.matchEffect(handles.find(ownerIn(params)), {
          onFailure: refused,
          onSuccess: ({ username }) => Effect.succeed(page(`/@${username}${below(params)}`))
        })
    })

  const actor = byType(
    admit(
      "documents",
      Effect.catch(
        portability.actor(Effect.flatMap(HttpRouter.params, (params) => actors.respond(ownerIn(params)))),
        refused
      )
    ),
    profile(() => "")
  )
  const part = (which: Part) =>
    admit(
      "documents",
      Effect.flatMap(HttpRouter.params, (params) => objects.respond(ownerIn(params), params["id"] ?? "", which))
    )
  const note = byType(part("note"), profile(({ id = "" }) => `/${encodeURIComponent(id)}`))

  const emoji = yield* EmojiRoute.make
  const stamp = admit("documents", Authorizations.make(requesters, quoteActivities.stamp))
  const consent = admit("documents", Authorizations.make(requesters, interactionActivities.stamp))
  const outbox = `${publicUrl}/actor/outbox`

  const ofOwner = (base: OwnerBase) => {
    const status = `${base}/statuses/:id` as const
    return [
      HttpRouter.add("GET", base, actor),
      HttpRouter.add("GET", `${base}/quote_authorizations/:id`, stamp),
      HttpRouter.add("GET", `${base}/authorizations/:id`, consent),
      HttpRouter.add("GET", status, note),
      HttpRouter.add("GET", `${status}/activity`, part("activity")),
      HttpRouter.add("GET", `${status}/replies`, part("replies")),
      HttpRouter.add("GET", `${status}/emoji_reactions`, part("emojiReactions")),
      HttpRouter.add("GET", `${status}/likes`, part("likes")),
      HttpRouter.add("GET", `${status}/shares`, part("shares"))
    ] as const
  }
  return Layer.mergeAll(
    HttpRouter.add("GET", "/actor", actors.instance),
    HttpRouter.add(
      "GET",
      "/actor/outbox",
      document(collection("OrderedCollection", outbox, { totalItems: 0 }), "everybody")
    ),
    HttpRouter.add("GET", "/emojis/:id", emoji),
    ...ofOwner(ownerBases[0]),
    ...ofOwner(ownerBases[1])
  )
})

/** Document services, for the routes here and the pages at the same addresses. */
export const documents = Layer.mergeAll(ActorDocuments.layer, ObjectDocuments.layer).pipe(
  Layer.provideMerge(Layer.merge(Requesters.layer, Admission.layer))
)

/** Routes from which other servers read local objects. */
export const layer = Layer.mergeAll(
  Layer.unwrap(make),
  CollectionDocuments.layer,
  ThreadCollections.layer,
  PortabilityRoutes.layer,
  FeaturedCollections.layer
).pipe(Layer.provide(Portability.layer))
