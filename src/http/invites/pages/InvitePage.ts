import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { passwordBytesMax, passwordCharactersMin } from "../../../services/identity/Credentials.ts"
import { emailCharactersMax } from "../../../services/identity/EmailAddresses.ts"
import { givenEmail } from "../../../services/identity/RegistrationRules.ts"
import { SignUps } from "../../../services/identity/SignUps.ts"
import { usernameCharactersMax } from "../../../services/identity/Usernames.ts"
import { type User, Users } from "../../../services/identity/Users.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Invites } from "../../../services/invites/Invites.ts"
import { SignUpBlocks } from "../../../services/moderation/SignUpBlocks.ts"
import { preferredOffer } from "../../guard/Accept.ts"
import * as Reply from "../../guard/Reply.ts"
import { Forms, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { linkTo, problem, respond } from "../../html/HtmlPage.ts"
import { signInPath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"
import { json } from "../../wire/Keys.ts"
import type { Invite } from "../../wire/SignUpRequests.ts"

/** Values of the form when it is shown again. */
interface Tried {
  readonly username: string
  readonly email: string
  readonly wrong?: { readonly text: string; readonly status: number }
}

const asksForJson = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => preferredOffer(headers["accept"], "page", "json") === "json"
)

const make = Effect.gen(function*() {
  const { localDomain: server, publicUrl } = yield* ServerConfig
  const blocks = yield* SignUpBlocks
  const forms = yield* Forms
  const invites = yield* Invites
  const policies = yield* InstancePolicies
  const signUps = yield* SignUps
  const users = yield* Users
  const visitors = yield* Visitors

  /** A path may contain a character that Postgres cannot store in a text; no code has one. */
  const codeOf = Effect.map(HttpRouter.params, ({ code = "" }) => code.includes("\0") ? "" : code)

  const invalid = (status: 401 | 404) =>
    Effect.map(visitors.reader, ({ words: { say }, words }) =>
      respond({
        words,
        title: say("This invite is not valid"),
        server,
        status,
        body: html`<p>${say("It has expired, was used up, or never existed. Ask for a new one.")}</p>`
      }))

  const show = Effect.fnUntraced(function*(code: string, { email, username, wrong }: Tried) {
    const { formToken, remember, way, words } = yield* visitors.current
    const { pieces, say } = words
    const { minAge } = yield* policies.current
    return remember(respond({
      words,
      title: say("Sign up on {server}", { server }),
      server,
      ...(wrong !== undefined && { status: wrong.status }),
      body: html`
${problem(wrong === undefined ? undefined : words.translate(wrong.text))}
<form method="post" action="${way(`/invite/${encodeURIComponent(code)}`)}">
${tokenInput(formToken)}
<label>${say("Username")}
<input type="text" name="username" value="${username}" maxlength="${usernameCharactersMax}" autocomplete="username" required></label>
<label>${say("Email address")}
<input type="email" name="email" value="${email}" autocomplete="email" required></label>
<label>${say("Password")}
<input type="password" name="password" autocomplete="new-password" required aria-describedby="rule">
<span class="hint" id="rule">${
        say(
          "At least {characters, plural, one {# character} other {# characters}}, at most {bytes, plural, one {# byte} other {# bytes}}.",
          { characters: passwordCharactersMin, bytes: passwordBytesMax }
        )
      }</span></label>
${
        minAge === null ? "" : html`<label>${say("Date of birth")}
<input type="date" name="date_of_birth" autocomplete="bday" required aria-describedby="age">
<span class="hint" id="age">${
          say(
            "You must be at least {years, plural, one {# year} other {# years}} old. Your date of birth is not stored.",
            {
              years: minAge
            }
          )
        }</span></label>`
      }
<label class="row"><input type="checkbox" name="agreement" value="1" required><span>${
        pieces("I have read and accept <link>the description and rules of this server</link>.", {
          link: linkTo(way("/about"))
        })
      }</span></label>
<button type="submit">${say("Sign up")}</button>
</form>`
    }))
  })

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
    return yield* show(code, { username: "", email: "" })
  })

  const signedUp = ({ approved, confirmed }: Pick<User, "approved" | "confirmed">) =>
    Effect.map(visitors.reader, ({ way, words: { pieces, say }, words }) => {
      const next = !confirmed
        ? say("We sent you an email. Open the link in it to finish your sign-up.")
        : approved
        ? pieces("You can now <link>sign in</link>, here or in any Mastodon app.", {
          link: linkTo(way(signInPath))
        })
        : say(
          "Thank you! A moderator of {server} will now review your sign-up. We email you the decision; until then you cannot use your app.",
          { server }
        )
      return respond({
        words,
        title: confirmed ? say("Your account is ready") : say("Check your email"),
        server,
        body: html`<p class="done" role="status">${next}</p>`
      })
    })

  const post = Effect.flatMap(codeOf, (code) =>
    forms.handle(
      (form) => {
        const text = (name: string, charactersMax: number) => {
          const given = form.get(name)?.trim() ?? ""
          // An overlong text is not shown again, as it would make the page as long.
          return given.length > charactersMax ? "" : given
        }
        const tried = { username: text("username", usernameCharactersMax), email: text("email", emailCharactersMax) }
        const username = form.get("username")?.trim() ?? ""
        const email = givenEmail(form.get("email") ?? "")
        const judged = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
          blocks.judge({ username, email, address: Option.getOrUndefined(remoteAddress), invited: true }))
        return Effect.flatMap(judged, (verdict) =>
          signUps.signUp(undefined, {
            verdict,
            username,
            email,
            password: Redacted.make(form.get("password") ?? ""),
            agreement: form.get("agreement") === "1",
            locale: undefined,
            timeZone: undefined,
            reason: undefined,
            inviteCode: code,
            dateOfBirth: form.get("date_of_birth") ?? undefined
          })).pipe(
            Effect.flatMap(users.find),
            Effect.flatMap((user) =>
              signedUp(Option.getOrElse(user, () => ({ approved: false, confirmed: false })))
            ),
            Effect.catchTags({
              NotAllowed: () => invalid(401),
              Unprocessable: ({ message }) => show(code, { ...tried, wrong: { text: message, status: 422 } }),
              Unavailable: ({ message }) => show(code, { ...tried, wrong: { text: message, status: 503 } })
            })
          )
      },
      { address: "signUp" }
    ))

  return Layer.mergeAll(HttpRouter.add("GET", "/invite/:code", get), HttpRouter.add("POST", "/invite/:code", post))
})

/** Sign-up by invite, on a page or in an app (S-017). */
export const layer = Layer.unwrap(make)
