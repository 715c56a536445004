import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Invites } from "../../../services/invites/Invites.ts"
import { preferredOffer } from "../../guard/Accept.ts"
import * as Reply from "../../guard/Reply.ts"
import { Forms } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { respond } from "../../html/HtmlPage.ts"
import { Visitors } from "../../html/Visitors.ts"
import * as SignUpForm from "../../pages/SignUpForm.ts"
import { json } from "../../wire/Keys.ts"
import type { Invite } from "../../wire/SignUpRequests.ts"

const asksForJson = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => preferredOffer(headers["accept"], "page", "json") === "json"
)

const targetOf = (code: string) => ({ path: `/invite/${encodeURIComponent(code)}`, inviteCode: code })

const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const form = yield* SignUpForm.make
  const forms = yield* Forms
  const invites = yield* Invites
  const visitors = yield* Visitors

  /** A path may contain a character that Postgres cannot store in a text; no code has one. */
  const codeOf = Effect.map(HttpRouter.params, ({ code = "" }) => code.includes("\0") ? "" : code)

  const invalid = (status: 401 | 404) =>
    Effect.map(visitors.reader, ({ server, words: { say }, words }) =>
      respond({
        words,
        title: say("This invite is not valid"),
        server,
        status,
        body: html`<p>${say("It has expired, was used up, or never existed. Ask for a new one.")}</p>`
      }))

  const get = Effect.gen(function*() {
    const code = yield* codeOf
    const invite = yield* invites.find(code)
    if (yield* asksForJson) {
      if (invite === undefined) return Reply.plainError(404, "Record not found")
      if (!invite.valid) return Reply.plainError(401, "This invite is not valid")
      const document = json<Invite>({ inviteCode: code, instanceApiUrl: `${publicUrl}/api/v2/instance` })
      return Reply.json(document)
    }
    if (invite?.valid !== true) return yield* invalid(invite === undefined ? 404 : 401)
    return yield* form.show(targetOf(code))
  })

  const post = Effect.flatMap(
    codeOf,
    (code) => forms.handle((given) => form.submit(given, targetOf(code), invalid(401)), { address: "signUp" })
  )

  return Layer.mergeAll(HttpRouter.add("GET", "/invite/:code", get), HttpRouter.add("POST", "/invite/:code", post))
})

/** Sign-up by invite, on a page or in an app (S-017). */
export const layer = Layer.unwrap(make)
