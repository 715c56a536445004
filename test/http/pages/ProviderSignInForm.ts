import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { ProviderConfig } from "../../../src/services/instance/ServerConfig.ts"
import { oidcClient, OidcProvider } from "../../support/OidcProvider.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

export const start = "/auth/auth/openid_connect"

/** Starts the server with the tests' provider. */
export const serverWith = (provider: Partial<ProviderConfig>, config: Parameters<typeof server>[0] = {}) =>
  Layer.unwrap(Effect.map(OidcProvider, ({ issuer }) =>
    server({
      ...config,
      provider: {
        issuer: `${issuer}/`,
        clientId: oidcClient.id,
        clientSecret: Redacted.make(oidcClient.secret),
        name: "Example ID",
        scopes: "openid email profile",
        groupsClaim: "groups",
        allowedGroups: undefined,
        roles: [],
        signUp: false,
        only: false,
        trustFactors: false,
        ...provider
      }
    }))).pipe(Layer.provideMerge(OidcProvider.layer))

type Browser = ReturnType<typeof TestBrowser.make>

/** Goes to the provider and back; returns the path of the callback. */
export const authorized = Effect.fnUntraced(function*(browser: Browser, to = "/tags/x") {
  const provider = yield* OidcProvider
  const led = yield* browser.get(`${start}?${new URLSearchParams({ return_to: to })}`)
  return yield* provider.follow(led.headers.get("location") ?? "")
})

/** Signs in at the provider as this person, in a browser; returns the response to the callback. */
export const signInAs = Effect.fnUntraced(function*(
  person: Readonly<Record<string, unknown>>,
  browser: Browser = TestBrowser.make()
) {
  const provider = yield* OidcProvider
  provider.become(person)
  const page = yield* browser.get(yield* authorized(browser))
  return { browser, page }
})

/** Makes the claims of a person whose address the provider has verified. */
export const claimsOf = (name: string) => ({
  sub: `subject of ${name}`,
  email: `${name}@mail.example`,
  email_verified: true,
  preferred_username: name
})

/** Name of the session cookie. */
export const session = "__Host-session"

/** Asserts that a sign-in was refused in these words. */
export const refusedBy = (text: string) => ({ browser, page }: { browser: Browser; page: TestBrowser.Page }) => {
  assert.include(page.text, text)
  assert.isFalse(browser.cookies.has(session))
}
