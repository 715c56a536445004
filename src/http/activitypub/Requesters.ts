import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type NotAllowed, Unauthorized } from "../../services/Errors.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Viewer } from "../../services/Viewer.ts"
import type { Audience } from "./Answers.ts"

/** Who asks for a document, and who else may be given what it is answered. */
export interface Requester {
  readonly viewer: Viewer
  readonly audience: Audience
}

/** Other servers that ask for documents. In restricted mode there is nothing for strangers (S-024). */
export class Requesters extends Context.Service<Requesters, {
  readonly current: Effect.Effect<Requester, Unauthorized | NotAllowed, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/activitypub/Requesters") {
  static readonly layer = Layer.effect(
    Requesters,
    Effect.map(ServerConfig, ({ limitedFederation }) =>
      Requesters.of({
        current: limitedFederation
          ? new Unauthorized({ reason: "user required" })
          : Effect.succeed({ viewer: undefined, audience: "everybody" })
      }))
  )
}
