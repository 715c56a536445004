import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { AccountId } from "../../services/database/Ids.ts"
import { emailCharactersMax } from "../../services/identity/EmailAddresses.ts"
import { givenEmail } from "../../services/identity/RegistrationRules.ts"
import { SignUps } from "../../services/identity/SignUps.ts"
import { usernameCharactersMax } from "../../services/identity/Usernames.ts"
import { type User, Users } from "../../services/identity/Users.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { SignUpBlocks } from "../../services/moderation/SignUpBlocks.ts"
import type { Newcomer } from "../../services/oidc/ProviderSignIns.ts"
import { newPasswordField } from "../html/Fields.ts"
import { tokenInput } from "../html/Forms.ts"
import { type Html, html } from "../html/Html.ts"
import { linkTo, problem, respond } from "../html/HtmlPage.ts"
import { homePath, signInPath } from "../html/PagePaths.ts"
import { Visitors } from "../html/Visitors.ts"
import { providerLink } from "./ProviderLink.ts"
import { rulesOf } from "./RulesSection.ts"

type Response = HttpServerResponse.HttpServerResponse
type Request = HttpServerRequest.HttpServerRequest

/** Target of the form: its path, and the invite or the identity that the sign-up uses. */
interface Target {
  readonly path: string
  readonly inviteCode: string | undefined
  /** Person of the identity provider, who gets no password. */
  readonly newcomer?: Newcomer
  /** Response to a sign-up of a user who may use the account at once; a page that says so by default. */
  readonly enter?: (accountId: AccountId) => Effect.Effect<Response, never, Request>
}

/** Values of the form when it is shown again. */
interface Tried {
  readonly username: string
  readonly email: string
  readonly reason: string
  readonly refused?: { readonly text: string; readonly status: number }
}

/** Maximum characters of a reason that is shown again. */
const shownReasonMax = 1_000

const empty: Tried = { username: "", email: "", reason: "" }

