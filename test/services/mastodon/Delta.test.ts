import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { call } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import * as KeyPairs from "../../support/KeyPairs.ts"
import { sealed, server } from "../../support/mastodon/Server.ts"
import { TestServer } from "../../support/Server.ts"

const servers = TestServer.layer().pipe(Layer.provideMerge(NodeServices.layer))
const idOf = (n: number) => (BigInt(Date.UTC(2024, 0)) << 16n) + BigInt(n)

layer(servers, { excludeTestServices: true, timeout: "3 minutes" })("a delta of a Mastodon server", (it) => {
  it.effect("F261: brings a key that was replaced since the copy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, variables } = yield* TestServer
      const from = yield* server("4.7", new URL(baseUrl).host)
      const rose = yield* from.person(idOf(11), "rose")
      const args = ["--database", from.url, "--env", from.env, "--rejects", `${from.folder}/rejects.tsv`]
      assert.strictEqual((yield* cli(["transfer", "mastodon", "copy", ...args], variables)).code, 0)
      const next = yield* KeyPairs.next
      yield* from.sql`UPDATE keypairs SET ${
        from.sql.update({ privateKey: sealed(next.privatePem), publicKey: next.publicPem, updatedAt: new Date() })
      } WHERE account_id = ${rose.id}`
      assert.strictEqual((yield* cli(["transfer", "mastodon", "delta", ...args], variables)).code, 0)
      assert.deepStrictEqual(
        yield* sql`SELECT public_pem FROM signing_keys WHERE owner_id = ${rose.id}`,
        [{ publicPem: next.publicPem }]
      )
    }))

  it.effect("F261: ends tokens and passkeys that were revoked since the copy, also those of later runs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, variables } = yield* TestServer
      const from = yield* server("4.7", new URL(baseUrl).host)
      const cora = yield* from.person(idOf(1), "cora")
      // Another server than before: its copy has begun, and copied nothing.
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      const app = { id: 505n, name: "Phone", uid: "phone", secret: "phone", redirectUri: "urn:x", scopes: "read" }
      yield* from.insert("oauth_applications", app)
      const token = (id: bigint, token: string) => ({
        id,
        token,
        applicationId: app.id,
        scopes: "read",
        resourceOwnerId: cora.userId
      })
      yield* from.insert("oauth_access_tokens", token(507n, "kept"), token(508n, "revoked"), token(509n, "deleted"))
      const key = (nickname: string, createdAt = new Date()) => ({
        externalId: Buffer.from(nickname).toString("base64url"),
        publicKey: "AAAA",
        signCount: 1n,
        nickname,
        userId: cora.userId,
        createdAt
      })
      yield* from.insert("webauthn_credentials", key("kept key"), key("removed key"))
      const run = Effect.fnUntraced(function*(verb: string) {
        const rejects = `${from.folder}/rejects.tsv`
        const args = ["--database", from.url, "--env", from.env, "--rejects", rejects]
        const ended = yield* cli(["transfer", "mastodon", verb, ...args], variables)
        assert.deepStrictEqual([ended.code, ended.err], [0, ""])
      })
      const passkeys = sql`SELECT name FROM passkeys WHERE account_id = ${cora.id} ORDER BY name`
      yield* run("copy")
      // Began hours ago: a passkey that it found was made after its beginning.
      yield* sql`UPDATE transfer_cursors SET begun_at = begun_at - interval '3 hours'`

      yield* from.sql`UPDATE oauth_access_tokens SET revoked_at = ${new Date()} WHERE token = 'revoked'`
      yield* from.sql`DELETE FROM oauth_access_tokens WHERE token = 'deleted'`
      yield* from.sql`DELETE FROM webauthn_credentials WHERE nickname = 'removed key'`
      yield* from.insert("webauthn_credentials", key("new key"))
      yield* run("delta")
      for (const [token, status] of [["kept", 200], ["revoked", 401], ["deleted", 401]] as const) {
        assert.strictEqual((yield* call("GET", "/api/v1/accounts/verify_credentials", token)).status, status, token)
      }
      assert.deepStrictEqual(yield* passkeys, [{ name: "kept key" }, { name: "new key" }])

      yield* from.sql`DELETE FROM webauthn_credentials WHERE nickname = 'new key'`
      yield* run("delta")
      assert.deepStrictEqual(yield* passkeys, [{ name: "kept key" }])
    }))
})
