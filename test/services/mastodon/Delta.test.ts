import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { call } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import * as KeyPairs from "../../support/KeyPairs.ts"
import { sealed, server } from "../../support/mastodon/Server.ts"
import { TestServer } from "../../support/Server.ts"

const servers = TestServer.layer().pipe(Layer.provideMerge(NodeServices.layer))
const idOf = (n: number) => (BigInt(Date.UTC(2024, 0)) << 16n) + BigInt(n)

/** Prepares the server for a copy from another one, as if it had begun and copied nothing. */
const forget = SqlClient.SqlClient.use((sql) => sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`)

layer(servers, { excludeTestServices: true, timeout: "3 minutes" })("a delta of a Mastodon server", (it) => {
  it.effect("F261: keeps what was removed and made again since the copy, and leaves out attachments that an edit removed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const { baseUrl, variables } = yield* TestServer
      const from = yield* server("4.5", new URL(baseUrl).host)
      const [ines, jan] = [yield* from.person(idOf(21), "ines"), yield* from.person(idOf(22), "jan")]
      const media = `${from.folder}/media`
      const insertPost = (n: number, more: object = {}) =>
        from.insert("statuses", { id: idOf(n), accountId: ines.id, local: true, text: "post", ...more })
      yield* insertPost(30)
      yield* insertPost(31, { orderedMediaAttachmentIds: [idOf(41), idOf(42)] })
      yield* insertPost(32, { orderedMediaAttachmentIds: [idOf(43)] })
      for (const [n, status] of [[41, 31], [42, 31], [43, 32], [44, 32]] as const) {
        const digits = String(idOf(n)).replace(/(\d{3})(?=\d)/g, "$1/")
        const folder = `${media}/media_attachments/files/${digits}/original`
        yield* fs.makeDirectory(folder, { recursive: true })
        yield* fs.writeFileString(`${folder}/a.png`, `picture ${n}`)
        yield* from.insert("media_attachments", {
          id: idOf(n),
          accountId: ines.id,
          statusId: idOf(status),
          type: 0,
          fileFileName: "a.png",
          description: "old"
        })
      }
      const pair = { accountId: ines.id, targetAccountId: jan.id }
      const made = (id: bigint) =>
        Effect.all([
          from.insert("follows", { id, accountId: jan.id, targetAccountId: ines.id }),
          from.insert("blocks", { id, ...pair }),
          from.insert("favourites", { id, accountId: jan.id, statusId: idOf(30) })
        ], { discard: true })
      yield* made(1n)
      yield* from.insert("statuses", { id: idOf(50), accountId: jan.id, local: true, reblogOfId: idOf(30) })
      yield* forget
      const args = ["--database", from.url, "--env", from.env, "--media", media, "--rejects", `${from.folder}/r.tsv`]
      const copy = yield* cli(["transfer", "mastodon", "copy", ...args], variables)
      assert.deepStrictEqual([copy.code, copy.err], [0, ""])
      const attached = sql`SELECT id, media_ids FROM statuses WHERE id IN (${idOf(31)}, ${idOf(32)}) ORDER BY id`
      assert.deepStrictEqual(yield* attached, [
        { id: idOf(31), mediaIds: [idOf(41), idOf(42)] },
        { id: idOf(32), mediaIds: [idOf(43)] }
      ])

      for (const table of ["follows", "blocks", "favourites"]) yield* from.sql`DELETE FROM ${from.sql(table)}`
      yield* made(2n)
      yield* from.sql`DELETE FROM statuses WHERE id = ${idOf(50)}`
      const at = new Date()
      yield* from.sql`UPDATE statuses SET ordered_media_attachment_ids = ${[
        idOf(42)
      ]}::bigint[], edited_at = ${at}, updated_at = ${at}
        WHERE id = ${idOf(31)}`
      yield* from.sql`UPDATE media_attachments SET description = 'new', updated_at = ${at} WHERE id = ${idOf(42)}`
      const delta = yield* cli(["transfer", "mastodon", "delta", ...args], variables)
      assert.deepStrictEqual([delta.code, delta.err], [0, ""])
      for (const table of ["follows", "blocks", "favourites"]) {
        assert.deepStrictEqual(yield* sql`SELECT id FROM ${sql(table)} WHERE account_id IN (${ines.id}, ${jan.id})`, [
          { id: 2n }
        ])
      }
      const ended = sql`SELECT deleted_at IS NOT NULL AS ended FROM statuses WHERE id = ${idOf(50)}`
      assert.deepStrictEqual(yield* ended, [{ ended: true }])
      assert.deepStrictEqual(yield* attached, [
        { id: idOf(31), mediaIds: [idOf(42)] },
        { id: idOf(32), mediaIds: [idOf(43)] }
      ])
      const kept = sql`SELECT id, description FROM media_attachments WHERE account_id = ${ines.id}
        AND status_id IS NOT NULL ORDER BY id`
      assert.deepStrictEqual(yield* kept, [
        { id: idOf(42), description: "new" },
        { id: idOf(43), description: "old" }
      ])
    }))

  it.effect("F261: ends users whom Mastodon deleted since the copy, and no user who signed up here", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, variables } = yield* TestServer
      const from = yield* server("4.5", new URL(baseUrl).host)
      yield* forget
      const kim = yield* from.person(idOf(61), "kim")
      yield* from.person(idOf(62), "lou")
      const args = ["--database", from.url, "--env", from.env, "--rejects", `${from.folder}/rejects.tsv`]
      assert.strictEqual((yield* cli(["transfer", "mastodon", "copy", ...args], variables)).code, 0)
      yield* cli(["account", "create", "newest", "--email", "newest@mail.example", "--confirmed"], variables)
      yield* from.sql`DELETE FROM users WHERE account_id = ${kim.id}`
      const delta = yield* cli(["transfer", "mastodon", "delta", ...args], variables)
      assert.deepStrictEqual([delta.code, delta.err], [0, ""])
      assert.deepStrictEqual(
        yield* sql`SELECT a.username FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE a.username IN ('kim', 'lou', 'newest') ORDER BY a.username`,
        [{ username: "lou" }, { username: "newest" }]
      )
    }))

  it.effect("F261: brings a key that was replaced since the copy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, variables } = yield* TestServer
      const from = yield* server("4.7", new URL(baseUrl).host)
      yield* forget
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
      yield* forget
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
