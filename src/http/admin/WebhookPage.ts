import { Effect, Layer } from "effect"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { html } from "../html/Html.ts"
import { actButton } from "./parts/Controls.ts"
import { badge, definitions, moment, section } from "./parts/Texts.ts"
import { webhookForm, webhookIn, webhooksPath } from "./parts/WebhookForm.ts"
import { StaffPages } from "./StaffPages.ts"
import { requireId, type Visit } from "./Visit.ts"

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
          say("How it is"),
          html`${
            definitions([
              [say("State"), webhook.enabled ? badge(say("Switched on"), "good") : badge(say("Switched off"))],
              [say("Waiting"), figure(waiting)],
              [say("Last taken"), moment(words, webhook.deliveredAt)],
              [say("Last failure"), html`${moment(words, webhook.failedAt)} ${webhook.error ?? ""}`],
              [say("Given up"), figure(webhook.givenUp)]
            ])
          }<div class="row">${
            webhook.enabled
              ? actButton(visit, "disable", say("Switch off"))
              : actButton(visit, "enable", say("Switch on"))
          }${actButton(visit, "remove", say("Remove"), { kind: "danger" })}</div>`
        )
      }${
        section(
          say("Secret"),
          html`<p class="soft">${
            say("The other program knows by it that an event comes from here. Show it to nobody else.")
          }</p><p>${
            secret === undefined
              ? say("It cannot be read any more: make a new one.")
              : html`<code class="secret">${secret}</code>`
          }</p>${actButton(visit, "rotate", say("Make a new secret"))}`
        )
      }${section(say("Change it"), webhookForm(visit, "save", say("Save"), webhook))}<p><a href="${webhooksPath}">${
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
          return { notice: visit.words.say("The webhook is switched on.") }
        })
      },
      disable: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Switch this webhook off?"),
            text: say("What waits for it is not told later."),
            button: say("Switch off")
          }),
        run: Effect.fnUntraced(function*(visit) {
          yield* webhooks.update(visit.by, yield* requireId(visit), { enabled: false })
          return { notice: visit.words.say("The webhook is switched off.") }
        })
      },
      rotate: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Make a new secret?"),
            text: say("From then on the old one is good for nothing: the other program has to know the new one."),
            button: say("Make a new secret"),
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
            text: say("The other program hears nothing any more. It cannot be undone."),
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
