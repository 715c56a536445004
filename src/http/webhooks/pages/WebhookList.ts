import { Effect, Layer } from "effect"
import { Webhooks } from "../../../services/webhooks/Webhooks.ts"
import { html } from "../../html/Html.ts"
import { wholeList } from "../../staff/pages/parts/RowLists.ts"
import { badge, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import type { Visit } from "../../staff/pages/StaffVisit.ts"
import { eventNames, webhookForm, webhookIn, webhooksPath } from "./WebhookForm.ts"

const make = Effect.gen(function*() {
  const staff = yield* StaffPages
  const webhooks = yield* Webhooks

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, list, say }, words } = visit
    const waiting = yield* webhooks.waiting
    const listed = wholeList(visit, yield* webhooks.list, {
      caption: say("Webhooks"),
      empty: say("No webhooks yet."),
      headings: [say("Address"), say("Events"), say("State"), say("Last failure"), say("Pending")],
      cells: ({ enabled, error, events, failedAt, id, url }) => [
        html`<a href="${webhooksPath}/${String(id)}">${url}</a>`,
        list(events.map((event) => eventNames[event](words))),
        enabled ? badge(say("Enabled"), "good") : badge(say("Disabled")),
        html`${moment(words, failedAt)}${error === null ? "" : html`<span class="hint">${error}</span>`}`,
        figure(waiting.get(id) ?? 0)
      ]
    })
    return {
      title: say("Webhooks"),
      body: html`<p class="soft">${say("Webhooks notify other programs of events on this server.")}</p>${listed}${
        section(say("New webhook"), webhookForm(visit, "create", say("Create webhook")))
      }`
    }
  })

  return staff.page({
    path: "/admin/webhooks",
    permission: "manageWebhooks",
    show,
    acts: {
      create: {
        run: Effect.fnUntraced(function*(visit) {
          const { id } = yield* webhooks.create(visit.by, webhookIn(visit))
          return { notice: visit.words.say("The webhook was created."), to: `${webhooksPath}/${id}` }
        })
      }
    }
  })
})

/** Webhooks that report events to other programs. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Webhooks.layer))
