import type { Messages } from "../../../services/languages/Messages.ts"
import { eventPermissions, type Webhook, WebhookEvent } from "../../../services/webhooks/Webhook.ts"
import { type Html, html } from "../../html/Html.ts"
import { button, checkbox, form, textArea, textField } from "../../staff/pages/parts/Controls.ts"
import type { Visit } from "../../staff/pages/StaffVisit.ts"

/** Path of the list of webhooks. */
export const webhooksPath = "/admin/webhooks"

/** Labels of webhook events. */
export const eventNames: Readonly<Record<WebhookEvent, (words: Messages) => string>> = {
  ["account.approved"]: ({ say }) => say("An account was approved"),
  ["account.created"]: ({ say }) => say("A user signed up"),
  ["account.updated"]: ({ say }) => say("An account was updated"),
  ["report.created"]: ({ say }) => say("A report was created"),
  ["report.updated"]: ({ say }) => say("A report was updated"),
  ["status.created"]: ({ say }) => say("A local post was published"),
  ["status.updated"]: ({ say }) => say("A local post was edited")
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
        hint: say("Must be publicly reachable."),
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
        hint: say("Sent instead of the whole event; can be empty."),
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
