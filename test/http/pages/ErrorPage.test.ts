import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
/** More requests than any limit of an address allows in one period. */
const requestsMax = 20_000

layer(TestServer.layer({ RATE_LIMITS: "on" }), { excludeTestServices: true })(
  "a rate limit",
  (it) => {
    it.effect.each(["/api/v1/accounts/lookup?acct=nobody", "/auth/password/new"])(
      "F75: responds with a page to browsers and JSON to API clients at %s",
      (path) =>
        Effect.gen(function*() {
          const { fetch } = yield* TestServer
          const get = (accept: string, language = "en") =>
            fetch(path, { headers: { accept, "accept-language": language } })
          for (let sent = 0; sent < requestsMax; sent++) {
            const response = yield* get("application/json")
            yield* Effect.promise(() => response.arrayBuffer())
            if (response.status === 429) break
          }
          const json = yield* get("application/json")
          assert.strictEqual(json.status, 429)
          assert.deepStrictEqual(yield* Effect.promise(() => json.json()), { error: "Too many requests" })
          const page = yield* get(browser, "de")
          assert.strictEqual(page.status, 429)
          assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
          assert.isNotNull(page.headers.get("x-ratelimit-reset"))
          assert.match(page.headers.get("vary") ?? "", /Accept\b/)
          assert.include(yield* Effect.promise(() => page.text()), "<html lang=\"de\">")
        })
    )
  }
)
