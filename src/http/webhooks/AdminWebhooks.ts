import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import type { Webhook } from "../../services/webhooks/Webhook.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { staffEndpoints } from "../staff/api/StaffEndpoints.ts"
import { staffHandlers } from "../staff/api/StaffTable.ts"
import { timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { AdminWebhook, WebhookWrite } from "./wire/Webhook.ts"

const path = "/api/v1/admin/webhooks"
const at = staffEndpoints({ path, permission: "manageWebhooks", row: AdminWebhook, write: WebhookWrite })

export class AdminWebhooksGroup extends HttpApiGroup.make("admin/webhooks")
  .add(
    at.wholeList,
    at.create,
    at.show,
    at.replace,
    at.change,
    at.remove,
    at.act("enable"),
    at.act("disable"),
    at.act("rotate", "rotate_secret")
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
    const { act, changes, create, handlers: common, listAll } = staffHandlers({
      name: "webhooks",
      table: webhooks,
      shown: (rows: ReadonlyArray<Webhook>) =>
        Effect.map(webhooks.waiting, (waiting) => rows.map((webhook) => shown(webhook, waiting)))
    })
    return handlers.handleAll({
      ...common,
      list: listAll(webhooks.list),
      create: create((by, write: WebhookWrite) => webhooks.create(by, wishOf(write))),
      ...changes((by, id, write: WebhookWrite) => webhooks.update(by, id, wishOf(write))),
      enable: act("enable", (by, id) => webhooks.update(by, id, { enabled: true })),
      disable: act("disable", (by, id) => webhooks.update(by, id, { enabled: false })),
      rotate: act("rotate", webhooks.rotate)
    })
  })
).pipe(Layer.provide(Webhooks.layer))
