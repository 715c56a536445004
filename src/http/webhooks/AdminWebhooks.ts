import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import type { Webhook } from "../../services/webhooks/Webhook.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { AdminWebhook, WebhookWrite } from "./wire/Webhook.ts"

const reading = Access.staff("manageWebhooks", "admin:read")
const writing = Access.staff("manageWebhooks", "admin:write")
const path = "/api/v1/admin/webhooks"
const one = { params: IdPath, success: AdminWebhook }
const changing = { ...one, payload: WebhookWrite }

export class AdminWebhooksGroup extends HttpApiGroup.make("admin/webhooks")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(AdminWebhook) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: WebhookWrite, success: AdminWebhook }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing),
    HttpApiEndpoint.post("enable", `${path}/:id/enable`, one).annotate(Access, writing),
    HttpApiEndpoint.post("disable", `${path}/:id/disable`, one).annotate(Access, writing),
    HttpApiEndpoint.post("rotate", `${path}/:id/rotate_secret`, one).annotate(Access, writing)
  )
  .middleware(Guard)
{}

const wishOf = ({ enabled, events, template, url }: WebhookWrite) => ({
  url: url ?? undefined,
  events,
  // An empty template means the default body.
  ...(template !== undefined && { template: template ?? "" }),
  enabled
})

interface About {
  readonly params: { readonly id: bigint }
}
interface Changing extends About {
  readonly payload: WebhookWrite
}

/** Webhooks that report events to other programs. Mastodon has only web pages for them. */
export const layer = group(
  AdminWebhooksGroup,
  Effect.fn(function*(handlers) {
    const webhooks = yield* Webhooks

    const shown = (webhook: Webhook, waiting: ReadonlyMap<bigint, number>) =>
      json<AdminWebhook>({
        id: String(webhook.id),
        url: webhook.url,
        events: webhook.events,
        template: webhook.template,
        secret: webhooks.secretOf(webhook) ?? null,
        enabled: webhook.enabled,
        createdAt: timestamp(webhook.createdAt),
        updatedAt: timestamp(webhook.updatedAt),
        lastDeliveredAt: timestampOrNull(webhook.deliveredAt),
        lastFailedAt: timestampOrNull(webhook.failedAt),
        lastError: webhook.error,
        waitingCount: waiting.get(webhook.id) ?? 0,
        givenUpCount: webhook.givenUp
      })
    const reply = (webhook: Webhook) => Effect.map(webhooks.waiting, (waiting) => Reply.json(shown(webhook, waiting)))
    const change = traced("admin.webhooks.change")(function*({ params, payload }: Changing) {
      return yield* reply(yield* webhooks.update(yield* Caller.account, params.id, wishOf(payload)))
    })
    const turn = (enabled: boolean) =>
      traced(`admin.webhooks.${enabled ? "enable" : "disable"}`)(function*({ params }: About) {
        return yield* reply(yield* webhooks.update(yield* Caller.account, params.id, { enabled }))
      })

    return handlers.handleAll({
      list: traced("admin.webhooks.list")(function*() {
        const waiting = yield* webhooks.waiting
        return Reply.list((yield* webhooks.list).map((webhook) => shown(webhook, waiting)))
      }),
      create: traced("admin.webhooks.create")(function*({ payload }) {
        return yield* reply(yield* webhooks.create(yield* Caller.account, wishOf(payload)))
      }),
      show: traced("admin.webhooks.show")(({ params }) => Effect.flatMap(webhooks.find(params.id), reply)),
      replace: change,
      change,
      remove: traced("admin.webhooks.remove")(function*({ params }) {
        yield* webhooks.remove(yield* Caller.account, params.id)
        return Reply.empty
      }),
      enable: turn(true),
      disable: turn(false),
      rotate: traced("admin.webhooks.rotate")(function*({ params }) {
        return yield* reply(yield* webhooks.rotate(yield* Caller.account, params.id))
      })
    })
  })
).pipe(Layer.provide(Webhooks.layer))
