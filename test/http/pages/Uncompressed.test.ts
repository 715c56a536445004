import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { compressedBytesMin } from "../../../src/layers/Compression.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true, timeout: "2 minutes" })("BREACH", (it) => {
  it.effect("pages with a form's token are sent as they are, however large; others are compressed", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const far = encodeURIComponent(`/oauth/authorize?state=${"x".repeat(3_000)}`)
      const get = Effect.fnUntraced(function*(path: string) {
        const response = yield* fetch(path, { headers: { "accept-encoding": "br, gzip", accept: "text/html" } })
        const text = yield* Effect.promise(() => response.text())
        assert.isAbove(text.length, compressedBytesMin, path.slice(0, 40))
        return { coding: response.headers.get("content-encoding"), text }
      })
      const { coding, text } = yield* get(`/auth/sign_in?return_to=${far}`)
      assert.include(text, "authenticity_token")
      assert.isNull(coding)
      assert.strictEqual((yield* get("/api/docs")).coding, "br")
    }))
})
