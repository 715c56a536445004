import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import type { Messages } from "../../../services/languages/Messages.ts"
import type { NotificationType } from "../../../services/notifications/NotificationTypes.ts"
import { SessionTokens } from "../../../services/oauth/SessionTokens.ts"
import { PushPolicy, PushSubscriptions } from "../../../services/push/PushSubscriptions.ts"
import { Secrets } from "../../../services/secrets/Secrets.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { pushPath } from "../../html/PagePaths.ts"
import { checkBoxes, choice } from "../settings/FormFields.ts"
import { inSettings } from "../settings/SettingsNavigation.ts"
import { WebPages } from "../shell/WebPages.ts"

/** Notifications that can be pushed, with their names on the page. */
const alertsOf = ({ say }: Messages): ReadonlyArray<readonly [type: NotificationType, name: string]> => [
  ["mention", say("Mentions")],
  ["follow", say("New followers")],
  ["follow_request", say("Follow requests")],
  ["favourite", say("Favourites")],
  ["reblog", say("Boosts")],
  ["quote", say("Quotes")],
  ["poll", say("Polls that ended")],
  ["status", say("New posts by people you asked to be notified about")],
  ["update", say("Edits of posts that you boosted")]
]

const policiesOf = ({ say }: Messages): Readonly<Record<typeof PushPolicy.Type, string>> => ({
  all: say("From everybody"),
  followed: say("From people you follow"),
  follower: say("From your followers"),
  none: say("From nobody")
})

const make = Effect.gen(function*() {
  const pages = yield* WebPages
  const subscriptions = yield* PushSubscriptions
  const tokens = yield* SessionTokens
  const { vapid: { publicKey } } = yield* Secrets

  const page = pages.member(
    Effect.fnUntraced(function*(visit) {
      const { formToken, pathAndQuery, reader: { words, words: { say } }, session } = visit
      const token = yield* tokens.of(session)
      const known = Option.getOrUndefined(yield* Effect.option(subscriptions.find(token)))
      const alerts: Readonly<Record<string, boolean>> = known?.alerts ?? {}
      const policy = known?.policy ?? "all"
      const offered = alertsOf(words)
      return {
        title: say("Notifications in this browser"),
        scripts: ["push" as const],
        ...inSettings(
          visit,
          html`<form method="post" action="/web/push" class="push" data-key="${publicKey}">${tokenInput(formToken)}${
            hidden("return", pathAndQuery)
          }${["endpoint", "p256dh", "auth"].map((name) => hidden(name, ""))}
<p>${
            known === undefined
              ? say("This browser does not show notifications while the page is closed.")
              : say("This browser shows notifications, even while the page is closed.")
          }</p>
<p class="when-impossible problem">${say("This needs JavaScript, and a browser that supports push notifications.")}</p>
<p class="when-refused problem" role="alert">${
            say("The browser refused. Allow notifications from this site in the browser's settings.")
          }</p>
${
            checkBoxes(
              "alerts",
              say("Notify me of"),
              known === undefined
                ? offered.map(([type]) => type)
                : offered.flatMap(([type]) => alerts[type] === true ? [type] : []),
              offered
            )
          }${choice("policy", say("From whom"), policy, Object.entries(policiesOf(words)))}
<p class="row"><button type="submit" name="act" value="on">${
            known === undefined ? say("Turn on") : say("Save")
          }</button>${
            known === undefined
              ? ""
              : html`<button type="submit" name="act" value="off" class="plain">${say("Turn off")}</button>`
          }</p></form>`
        )
      }
    })
  )

  const change = pages.act(Effect.fnUntraced(function*({ reader: { words }, session }, form) {
    const tokenId = yield* tokens.of(session)
    if (form.get("act") === "off") {
      yield* subscriptions.remove(tokenId)
      return { to: pushPath, notice: words.say("This browser no longer shows notifications.") }
    }
    const given = new Set(form.getAll("alerts"))
    const change = {
      policy: PushPolicy.literals.find((one) => one === form.get("policy")) ?? "all",
      alerts: Object.fromEntries(alertsOf(words).map(([type]) => [type, given.has(type)]))
    }
    const [endpoint = "", p256dh = "", auth = ""] = ["endpoint", "p256dh", "auth"].map((name) => form.get(name) ?? "")
    // Without scripts the form has no address, and changes the existing subscription.
    yield* endpoint === ""
      ? subscriptions.change(tokenId, change)
      // The browser is told of no token: it has its session.
      : subscriptions.replace({ tokenId, token: Redacted.make("") }, {
        ...change,
        endpoint,
        p256dh,
        auth,
        standard: true
      })
    return { to: pushPath, notice: words.say("This browser shows notifications, even while the page is closed.") }
  }))

  return Layer.mergeAll(HttpRouter.add("GET", pushPath, page), HttpRouter.add("POST", "/web/push", change))
})

/** Push notifications of the browser; the subscription belongs to its session, and ends with it. */
export const layer = Layer.unwrap(make)
