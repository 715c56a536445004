import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { IdFromString } from "../../../services/database/Ids.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { type Invite, inviteLink, Invites, inviteSeconds, inviteUses } from "../../../services/invites/Invites.ts"
import { Forms, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { problem, redirect } from "../../html/HtmlPage.ts"
import { MemberFrame } from "../../html/MemberFrame.ts"
import { invitesPath as path, signInPath } from "../../html/PagePaths.ts"
import { type Visitor, Visitors } from "../../html/Visitors.ts"

/** Maximum invites on the page: more than may be open at once. */
const shownMax = 200

/** Returns the offered number that was chosen; null means no limit. */
const chosen = (offered: ReadonlyArray<number>, given: string | null) =>
  offered.find((one) => String(one) === given) ?? null

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const forms = yield* Forms
  const frame = yield* MemberFrame
  const invites = yield* Invites
  const visitors = yield* Visitors

  const toSignIn = redirect(`${signInPath}?${new URLSearchParams([["return_to", path]])}`)

  const choice = (name: string, label: string, endless: string, offered: ReadonlyArray<readonly [number, string]>) =>
    html`<label>${label}
<select name="${name}"><option value="">${endless}</option>${
      offered.map(([value, text]) => html`<option value="${value}">${text}</option>`)
    }</select></label>`

  const item = ({ code, id, uses, valid }: Invite, { formToken, way, words: { say } }: Visitor): Html =>
    html`
<li>
<p><a href="${inviteLink(publicUrl, code)}">${inviteLink(publicUrl, code)}</a></p>
<p class="soft">${say("{uses, plural, one {Used once} other {Used # times}}", { uses })}${
      valid ? "" : html` ${say("Expired")}`
    }</p>
${
      valid
        ? html`<form method="post" action="${way(`${path}/${id}`)}">${tokenInput(formToken)}
<button type="submit" class="danger">${say("Revoke invite")}</button></form>`
        : ""
    }
</li>`

  const show = Effect.fnUntraced(function*(refused?: { readonly text: string; readonly status: number }) {
    const visitor = yield* visitors.current
    if (visitor.session === undefined) return toSignIn
    const { formToken, way, words } = visitor
    const { say } = words
    const page = { maxId: undefined, minId: undefined, sinceId: undefined, limit: shownMax }
    const own = yield* invites.list(page, visitor.session.accountId)
    const minutes = inviteSeconds.map((seconds) =>
      [
        seconds,
        say("{minutes, plural, one {# minute} other {# minutes}}", { minutes: seconds / 60 })
      ] as const
    )
    return yield* frame.respond(visitor, path, {
      words,
      title: say("Invite people"),
      status: refused?.status ?? 200,
      body: html`
${problem(refused === undefined ? undefined : words.translate(refused.text))}
<p>${say("Anyone with an invite link can sign up on this server.")}</p>
<form method="post" action="${way(path)}">
${tokenInput(formToken)}
${
        choice(
          "max_uses",
          say("Max number of uses"),
          say("No limit"),
          inviteUses.map((uses) => [uses, String(uses)])
        )
      }
${choice("expires_in", say("Expires after"), say("Never expires"), minutes)}
<label class="check"><input type="checkbox" name="autofollow" value="1"> ${say("New members follow you")}</label>
<p class="row"><button type="submit">${say("Create invite")}</button></p>
</form>
<ul class="apps">${own.map((invite) => item(invite, visitor))}</ul>`
    })
  })

  const denied = (visitor: Visitor) => {
    const { words } = visitor
    return frame.respond(visitor, path, {
      words,
      title: words.say("Invite people"),
      status: 403,
      body: problem(words.say("Your role does not allow you to invite people."))
    })
  }

  const create = forms.handle(Effect.fnUntraced(function*(form) {
    const visitor = yield* visitors.current
    const { session } = visitor
    if (session === undefined) return toSignIn
    return yield* invites.create(session.accountId, {
      maxUses: chosen(inviteUses, form.get("max_uses")),
      expiresIn: chosen(inviteSeconds, form.get("expires_in")),
      autofollow: form.has("autofollow")
    }).pipe(
      Effect.as(redirect(path)),
      Effect.catchTags({
        NotAllowed: () => denied(visitor),
        Unprocessable: ({ message }) => show({ text: message, status: 422 })
      })
    )
  }))

  const end = forms.handle(Effect.fnUntraced(function*() {
    const visitor = yield* visitors.current
    const { session } = visitor
    if (session === undefined) return toSignIn
    const { id } = yield* HttpRouter.params
    const inviteId = Schema.decodeUnknownOption(IdFromString)(id)
    if (Option.isNone(inviteId)) return redirect(path)
    return yield* invites.end(session.accountId, inviteId.value).pipe(
      Effect.as(redirect(path)),
      Effect.catchTags({
        NotAllowed: () => denied(visitor),
        RecordNotFound: () => Effect.succeed(redirect(path))
      })
    )
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", path, show()),
    HttpRouter.add("POST", path, create),
    HttpRouter.add("POST", `${path}/:id`, end)
  )
})

/** Invites of a member whose role allows inviting people (S-017). */
export const layer = Layer.unwrap(make)
