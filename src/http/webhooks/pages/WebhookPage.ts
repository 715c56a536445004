import { Effect, Layer } from "effect"
import { Webhooks } from "../../../services/webhooks/Webhooks.ts"
import { html } from "../../html/Html.ts"
import { actButton } from "../../staff/pages/parts/Controls.ts"
import { badge, definitions, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { requireId, type Visit } from "../../staff/pages/StaffVisit.ts"
import { webhookForm, webhookIn, webhooksPath } from "./WebhookForm.ts"

const make = Effect.gen(function*() {
  const staff = yield* StaffPages
  const webhooks = yield* Webhooks

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, say }, words } = visit
    const webhook = yield* Effect.flatMap(requireId(visit), webhooks.find)
    const waiting = (yield* webhooks.waiting).get(webhook.id) ?? 0
    const secret = webhooks.secretOf(webhook)
    return {
      title: say("Webhook"),
      body: html`${
        section(
          say("Status"),
          html`${
            definitions([
              [say("State"), webhook.enabled ? badge(say("Enabled"), "good") : badge(say("Disabled"))],
              [say("Pending"), figure(waiting)],
              [say("Last delivered"), moment(words, webhook.deliveredAt)],
              [say("Last failure"), html`${moment(words, webhook.failedAt)} ${webhook.error ?? ""}`],
              [say("Failed"), figure(webhook.givenUp)]
            ])
          }<div class="row">${
            webhook.enabled
              ? actButton(visit, "disable", say("Disable"))
              : actButton(visit, "enable", say("Enable"))
          }${actButton(visit, "remove", say("Remove"), { kind: "danger" })}</div>`
        )
      }${
        section(
          say("Secret"),
          html`<p class="soft">${
            say("The receiving program uses it to verify that events come from here. Keep it secret.")
          }</p><p>${
            secret === undefined
              ? say("It can no longer be shown: create a new one.")
              : visit.form.size > 0
              // The response to a form is stored, and may not have secrets.
              ? ""
              : html`<code class="secret">${secret}</code>`
          }</p>${actButton(visit, "rotate", say("Create new secret"))}`
        )
      }${section(say("Save changes"), webhookForm(visit, "save", say("Save"), webhook))}<p><a href="${webhooksPath}">${
        say("All webhooks")
      }</a></p>`
    }
  })

  return staff.page({
    path: "/admin/webhooks/:id",
    permission: "manageWebhooks",
    show,
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.update(visit.by, yield* requireId(visit), webhookIn(visit))
          return { notice: visit.words.say("The webhook was changed.") }
        })
      },
      enable: {
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.update(visit.by, yield* requireId(visit), { enabled: true })
          return { notice: visit.words.say("The webhook was enabled.") }
        })
      },
      disable: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Disable this webhook?"),
            text: say("Pending events will not be delivered later."),
            button: say("Disable")
          }),
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.update(visit.by, yield* requireId(visit), { enabled: false })
          return { notice: visit.words.say("The webhook was disabled.") }
        })
      },
      rotate: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Create a new secret?"),
            text: say("The old secret stops working immediately: the receiving program needs the new one."),
            button: say("Create new secret"),
            danger: true
          }),
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.rotate(visit.by, yield* requireId(visit))
          return { notice: visit.words.say("The webhook has a new secret.") }
        })
      },
      remove: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Remove this webhook?"),
            text: say("The receiving program gets no more events. This cannot be undone."),
            button: say("Remove"),
            danger: true
          }),
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.remove(visit.by, yield* requireId(visit))
          return { notice: visit.words.say("The webhook was removed."), to: webhooksPath }
        })
      }
    }
  })
})

/** Page of one webhook: its state, its secret and its removal. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Webhooks.layer))
