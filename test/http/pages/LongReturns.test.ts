import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { client } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

layer(server(), { excludeTestServices: true })("F446: a sign-in that leads back to a long address", (it) => {
  it.effect.each(["/disputes/strikes/1?a=", "/oauth/authorize?"])(
    "has an address that the server accepts: %s",
    (path) =>
      Effect.gen(function*() {
        const browser = TestBrowser.make()
        const { clientId, redirectUri } = yield* client("read")
        const app = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: "code" })
        for (const [characters, isKept] of [[400, true], [2_200, false]] as const) {
          const text = encodeURIComponent("é".repeat(characters))
          const asked = path.endsWith("?") ? `${path}${app}&state=${text}` : path + text
          const { pathname, search, searchParams } = TestBrowser.locationOf(yield* browser.get(asked))
          assert.strictEqual(pathname, "/auth/sign_in")
          assert.strictEqual(searchParams.has("return_to"), isKept)
          assert.strictEqual((yield* browser.get(pathname + search)).status, 200)
        }
      })
  )
})
