import type { Messages } from "../../../services/languages/Messages.ts"
import { eventPermissions, type Webhook, WebhookEvent } from "../../../services/webhooks/Webhook.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../Visit.ts"
import { button, checkbox, form, textArea, textField } from "./Controls.ts"

/** Path of the list of webhooks. */
export const webhooksPath = "/admin/webhooks"

/** Labels of webhook events. */
export const eventNames: Readonly<Record<WebhookEvent, (words: Messages) => string>> = {
  ["account.approved"]: ({ say }) => say("An account was approved"),
  ["account.created"]: ({ say }) => say("Somebody signed up"),
  ["account.updated"]: ({ say }) => say("An account was changed"),
  ["report.created"]: ({ say }) => say("A report came in"),
  ["report.updated"]: ({ say }) => say("A report was changed"),
  ["status.created"]: ({ say }) => say("A post was published here"),
  ["status.updated"]: ({ say }) => say("A post was edited here")
}

/** Form of a webhook. It offers the events that the visitor's permissions allow, and those that the webhook has. */
export const webhookForm = (visit: Visit, act: string, label: string, webhook?: Webhook): Html => {
  const { words: { say }, words } = visit
  const has = (event: WebhookEvent) => webhook?.events.includes(event) === true
  return form(
    visit,
    html`${
      textField(visit, {
        name: "url",
        type: "url",
        label: say("Address"),
        hint: say("It has to be public."),
        value: webhook?.url ?? "",
        required: true
      })
    }<fieldset><legend>${say("Events")}</legend>${
      WebhookEvent.literals.filter((event) => visit.may(eventPermissions[event]) || has(event)).map((event) =>
        checkbox(visit, {
          name: "events[]",
          value: event,
          label: eventNames[event](words),
          hint: event,
          checked: has(event)
        })
      )
    }</fieldset>${
      textArea(visit, {
        name: "template",
        label: say("Template"),
        hint: say("What is sent in place of the whole event; may be empty."),
        value: webhook?.template ?? "",
        rows: 4
      })
    }${button(act, label, "main")}`
  )
}

/** Returns the webhook in the form. */
export const webhookIn = ({ form: sent }: Visit) => ({
  url: sent.get("url") ?? "",
  events: sent.getAll("events"),
  template: sent.get("template") ?? ""
})
