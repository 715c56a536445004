import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, PubSub, Schedule } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { EmbeddedPostgres } from "../../src/layers/EmbeddedPostgres.ts"
import { PostgresChannel } from "../../src/layers/PostgresChannel.ts"
import { AccountId } from "../../src/services/database/Ids.ts"
import { cli } from "../support/CommandLine.ts"
import * as Program from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Live = PostgresChannel.layer.pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
)

const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(TestDatabase, ({ url }) => cli(args, { DATABASE_URL: url }))

/** Runs the command; returns the first message that a running server receives, or the first with the tag. */
const heardDuring = <A, E, R>(command: Effect.Effect<A, E, R>, tag?: string) =>
  Effect.scoped(Effect.gen(function*() {
    const channel = yield* PostgresChannel
    yield* Effect.repeat(channel.listening, { until: (yes) => yes, schedule: Schedule.spaced("5 millis") })
    const signals = yield* channel.subscribe
    const result = yield* command
    const signal = yield* Effect.repeat(PubSub.take(signals), {
      until: ({ _tag }) => tag === undefined || _tag === tag
    })
    return { result, signal }
  }))

layer(Live, { excludeTestServices: true })("npm run cli", (it) => {
  it.effect("account create: creates a user with the role, and prints the generated password", () =>
    Effect.gen(function*() {
      const { code, out } = yield* run(
        "account",
        "create",
        "ada",
        "--email",
        "ada@example.org",
        "--role",
        "owner",
        "--confirmed"
      )
      assert.strictEqual(code, 0, out)
      assert.match(out, /^Password: \S{20}$/m)
      const sql = yield* SqlClient.SqlClient
      const rows =
        yield* sql`SELECT a.username, u.email, r.name AS role, u.confirmed_at IS NOT NULL AS confirmed, u.approved
        FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id WHERE a.username = 'ada'`
      assert.deepStrictEqual(rows, [
        { username: "ada", email: "ada@example.org", role: "Owner", confirmed: true, approved: true }
      ])
    }))

  it.effect("account import: stores the file's lines for the server, and export-lists prints an account's entries", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* run("account", "create", "porter", "--email", "porter@example.org", "--confirmed")
      const file = `${yield* fs.makeTempDirectoryScoped()}/blocked_domains.csv`
      yield* fs.writeFileString(file, "a.example\nnot a domain\nb.example\n")
      const { code, out } = yield* run("account", "import", "porter", file)
      assert.strictEqual(code, 0, out)
      assert.match(out, /^Import \d+ of 3 lines has started\./m)
      assert.match((yield* run("account", "imports", "porter")).out, /domain_blocks scheduled 1 of 3 lines: 0 added/)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain)
        SELECT 1, id, 'c.example' FROM accounts WHERE username = 'porter'`
      const printed = yield* run("account", "export-lists", "porter", "--kind", "domain_blocks")
      assert.match(printed.out, /^c\.example$/m)
      const refused = yield* run("account", "import", "porter", file, "--kind", "filters")
      assert.notStrictEqual(refused.code, 0)
      assert.include(refused.err, "Data is not a file of filters")
      const overwriting = ["account", "import", "porter", file, "--overwrite"]
      assert.match(
        (yield* run(...overwriting)).out,
        /removed, as the file does not have them: 1\.\nImport \d+ of 3 lines/
      )
    }).pipe(Effect.scoped))

  it.effect("F254: account import: an overwriting import of a file that looks like another list is refused", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* run("account", "create", "mover", "--email", "mover@example.org", "--confirmed")
      const file = `${yield* fs.makeTempDirectoryScoped()}/blocked_accounts.csv`
      yield* fs.writeFileString(file, "a@one.example\n")
      const merging = yield* run("account", "import", "mover", file, "--kind", "follows")
      assert.include(merging.err, "looks like blocks")
      const { code, err } = yield* run("account", "import", "mover", file, "--kind", "follows", "--overwrite")
      assert.notStrictEqual(code, 0)
      assert.include(err, "looks like blocks, so nothing of follows was removed")
      const { out } = yield* run("account", "imports", "mover")
      assert.match(out, /^\d+ follows cancelled .*\n\d+ follows scheduled /m)
    }).pipe(Effect.scoped))

  it.effect("account modify: removes a lost second factor, once, and logs it", () =>
    Effect.gen(function*() {
      yield* run("account", "create", "lost", "--email", "lost@example.org", "--confirmed")
      const sql = yield* SqlClient.SqlClient
      const [{ id } = { id: 0n }] = yield* sql<{ id: bigint }>`UPDATE users SET otp_secret = '\\x00', otp_last_step = 1,
        otp_enabled_at = created_at WHERE email = 'lost@example.org' RETURNING account_id AS id`
      yield* sql`INSERT INTO recovery_codes VALUES (${id}, '\\x00')`
      const { code, out } = yield* run("account", "modify", "lost", "--disable-2fa")
      assert.strictEqual(code, 0, out)
      assert.deepStrictEqual(
        yield* sql`SELECT otp_enabled_at, otp_secret, (SELECT count(*)::int FROM recovery_codes) AS codes
          FROM users WHERE account_id = ${id}`,
        [{ otpEnabledAt: null, otpSecret: null, codes: 0 }]
      )
      assert.deepStrictEqual(
        yield* sql`SELECT account_id, action FROM audit_log WHERE target_id = ${id}`,
        [{ accountId: null, action: "disable_2fa" }]
      )
      const again = yield* run("account", "modify", "lost", "--disable-2fa")
      assert.strictEqual(again.code, 1)
      assert.include(again.err, "lost has no two-factor sign-in")
    }))

  it.effect("account create: reports errors as messages, with exit code 1", () =>
    Effect.gen(function*() {
      const { code, err } = yield* run("account", "create", "no good", "--email", "nowhere", "--password", "short")
      assert.strictEqual(code, 1)
      assert.match(err, /Validation failed: .*Username.*E-mail.*Password/i)
      assert.notMatch(err, /\n\s+at /)
    }))

  it.effect("token create: prints a token that is stored hashed; token revoke: notifies running servers", () =>
    Effect.gen(function*() {
      yield* run(
        "account",
        "create",
        "grace",
        "--email",
        "grace@example.org",
        "--password",
        "a good password",
        "--confirmed"
      )
      const created = yield* run("token", "create", "grace", "--scopes", "read write follow push")
      assert.match(created.out, /^\S{43}\n$/)
      const hash = yield* (yield* Digest.Digest).digest(Digest.sha256, new TextEncoder().encode(created.out.trim()))
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<
        { id: bigint; scopes: string }
      >`SELECT id, scopes FROM oauth_tokens WHERE token_hash = ${hash}`
      assert.strictEqual(row?.scopes, "read write follow push")
      const { result, signal } = yield* heardDuring(run("token", "revoke", "grace"))
      assert.strictEqual(result.code, 0)
      assert.deepStrictEqual(signal, { _tag: "Revoked", tokenIds: [row!.id], accountIds: [] })
      const wrong = yield* run("token", "create", "grace", "--scopes", "everything")
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.err, "Unknown scope in: everything")
    }))

  it.effect("account modify: changes the user, and leaves the rest to the account's actor", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* run("account", "create", "joan", "--email", "joan@example.org", "--password", "a good password")
      const [joan] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE username = 'joan'`
      const changed = yield* heardDuring(run("account", "modify", "joan", "--confirm", "--role", "moderator"))
      assert.strictEqual(changed.result.code, 0)
      assert.deepInclude(changed.signal, { ids: [joan!.id] })
      const woken = yield* heardDuring(
        run("account", "modify", "joan", "--disable", "--display-name", "Joan C."),
        "Revoked"
      )
      assert.deepStrictEqual(woken.signal, { _tag: "Revoked", tokenIds: [], accountIds: [AccountId.make(joan!.id)] })
      const rows = yield* sql`SELECT kind, details FROM account_intents WHERE account_id = ${joan!.id}`
      assert.deepStrictEqual(rows, [
        { kind: "UpdateProfile", details: { _tag: "UpdateProfile", change: { displayName: "Joan C." }, version: 1 } }
      ])
      const user =
        yield* sql`SELECT confirmed_at IS NOT NULL AS confirmed, disabled, role_id FROM users WHERE account_id = ${
          joan!.id
        }`
      assert.deepStrictEqual(user, [{ confirmed: true, disabled: true, roleId: 1n }])
      const logged = yield* sql<{ action: string }>`SELECT action FROM audit_log
        WHERE target_id = ${joan!.id} AND account_id IS NULL ORDER BY id`
      assert.deepStrictEqual(logged.map(({ action }) => action), ["confirm", "change_role", "disable"])
      const nobody = yield* run("account", "modify", "nobody", "--confirm")
      assert.deepInclude(nobody, { code: 1, err: "There is no account nobody here\n" })
    }))

  it.effect("account delete: needs a confirmation, and leaves the work to the account's actor", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* run("account", "create", "ruth", "--email", "ruth@example.org", "--password", "a good password")
      const intents = sql`SELECT kind, details FROM account_intents WHERE kind = 'DeleteAccount'`
      const asked = yield* run("account", "delete", "ruth")
      assert.strictEqual(asked.code, 1)
      assert.include(asked.err, "Pass --yes to confirm")
      assert.isEmpty(yield* intents)
      const [ruth] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE username = 'ruth'`
      const { result, signal } = yield* heardDuring(run("account", "delete", "ruth", "--yes"))
      assert.strictEqual(result.code, 0, result.err)
      assert.deepStrictEqual(signal, { _tag: "Wake", accountId: AccountId.make(ruth!.id) })
      assert.deepStrictEqual(yield* intents, [{
        kind: "DeleteAccount",
        details: { _tag: "DeleteAccount", version: 1 }
      }])
    }))

  it.effect("migrate and doctor: report on the database", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* run("migrate"), { code: 0, out: "The database is up to date.\n" })
      const healthy = yield* run("doctor")
      assert.strictEqual(healthy.code, 0, healthy.out)
      assert.match(healthy.out, /^ok {5}Schema: migration \d+$/m)
      const { url } = yield* TestDatabase
      const ill = yield* cli(["doctor"], { DATABASE_URL: url, REDIS_URL: "redis://127.0.0.1:1" })
      assert.strictEqual(ill.code, 1)
      assert.match(ill.out, /^FAIL {3}Redis: .*ECONNREFUSED/m)
    }))

  it.effect("reads the server's configuration, and reports all of its errors", () =>
    Effect.gen(function*() {
      const { code, err } = yield* cli(["migrate"], { PORT: "x", DATABASE_URL: "y" })
      assert.strictEqual(code, 1)
      assert.match(err, /PORT: .*\n.*DATABASE_URL: /)
    }))

  it.effect("works on embedded Postgres while a server runs it, and leaves that running", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
      yield* fs.chmod(dataDir, 0o755)
      const services = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, adopt: true, durable: false }))
      const postgres = yield* Effect.provide(EmbeddedPostgres, services)
      const pid = yield* postgres.pid
      const args = ["account", "create", "ada", "--email", "ada@example.org"]
      const { code, err } = yield* Program.cli(args, { DATA_DIR: dataDir })
      assert.strictEqual(code, 0, err)
      assert.strictEqual(yield* postgres.pid, pid)
      assert.isTrue(process.kill(pid, 0))
    })))

  it.effect("works on embedded Postgres without a server, and leaves nothing running", () =>
    Effect.scoped(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-cli-" })
      yield* fs.chmod(dataDir, 0o755)
      const migrated = yield* Program.cli(["migrate"], { DATA_DIR: dataDir })
      assert.match(migrated.out, /^Ran 0001_/)
      assert.isFalse(yield* fs.exists(`${dataDir}/postgres/postmaster.pid`))
    })))
})
