import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { call } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import * as KeyPairs from "../../support/KeyPairs.ts"
import { argumentsOf, idOf, mediaOf, putFile, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { sealed } from "../../support/mastodon/Server.ts"
import { TestServer } from "../../support/Server.ts"

/** Prepares the server for a copy from another one, as if it had begun and copied nothing. */
const forget = SqlClient.SqlClient.use((sql) => sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`)

layer(servers, { excludeTestServices: true })("a delta of a Mastodon server", (it) => {
  it.effect("F261, F433: keeps what was removed and recreated since the copy, counts changes, and leaves out attachments that an edit removed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      const [ines, jan] = [yield* from.person(idOf(21), "ines"), yield* from.person(idOf(22), "jan")]
      const insertPost = (n: number, more: object = {}) =>
        from.insert("statuses", { id: idOf(n), accountId: ines.id, local: true, text: "post", ...more })
      yield* insertPost(30)
      yield* insertPost(31, { orderedMediaAttachmentIds: [idOf(41), idOf(42)] })
      yield* insertPost(32, { orderedMediaAttachmentIds: [idOf(43)] })
      for (const [n, status] of [[41, 31], [42, 31], [43, 32], [44, 32]] as const) {
        yield* putFile(from, placeOf("media_attachments/files", String(idOf(n)), "original", "a.png"), `picture ${n}`)
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
      const insertRows = (id: bigint) =>
        Effect.all([
          from.insert("follows", { id, accountId: jan.id, targetAccountId: ines.id }),
          from.insert("blocks", { id, ...pair }),
          from.insert("favourites", { id, accountId: jan.id, statusId: idOf(30) })
        ], { discard: true })
      yield* insertRows(1n)
      yield* from.insert("statuses", { id: idOf(50), accountId: jan.id, local: true, reblogOfId: idOf(30) })
      yield* forget
      const files = ["--media", mediaOf(from)]
      yield* transferred(from, "copy", ...files)
      const attached = sql`SELECT id, media_ids FROM statuses WHERE id IN (${idOf(31)}, ${idOf(32)}) ORDER BY id`
      assert.deepStrictEqual(yield* attached, [
        { id: idOf(31), mediaIds: [idOf(41), idOf(42)] },
        { id: idOf(32), mediaIds: [idOf(43)] }
      ])

      for (const table of ["follows", "blocks", "favourites"]) yield* from.sql`DELETE FROM ${from.sql(table)}`
      yield* insertRows(2n)
      yield* from.sql`DELETE FROM statuses WHERE id = ${idOf(50)}`
      const at = new Date()
      yield* from.sql`UPDATE statuses SET ordered_media_attachment_ids = ${[
        idOf(42)
      ]}::bigint[], edited_at = ${at}, updated_at = ${at}
        WHERE id = ${idOf(31)}`
      yield* from.sql`UPDATE media_attachments SET description = 'new', updated_at = ${at} WHERE id = ${idOf(42)}`
      // Only what was copied before counts as changed.
      yield* sql`UPDATE transfer_cursors SET begun_at = begun_at + interval '11 minutes' WHERE step = 'posts'`
      yield* from.sql`UPDATE statuses SET updated_at = ${new Date(at.getTime() + 120_000)} WHERE id = ${idOf(31)}`
      yield* insertPost(33, { createdAt: at, updatedAt: new Date(at.getTime() + 120_000) })
      const output = yield* transferred(from, "delta", ...files)
      assert.match(output, /^posts +1 new, 1 changed, 0 ended$/m)
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
      const uploads = sql`SELECT id, description FROM media_attachments WHERE account_id = ${ines.id}
        AND status_id IS NOT NULL ORDER BY id`
      assert.deepStrictEqual(yield* uploads, [
        { id: idOf(42), description: "new" },
        { id: idOf(43), description: "old" }
      ])
    }))

  it.effect("F261: deletes users whom Mastodon deleted since the copy, and no user who signed up here", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { variables } = yield* TestServer
      const from = yield* source("4.5")
      yield* forget
      const kim = yield* from.person(idOf(61), "kim")
      yield* from.person(idOf(62), "lou")
      yield* transferred(from, "copy")
      yield* cli(["account", "create", "newest", "--email", "newest@mail.example", "--confirmed"], variables)
      yield* from.sql`DELETE FROM users WHERE account_id = ${kim.id}`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(
        yield* sql`SELECT a.username FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE a.username IN ('kim', 'lou', 'newest') ORDER BY a.username`,
        [{ username: "lou" }, { username: "newest" }]
      )
    }))

  it.effect("F381: the deletion of a suspended account follows its suspension: cancelled with it, and due anew after a new one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.5")
      yield* forget
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
      const nils = yield* from.person(idOf(71), "nils", { account: { suspendedAt: daysAgo(10) } })
      const suspend = (at: Date | null) =>
        from.sql`UPDATE accounts SET suspended_at = ${at}, updated_at = ${new Date()} WHERE id = ${nils.id}`
      const days = Effect.map(
        sql<{ days: number }>`SELECT round(extract(epoch FROM due_at - now()) / 86400)::int AS days FROM agenda
          WHERE kind = 'suspension_end' AND subject_id = ${nils.id}`,
        (rows) => rows.map((row) => row.days)
      )
      yield* transferred(from, "copy")
      assert.deepStrictEqual(yield* days, [20])
      yield* suspend(null)
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* days, [])
      yield* suspend(daysAgo(1))
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* days, [29])
      yield* suspend(daysAgo(100))
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* days, [7])
    }))

  it.effect("F261: copies a key that was replaced since the copy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.7")
      yield* forget
      const rose = yield* from.person(idOf(11), "rose")
      yield* transferred(from, "copy")
      const next = yield* KeyPairs.next
      yield* from.sql`UPDATE keypairs SET ${
        from.sql.update({ privateKey: sealed(next.privatePem), publicKey: next.publicPem, updatedAt: new Date() })
      } WHERE account_id = ${rose.id}`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(
        yield* sql`SELECT public_pem FROM signing_keys WHERE owner_id = ${rose.id}`,
        [{ publicPem: next.publicPem }]
      )
    }))

  it.effect("F261: revokes tokens and passkeys that were revoked since the copy, also those of later runs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.7")
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
      const passkeys = sql`SELECT name FROM passkeys WHERE account_id = ${cora.id} ORDER BY name`
      yield* transferred(from, "copy")
      // The copy started hours ago: it found a passkey that was created after its start.
      yield* sql`UPDATE transfer_cursors SET begun_at = begun_at - interval '3 hours'`

      yield* from.sql`UPDATE oauth_access_tokens SET revoked_at = ${new Date()} WHERE token = 'revoked'`
      yield* from.sql`DELETE FROM oauth_access_tokens WHERE token = 'deleted'`
      yield* from.sql`DELETE FROM webauthn_credentials WHERE nickname = 'removed key'`
      yield* from.insert("webauthn_credentials", key("new key"))
      yield* transferred(from, "delta")
      for (const [token, status] of [["kept", 200], ["revoked", 401], ["deleted", 401]] as const) {
        assert.strictEqual((yield* call("GET", "/api/v1/accounts/verify_credentials", token)).status, status, token)
      }
      assert.deepStrictEqual(yield* passkeys, [{ name: "kept key" }, { name: "new key" }])

      yield* from.sql`DELETE FROM webauthn_credentials WHERE nickname = 'new key'`
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* passkeys, [{ name: "kept key" }])
    }))

  it.effect("F292, F434: is refused without a flag, as another copy is, when members have used this server", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { variables } = yield* TestServer
      const from = yield* source("4.5")
      yield* forget
      const mia = yield* from.person(idOf(81), "mia")
      yield* from.token(mia, "read")
      yield* transferred(from, "copy")
      yield* sql`DELETE FROM active_days`
      yield* sql`UPDATE users SET last_seen_at = NULL`
      const delta = cli(argumentsOf(from, "delta"), variables)
      assert.deepInclude(yield* delta, { code: 0, err: "" })

      assert.include([200, 206], (yield* call("GET", "/api/v1/timelines/home", "token-of-mia")).status)
      yield* sql`UPDATE accounts SET display_name = 'Changed here' WHERE id = ${mia.id}`
      yield* from
        .sql`UPDATE accounts SET display_name = 'Changed there', updated_at = ${new Date()} WHERE id = ${mia.id}`
      const name = sql`SELECT display_name FROM accounts WHERE id = ${mia.id}`
      for (const command of ["copy", "delta"] as const) {
        const refused = yield* cli(argumentsOf(from, command), variables)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.err, "pass --overwrite")
      }
      assert.deepStrictEqual(yield* name, [{ displayName: "Changed here" }])
      yield* sql`DELETE FROM active_days`
      yield* sql`INSERT INTO sessions (id_hash, account_id, created_at, seen_at)
        VALUES ('x', ${mia.id}, ${new Date()}, ${new Date()})`
      assert.strictEqual((yield* delta).code, 1, "of a visit that is not recorded yet")
      yield* transferred(from, "delta")
      assert.deepStrictEqual(yield* name, [{ displayName: "Changed there" }])
    }))
})
