import { Effect, Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { emailCharactersMax } from "../../../services/identity/EmailAddresses.ts"
import { ownerSecretField, ownerSetupPath } from "../../../services/identity/OwnerLinks.ts"
import { type NewOwner, Owners } from "../../../services/identity/Owners.ts"
import { usernameCharactersMax } from "../../../services/identity/Usernames.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { settings } from "../../../services/instance/SettingTable.ts"
import { Catalogs } from "../../../services/languages/Catalogs.ts"
import { newPasswordField, selectField } from "../../html/Fields.ts"
import { Forms, hidden, parameters, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { problem, redirect, respond } from "../../html/HtmlPage.ts"
import { welcomePath } from "../../html/PagePaths.ts"
import { Visitors } from "../../html/Visitors.ts"

type Tried = Pick<NewOwner, "username" | "email" | "title" | "language">

/** Returns the name of a language in itself. */
const nameOf = (tag: string) => new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag

const make = Effect.gen(function*() {
  const { localDomain } = yield* ServerConfig
  const catalogs = yield* Catalogs
  const forms = yield* Forms
  const instance = yield* Instance
  const owners = yield* Owners
  const visitors = yield* Visitors
  const languages = [...catalogs.keys()].toSorted().map((tag) => [tag, nameOf(tag)] as const)

  const expired = Effect.map(visitors.reader, ({ server, words: { say }, words }) =>
    respond({
      words,
      title: say("This link is no longer valid"),
      server,
      status: 404,
      body: html`<p>${
        say(
          "It was already used, is older than an hour, or this server has an owner. Without an owner, the server prints a new link when it starts."
        )
      }</p>`
    }))

  const show = Effect.fnUntraced(
    function*(secret: string, tried: Tried, refused?: { readonly text: string; readonly status: number }) {
      const { formToken, remember, server, way, words } = yield* visitors.current
      const { say } = words
      return remember(respond({
        words,
        title: say("Set up this server"),
        server,
        ...(refused !== undefined && { status: refused.status }),
        body: html`
${problem(refused === undefined ? undefined : words.translate(refused.text))}
<p>${say("Create the owner's account. The owner can change everything on this server.")}</p>
<form method="post" action="${way(ownerSetupPath)}">
${tokenInput(formToken)}${hidden(ownerSecretField, secret)}
<label>${say("Username")}
<input type="text" name="username" value="${tried.username}" maxlength="${usernameCharactersMax}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus aria-describedby="handle">
<span class="hint" id="handle">${
          say("Letters, digits and underscores. Your handle will end in {ending}.", { ending: `@${localDomain}` })
        }</span></label>
<label>${say("Email address")}
<input type="email" name="email" value="${tried.email}" autocomplete="email" required></label>
${newPasswordField(words, say("Password"))}
<label>${say("Name of the server")}
<input type="text" name="title" value="${tried.title}" maxlength="${settings.title.params.charactersMax}" required></label>
${selectField("language", say("Language"), tried.language || words.tag, languages)}
<button type="submit">${say("Create account")}</button>
</form>`
      }))
    }
  )

  const get = Effect.gen(function*() {
    const secret = (yield* parameters).get(ownerSecretField) ?? ""
    if (!(yield* owners.opens(secret))) return yield* expired
    const { title } = yield* instance.about
    return yield* show(secret, { username: "", email: "", title, language: "" })
  })

  const post = forms.handle(
    Effect.fnUntraced(function*(form) {
      const secret = form.get(ownerSecretField) ?? ""
      // Strangers learn nothing about names and addresses.
      if (!(yield* owners.opens(secret))) return yield* expired
      const text = (name: string) => form.get(name)?.trim() ?? ""
      const language = text("language")
      const given = {
        username: text("username"),
        email: text("email"),
        title: text("title"),
        language: catalogs.has(language) ? language : ""
      }
      // An overlong text is not shown again, as it would make the page as long.
      const tried = {
        ...given,
        username: given.username.length > usernameCharactersMax ? "" : given.username,
        email: given.email.length > emailCharactersMax ? "" : given.email,
        title: given.title.length > settings.title.params.charactersMax ? "" : given.title
      }
      return yield* owners.create(secret, { ...given, password: Redacted.make(form.get("password") ?? "") }).pipe(
        Effect.flatMap((accountId) => visitors.signIn(accountId, redirect(welcomePath))),
        Effect.catchTags({
          RecordNotFound: () => expired,
          NotAllowed: ({ message }) => show(secret, tried, { text: message, status: 403 }),
          Unprocessable: ({ message }) => show(secret, tried, { text: message, status: 422 }),
          Unavailable: ({ message }) => show(secret, tried, { text: message, status: 503 })
        })
      )
    }),
    { address: "passwordChange" }
  )

  return Layer.mergeAll(HttpRouter.add("GET", ownerSetupPath, get), HttpRouter.add("POST", ownerSetupPath, post))
})

/** Page of the link that is printed at the start while there is no owner. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Owners.layer))
