import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { notCopied } from "../../../src/services/mastodon/AllSteps.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { argumentsOf, idOf, rejects, servers, source, transfer, transferred } from "../../support/mastodon/Copies.ts"
import { sealed } from "../../support/mastodon/Server.ts"
import { start } from "../../support/Program.ts"
import { TestServer } from "../../support/Server.ts"

const postsMax = 20_000

layer(servers, { excludeTestServices: true })("an interrupted copy", (it) => {
  it.effect("continues after kill -9 in the middle of a table, and copies each row once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { variables } = yield* TestServer
      const from = yield* source("4.7")
      const ada = yield* from.person(idOf(1), "ada")
      yield* from.sql`INSERT INTO statuses (id, account_id, local, text)
        SELECT ${
        idOf(1_000)
      }::bigint + n, ${ada.id}, true, 'post #birds ' || n FROM generate_series(1, ${postsMax}::int) n`
      const args = argumentsOf(from, "copy")
      const position = sql<{ copied: bigint; finished: boolean }>`SELECT copied, finished_at IS NOT NULL AS finished
        FROM transfer_cursors WHERE step = 'posts'`
      const first = yield* start("cli", args, variables)
      yield* eventually(position, ([row]) => row !== undefined && row.copied > 0n)
      first.child.kill("SIGKILL")
      yield* first.ended
      const [cut] = yield* position
      const [{ count } = { count: 0 }] = yield* sql<{ count: number }>`SELECT count(*)::int AS count FROM statuses`
      assert.strictEqual(BigInt(count), cut?.copied, "a batch and its cursor are one transaction")
      const second = yield* cli(args, variables)
      assert.deepStrictEqual([second.code, second.err], [0, ""])
      const [sums] =
        yield* sql`SELECT count(*)::int AS count, count(DISTINCT text)::int AS texts, min(id) AS first, max(id) AS last FROM statuses`
      assert.deepStrictEqual(sums, {
        count: postsMax,
        texts: postsMax,
        first: idOf(1_001),
        last: idOf(1_000 + postsMax)
      })
      assert.deepStrictEqual(yield* position, [{ copied: BigInt(postsMax), finished: true }])
      const [stats] = yield* sql`SELECT statuses_count FROM account_stats WHERE account_id = ${ada.id}`
      assert.deepStrictEqual(stats, { statusesCount: postsMax })
    }))

  it.effect("F261: keeps users whose secrets cannot be read or who have no password, without access by the password alone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const from = yield* source("4.7")
      const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
      const factor = (otpSecret: string) => ({ user: { otpRequiredForLogin: true, otpSecret, consumedTimestep: 7 } })
      yield* from.person(idOf(100_001), "open", factor(sealed(secret, "sha1")))
      yield* from.person(idOf(100_002), "lost", factor(sealed(secret, "sha256", "another key")))
      yield* from.person(idOf(100_003), "keyless")
      const hashed = (encryptedPassword: string) => ({ user: { encryptedPassword } })
      yield* from.person(idOf(100_004), "external", hashed(""))
      yield* from.person(idOf(100_005), "costly", hashed(`$2a$15$${"a".repeat(53)}`))
      yield* from.sql`UPDATE keypairs SET private_key = 'damaged' WHERE account_id = ${idOf(100_003)}`
      // Another server than before: its copy has begun, and copied nothing.
      yield* sql`DELETE FROM transfer_cursors WHERE step <> 'roles'`
      yield* transferred(from, "copy")
      const users =
        yield* sql`SELECT a.username, u.otp_enabled_at IS NOT NULL AS factor, u.otp_last_step, left(u.password_hash, 4) AS hash
        FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.account_id > ${idOf(100_000)} ORDER BY a.id`
      assert.deepStrictEqual(users, [
        { username: "open", factor: true, otpLastStep: 7n, hash: "$2a$" },
        { username: "lost", factor: false, otpLastStep: null, hash: "!" },
        { username: "keyless", factor: false, otpLastStep: null, hash: "$2a$" },
        { username: "external", factor: false, otpLastStep: null, hash: "!" },
        { username: "costly", factor: false, otpLastStep: null, hash: "!" }
      ])
      const rows = yield* rejects(from)
      assert.match(rows, /^key pairs\t\d+\tthe private key cannot be read/m)
      assert.deepStrictEqual(rows.match(/^passwords\t\d+\tno password can be verified here/gm)?.length, 2)
      assert.match(rows, /^second factors\t\d+\tthe secret of two-factor sign-in cannot be read/m)
      assert.include(
        yield* transferred(from, "verify"),
        "These accounts have no working key, and get a new one: keyless"
      )
    }))

  it.effect("does not start without the encryption keys, for another domain, or with other users present", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const from = yield* source("4.7")
      yield* fs.writeFileString(`${from.folder}/other`, "LOCAL_DOMAIN=other.example\n")
      yield* sql`DELETE FROM transfer_cursors`
      const copy = (name: string) => transfer({ ...from, env: `${from.folder}/${name}` }, "copy")
      const refused = yield* copy("other")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.err, "set LOCAL_DOMAIN=other.example for this command and for the server")
      assert.include(refused.err, "ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY")
      assert.include(refused.err, "This server has users already")
      assert.strictEqual((yield* copy("missing")).code, 1)
      assert.deepStrictEqual(yield* sql`SELECT FROM transfer_cursors`, [])
    }))

  it.effect("F425: does not start with another web address than Mastodon's, which begins the ids of accounts and posts", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { baseUrl } = yield* TestServer
      const from = yield* source("4.5")
      const { host } = new URL(baseUrl)
      const planWith = Effect.fnUntraced(function*(line: string) {
        yield* fs.writeFileString(`${from.folder}/web`, `LOCAL_DOMAIN=${host}\n${line}\n`)
        return yield* transfer({ ...from, env: `${from.folder}/web` }, "plan")
      })
      assert.include(
        (yield* planWith("WEB_DOMAIN=social.example")).err,
        `PUBLIC_URL is ${baseUrl}, but Mastodon's web address is https://social.example`
      )
      for (const line of ["", `WEB_DOMAIN=${host}`]) assert.notInclude((yield* planWith(line)).err, "PUBLIC_URL")
    }))

  it.effect("the operator's guide also names everything that it does not copy", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const guide = yield* fs.readFileString("docs/mastodon.md")
      for (const [what, instead] of notCopied) assert.include(guide, `| ${what} | ${instead} |`)
      const { variables } = yield* TestServer
      const finish = yield* cli(["transfer", "mastodon", "finish"], variables)
      assert.include(finish.out, "After that there is no way back")
    }))
})
