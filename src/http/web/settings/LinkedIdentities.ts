import { Effect } from "effect"
import { providerName } from "../../../services/instance/ProviderNames.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Identities } from "../../../services/oidc/Identities.ts"
import { ownPasswordField } from "../../html/Fields.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { accountPath } from "../../html/PagePaths.ts"
import type { Member } from "./SettingsFrame.ts"

/** Path of the form that removes an identity. */
export const unlinkPath = `${accountPath}/identity`

/** Identities of a member at OpenID providers, on the account page. */
export const make = Effect.gen(function*() {
  const { provider } = yield* ServerConfig
  const identities = yield* Identities

  return {
    /** Renders the section of the member's identities; empty without any. */
    section: Effect.fnUntraced(function*(member: Member) {
      const { formToken, session, way, words } = member
      const { day, say } = words
      const all = yield* identities.list(session.accountId)
      return all.length === 0 ? html`` : html`<section><h2>${say("Sign-in by an identity provider")}</h2>
<ul class="apps">${
        all.map(({ createdAt, issuer, usedAt }) =>
          html`<li><h3 dir="auto">${providerName(provider, issuer)}</h3>
<p>${say("Added on {day}, last used on {lastDay}", { day: day(createdAt), lastDay: day(usedAt) })}</p>
<details><summary>${say("Remove")}</summary>
<form method="post" action="${way(unlinkPath)}">${tokenInput(formToken)}${hidden("issuer", issuer)}
${ownPasswordField(member, accountPath)}
<button type="submit" class="danger">${
            say("Remove sign-in with {provider}", { provider: providerName(provider, issuer) })
          }</button>
</form></details></li>`
        )
      }</ul></section>`
    }),
    unlink: ({ session }: Member, issuer: string) => identities.unlink(session.accountId, issuer)
  }
})
