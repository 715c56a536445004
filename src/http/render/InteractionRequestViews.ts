import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { InteractionRequestKind, InteractionRequestRecord } from "../../services/statuses/InteractionRequest.ts"
import { id, timestamp } from "../wire/Common.ts"
import type { InteractionRequest } from "../wire/InteractionPolicy.ts"
import { type JsonOf, none, withMembers } from "../wire/Keys.ts"
import { AccountViews } from "./AccountViews.ts"
import { StatusViews } from "./StatusViews.ts"

/** Returns true for kinds with content of their own; a reblog has none. */
const shows = (kind: InteractionRequestKind) => kind === "reply" || kind === "quote"

/** Requests to interact with the owner's statuses as serialised JSON; a list takes the queries of a status page. */
export class InteractionRequestViews extends Context.Service<InteractionRequestViews, {
  readonly render: (
    owner: AccountId,
    requests: ReadonlyArray<InteractionRequestRecord>
  ) => Effect.Effect<ReadonlyArray<JsonOf<InteractionRequest>>>
}>()("murmuration/http/render/InteractionRequestViews") {
  static readonly layerNoDeps = Layer.effect(
    InteractionRequestViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const statuses = yield* StatusViews

      const render = traced("InteractionRequestViews.render")(
        function*(owner: AccountId, requests: ReadonlyArray<InteractionRequestRecord>) {
          const parts = requests.flatMap(({ interactionId, kind }) => shows(kind) ? interactionId ?? [] : [])
          const shown = yield* statuses.byId(owner, [...requests.map(({ statusId }) => statusId), ...parts])
          const people = yield* accounts.byId(new Set(requests.map(({ accountId }) => accountId)))
          return yield* renderedRows("interaction request", requests, (request) => request.id, (request) => {
            const { accountId, createdAt, decidedAt, interactionId, kind: type, state, statusId } = request
            const account = people.get(accountId)
            if (account === undefined) return undefined
            const values = {
              id: id(request.id),
              type,
              createdAt: timestamp(createdAt),
              ...(state === "accepted" && decidedAt !== null ? { acceptedAt: timestamp(decidedAt) } : {}),
              ...(state === "rejected" && decidedAt !== null ? { rejectedAt: timestamp(decidedAt) } : {})
            }
            const status = shown.get(statusId) ?? none
            const part = interactionId === null ? undefined : shown.get(interactionId)
            return part === undefined || !shows(type)
              ? withMembers<InteractionRequest, "account" | "status">(values, { account, status })
              : type === "quote"
              ? withMembers<InteractionRequest, "account" | "status" | "quote">(values, {
                account,
                status,
                quote: part
              })
              : withMembers<InteractionRequest, "account" | "status" | "reply">(values, {
                account,
                status,
                reply: part
              })
          })
        }
      )
      return InteractionRequestViews.of({ render })
    })
  )
  static readonly layer = InteractionRequestViews.layerNoDeps.pipe(
    Layer.provide([AccountViews.layer, StatusViews.layer])
  )
}
