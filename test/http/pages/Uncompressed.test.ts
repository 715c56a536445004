import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { compressedBytesMin } from "../../../src/layers/Compression.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true, timeout: "2 minutes" })("BREACH", (it) => {
  it.effect("pages with a form's token are sent as they are, however large; others are compressed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson, fetch } = yield* TestServer
      const anna = yield* createPerson("anna")
      const code = "x".repeat(3_000)
      yield* sql`UPDATE users SET confirmed_at = ${new Date(0)} WHERE account_id = ${anna.accountId}`
      yield* sql`INSERT INTO invites (id, code, account_id, created_at)
        VALUES (next_id(0), ${code}, ${anna.accountId}, ${new Date(0)})`
      const far = encodeURIComponent(`/oauth/authorize?state=${"x".repeat(3_000)}`)
      const get = Effect.fnUntraced(function*(path: string) {
        const response = yield* fetch(path, { headers: { "accept-encoding": "br, gzip", accept: "text/html" } })
        const text = yield* Effect.promise(() => response.text())
        assert.isAbove(text.length, compressedBytesMin, path.slice(0, 40))
        return { coding: response.headers.get("content-encoding"), text }
      })
      for (const path of [`/auth/sign_in?return_to=${far}`, `/invite/${code}`]) {
        const { coding, text } = yield* get(path)
        assert.include(text, "authenticity_token")
        assert.isNull(coding, path.slice(0, 40))
      }
      assert.strictEqual((yield* get("/api/docs")).coding, "br")
    }))
})