/** Form of a sign-up, with or without an invite, under the rules of `POST /api/v1/accounts`. */
export const make = Effect.gen(function*() {
  const { localDomain, provider } = yield* ServerConfig
  const blocks = yield* SignUpBlocks
  const instance = yield* Instance
  const policies = yield* InstancePolicies
  const signUps = yield* SignUps
  const users = yield* Users
  const visitors = yield* Visitors

  const show = Effect.fnUntraced(
    function*(target: Target, tried: Tried = { ...empty, ...target.newcomer }) {
      const { inviteCode, newcomer, path } = target
      const { email, reason, username, refused } = tried
      const visitor = yield* visitors.current
      const { formToken, remember, server, way, words } = visitor
      const { pieces, say } = words
      const { minAge, reasonRequired, registrations } = yield* policies.current
      const isReviewed = registrations === "approval" && inviteCode === undefined
      const reasonField = (): Html =>
        html`<label>${say("Why do you want to join?")}
<textarea name="reason" rows="3" aria-describedby="why"${reasonRequired ? html` required` : ""}>${reason}</textarea>
<span class="hint" id="why">${say("Moderators read it when they review your sign-up.")}</span></label>`
      return remember(respond({
        words,
        title: say("Sign up on {server}", { server: localDomain }),
        server,
        ...(refused !== undefined && { status: refused.status }),
        body: html`
${problem(refused === undefined ? undefined : words.translate(refused.text))}
${newcomer === undefined && provider?.signUp === true ? providerLink(visitor, provider, homePath) : ""}
${rulesOf(words, yield* instance.rules)}
<form method="post" action="${way(path)}">
${tokenInput(formToken)}
<label>${say("Username")}
<input type="text" name="username" value="${username}" maxlength="${usernameCharactersMax}" autocomplete="username" autocapitalize="none" spellcheck="false" required aria-describedby="handle">
<span class="hint" id="handle">${
          say("Letters, digits and underscores. Your handle will end in {ending}.", { ending: `@${localDomain}` })
        }</span></label>
${
          newcomer?.emailVerified === true ?
            html`<p>${say("Your address: {email}", { email })}</p>` :
            html`<label>${say("Email address")}
<input type="email" name="email" value="${email}" autocomplete="email" required></label>`
        }
${newcomer === undefined ? newPasswordField(words, say("Password")) : ""}
${
          minAge === null ? "" : html`<label>${say("Date of birth")}
<input type="date" name="date_of_birth" autocomplete="bday" required aria-describedby="age">
<span class="hint" id="age">${
            say(
              "You must be at least {years, plural, one {# year} other {# years}} old. Your date of birth is not stored.",
              { years: minAge }
            )
          }</span></label>`
        }
${isReviewed ? reasonField() : ""}
<label class="row"><input type="checkbox" name="agreement" value="1" required><span>${
          pieces("I have read and accept <link>the description and rules of this server</link>.", {
            link: linkTo(way("/about"))
          })
        }</span></label>
${
          isReviewed
            ? html`<p class="soft">${say("A moderator reviews each sign-up. We will email you the decision.")}</p>`
            : ""
        }
<p class="row"><button type="submit">${say("Sign up")}</button> <a href="${way(signInPath)}">${say("Sign in")}</a></p>
</form>`
      }))
    }
  )

  const signedUp = ({ approved, confirmed }: Pick<User, "approved" | "confirmed">) =>
    Effect.map(visitors.reader, ({ server, way, words: { pieces, say }, words }) => {
      const next = !confirmed
        ? say("We sent you an email. Open the link in it to finish your sign-up.")
        : approved
        ? pieces("You can now <link>sign in</link>, here or in any Mastodon app.", {
          link: linkTo(way(signInPath))
        })
        : say(
          "Thank you! A moderator of {server} will now review your sign-up. We will email you the decision; until then you cannot sign in.",
          { server: localDomain }
        )
      return respond({
        words,
        title: confirmed ? say("Your account is ready") : say("Check your email"),
        server,
        body: html`<p class="done" role="status">${next}</p>
${
          confirmed || approved
            ? ""
            : html`<p>${
              say("After you confirm, a moderator reviews your sign-up. We will email you the decision.")
            }</p>`
        }
${
          confirmed ?
            "" :
            html`<p class="soft">${
              pieces("Did not get the confirmation email? <link>Send it again</link>", {
                link: linkTo(way("/auth/confirmation/new"))
              })
            }</p>`
        }`
      })
    })

  /** Handles the form. `refused` is the page for a sign-up that this invite or server does not allow. */
  const submit = (form: URLSearchParams, target: Target, refused: Effect.Effect<Response, never, Request>) => {
    const given = (name: string) => form.get(name)?.trim() ?? ""
    const { newcomer } = target
    const address = newcomer?.emailVerified === true ? newcomer.email ?? "" : given("email")
    // An overlong text is not shown again, as it would make the page as long.
    const text = (name: string, charactersMax: number) => given(name).length > charactersMax ? "" : given(name)
    const tried = {
      username: text("username", usernameCharactersMax),
      email: address.length > emailCharactersMax ? "" : address,
      reason: text("reason", shownReasonMax)
    }
    const email = givenEmail(address)
    return Effect.gen(function*() {
      const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
      const { words } = yield* visitors.reader
      const verdict = yield* blocks.judge({
        username: given("username"),
        email,
        address: Option.getOrUndefined(remoteAddress),
        invited: target.inviteCode !== undefined
      })
      const accountId = yield* signUps.signUp(undefined, {
        verdict,
        username: given("username"),
        email,
        password: newcomer === undefined ? Redacted.make(form.get("password") ?? "") : undefined,
        identity: newcomer,
        agreement: form.get("agreement") === "1",
        // The language in which the page was read.
        locale: words.tag,
        timeZone: undefined,
        reason: given("reason") || undefined,
        inviteCode: target.inviteCode,
        dateOfBirth: form.get("date_of_birth") ?? undefined
      })
      const user = Option.getOrElse(yield* users.find(accountId), () => ({ approved: false, confirmed: false }))
      return target.enter !== undefined && user.approved && user.confirmed
        ? yield* target.enter(accountId)
        : yield* signedUp(user)
    }).pipe(
      Effect.catchTags({
        NotAllowed: () => refused,
        Unprocessable: ({ message }) => show(target, { ...tried, refused: { text: message, status: 422 } }),
        Unavailable: ({ message }) => show(target, { ...tried, refused: { text: message, status: 503 } })
      })
    )
  }

  return { show, submit }
})
