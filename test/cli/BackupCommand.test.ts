import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/layers/Database.ts"
import { EmbeddedPostgres } from "../../src/layers/EmbeddedPostgres.ts"
import * as CommandLine from "../support/CommandLine.ts"
import { blob, picture } from "../support/MediaFiles.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { s3Double } from "../support/S3Double.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const domain = { LOCAL_DOMAIN: "birds.example" }
const cli = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  CommandLine.cli(args, { ...domain, ...variables })

/** Runs a command that must succeed; returns its output. */
const done = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.map(cli(args, variables), ({ code, err, out }) => {
    assert.strictEqual(code, 0, out + err)
    return out.trim()
  })

const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-backup-" })
)

/** Starts a server; returns its address. It ends with the scope. */
const serverOn = Effect.fnUntraced(function*(variables: Record<string, string>) {
  const port = yield* freePort
  const server = yield* Program.start("main", [], { ...domain, PORT: String(port), ...variables })
  yield* Program.printed(server, "Murmuration is at")
  return `http://127.0.0.1:${port}`
})

const request = (url: string, token: string, init: RequestInit = {}) =>
  Effect.promise(() => fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } }))

const bodyOf = (url: string, token: string, init: RequestInit = {}) =>
  Effect.flatMap(request(url, token, init), (response) =>
    Effect.promise(async () => {
      assert.strictEqual(response.status, 200, url)
      return (await response.json()) as unknown
    }))

/** Returns the path of a URL, to request it from another server. */
const pathOf = (url: unknown) => new URL(String(url)).pathname

/** Returns a digest of each table, and the foreign keys, triggers and sequences. */
const contentOf = (connection: Database.Connection) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname NOT IN ('effect_sql_migrations', 'secrets') ORDER BY 1`
    const digests = yield* Effect.forEach(tables, ({ name }) =>
      Effect.map(
        sql.unsafe(
          `SELECT count(*)::int AS n, md5(string_agg(t::text, '' ORDER BY t::text)) AS digest FROM "${name}" t`
        ),
        (rows) => [name, rows[0]] as const
      ))
    const keys = yield* sql`SELECT conrelid::regclass::text AS table, conname, pg_get_constraintdef(oid), convalidated
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`
    const triggers = yield* sql`SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger
      WHERE NOT tgisinternal ORDER BY 1, 2`
    const sequences = yield* sql`SELECT sequencename, last_value FROM pg_sequences ORDER BY 1`
    return { digests: Object.fromEntries(digests), keys, triggers, sequences }
  }).pipe(Effect.provide(PgClient.layer({ ...connection, maxConnections: 1 })))

/** Returns the content of the embedded database of a data folder, which is started for it if necessary. */
const embeddedContent = Effect.fnUntraced(function*(dataDir: string) {
  const services = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, adopt: false, durable: false }))
  return yield* contentOf(Database.connectionOf(Context.get(services, EmbeddedPostgres)))
}, Effect.scoped)

/** Creates an empty database for the scope. */
const emptyDatabase = Effect.map(
  Layer.build(Layer.fresh(TestDatabase.layerEmpty)),
  (services) => Context.get(services, TestDatabase)
)

layer(Layer.merge(NodeServices.layer, NodeCrypto.layer), { excludeTestServices: true })(
  "npm run cli -- backup, restore, transfer",
  (it) => {
    it.effect(
      "a running server is backed up; on the restored one old tokens, posts, media and secrets still work (F329)",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [first, second, archives] = [yield* folder, yield* folder, yield* folder]
          const file = `${archives}/backup.tar`
          const empty = yield* cli(["backup", file], { DATA_DIR: first })
          assert.include(empty.err, `There is no server in ${first} (DATA_DIR)`)
          assert.deepStrictEqual(yield* fs.readDirectory(first), [])

          const { before, status, token } = yield* Effect.scoped(Effect.gen(function*() {
            const at = yield* serverOn({ DATA_DIR: first })
            yield* done(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"], { DATA_DIR: first })
            const token = yield* done(["token", "create", "ada", "--scopes", "read write"], { DATA_DIR: first })
            const form = new FormData()
            form.set("file", blob(yield* Effect.promise(() => picture().png().toBuffer())), "bird.png")
            form.set("description", "a \"bird\", with \\ and ä\nand {braces}")
            const media = yield* Effect.promise(() =>
              fetch(`${at}/api/v2/media`, { method: "POST", body: form, headers: { authorization: `Bearer ${token}` } })
                .then((response) => response.json() as Promise<{ readonly id: string }>)
            )
            yield* Effect.repeat(request(`${at}/api/v1/media/${media.id}`, token), {
              until: ({ status }) => status === 200,
              schedule: Schedule.spaced("100 millis")
            })
            const status = (yield* bodyOf(`${at}/api/v1/statuses`, token, {
              method: "POST",
              body: new URLSearchParams([["status", "Hello, (world) \"quoted\" \\ ,, {}"], ["media_ids[]", media.id]])
            })) as {
              id: string
              content: string
              media_attachments: ReadonlyArray<{ url: string; description: string }>
            }
            assert.include(yield* done(["backup", file], { DATA_DIR: first }), "2 files")
            assert.include((yield* cli(["restore", file], { DATA_DIR: first })).err, "A server uses the target")
            return { before: yield* embeddedContent(first), status, token }
          }))
          assert.strictEqual(Number((yield* fs.stat(file)).mode) & 0o777, 0o600)
          assert.include((yield* cli(["backup", file], { DATA_DIR: first })).err, "exists already")

          const bytes = yield* fs.readFile(file)
          yield* fs.writeFile(`${archives}/short.tar`, bytes.subarray(0, Math.floor(bytes.length * 0.7)))
          const missing = yield* cli(["restore", `${archives}/missing.tar`], { DATA_DIR: second })
          assert.include(missing.err, "missing.tar does not exist", "F329")
          assert.deepStrictEqual(yield* fs.readDirectory(second), [], "F329: nothing is created for it")
          const short = yield* cli(["restore", `${archives}/short.tar`], { DATA_DIR: second })
          assert.strictEqual(short.code, 1, short.out)
          const foreign = yield* cli(["restore", file], { DATA_DIR: second, LOCAL_DOMAIN: "other.example" })
          assert.include(foreign.err, "The backup is of birds.example, this server is other.example")
          assert.include(yield* done(["restore", file], { DATA_DIR: second }), "2 files")
          const again = yield* cli(["restore", file], { DATA_DIR: second })
          assert.include(again.err, "The target is not empty")

          for (const name of ["signing_key", "vapid_key"]) {
            const [old, now] = [`${first}/secrets/${name}`, `${second}/secrets/${name}`]
            assert.strictEqual(yield* fs.readFileString(now), yield* fs.readFileString(old))
            assert.strictEqual(Number((yield* fs.stat(now)).mode) & 0o777, 0o600)
          }
          const at = yield* serverOn({ DATA_DIR: second })
          const me = (yield* bodyOf(`${at}/api/v1/accounts/verify_credentials`, token)) as { username: string }
          assert.strictEqual(me.username, "ada")
          const found = (yield* bodyOf(`${at}/api/v1/statuses/${status.id}`, token)) as typeof status
          assert.strictEqual(found.content, status.content)
          assert.strictEqual(found.media_attachments[0]?.description, status.media_attachments[0]?.description)
          const shown = yield* request(`${at}${pathOf(status.media_attachments[0]?.url)}`, token)
          assert.strictEqual(shown.status, 200)
          assert.isAbove((yield* Effect.promise(() => shown.arrayBuffer())).byteLength, 0)
          const next = (yield* bodyOf(`${at}/api/v1/statuses`, token, {
            method: "POST",
            body: new URLSearchParams({ status: "Life goes on" })
          })) as { id: string }
          assert.isTrue(BigInt(next.id) > BigInt(status.id))
          const after = yield* embeddedContent(second)
          assert.deepStrictEqual(after.keys, before.keys)
          assert.deepStrictEqual(after.triggers, before.triggers)
          assert.deepStrictEqual(after.digests["media_attachments"], before.digests["media_attachments"])
        }))
    )

    it.effect(
      "an embedded database is moved to a separate Postgres, directly or through a backup: same rows, keys, triggers and secrets",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [dataDir, other] = [yield* folder, yield* folder]
          const create = ["account", "create", "ada", "--email", "ada@example.org", "--confirmed"]
          yield* done(create, { DATA_DIR: dataDir })
          yield* fs.writeFileString(`${dataDir}/secrets/signing_key`, `${"k".repeat(64)}\n`)
          const [direct, restored] = [yield* emptyDatabase, yield* emptyDatabase]
          assert.include((yield* cli(["transfer", "postgres"], { DATA_DIR: dataDir })).err, "Set DATABASE_URL")
          assert.include(
            (yield* cli(["transfer", "postgres"], { DATA_DIR: other, DATABASE_URL: direct.url })).err,
            "There is no embedded database in"
          )
          const key = { SECRET_KEY: "another key of more than 32 characters" }
          const moved = { DATA_DIR: dataDir, DATABASE_URL: direct.url }
          assert.include((yield* cli(["transfer", "postgres"], { ...moved, ...key })).err, "SECRET_KEY is not the key")
          assert.include(yield* done(["transfer", "postgres"], moved), "Copied")
          assert.include((yield* cli(["transfer", "postgres"], moved)).err, "The target is not empty")
          yield* done(["backup", `${other}/backup.tar`, "--without-media"], { DATA_DIR: dataDir })
          yield* done(["restore", `${other}/backup.tar`], { DATA_DIR: other, DATABASE_URL: restored.url })
          const before = yield* embeddedContent(dataDir)
          assert.deepInclude(before.digests["users"], { n: 1 })
          for (const { connection } of [direct, restored]) {
            assert.deepStrictEqual(yield* contentOf(connection), before)
            const secrets = yield* Effect.flatMap(
              SqlClient.SqlClient,
              (sql) => sql`SELECT name, value FROM secrets WHERE name = 'signing_key'`
            ).pipe(
              Effect.provide(PgClient.layer({ ...connection, maxConnections: 1 }))
            )
            assert.deepStrictEqual(secrets, [{ name: "signing_key", value: "k".repeat(64) }])
          }
          const second = { DATA_DIR: other, DATABASE_URL: direct.url }
          assert.include(yield* done(["token", "create", "ada", "--scopes", "read"], second), "")
          yield* done(["backup", `${other}/external.tar`], second)
        }))
    )

    it.effect("transfer media copies files to the bucket and back, and continues where it was interrupted", () =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [from, to] = [yield* folder, yield* folder]
        const { variables } = yield* s3Double
        const names = ["a", "b", "c"].map((letter) => `${letter}0/${letter.repeat(32)}.png`)
        for (const name of names) {
          yield* fs.makeDirectory(`${from}/media/files/${name.slice(0, 2)}`, { recursive: true })
          yield* fs.writeFileString(`${from}/media/files/${name}`, `content of ${name}`)
        }
        assert.include((yield* cli(["transfer", "media", "bucket"], { DATA_DIR: from })).err, "Set S3_BUCKET")
        const all = { DATA_DIR: from, ...variables }
        assert.include(yield* done(["transfer", "media", "bucket"], all), "Copied 3 files")
        assert.include(
          yield* done(["transfer", "media", "bucket"], all),
          "Copied 0 files (0 bytes); 3 were there"
        )
        const back = { DATA_DIR: to, ...variables }
        yield* fs.makeDirectory(`${to}/media/files/a0`, { recursive: true })
        yield* fs.writeFileString(`${to}/media/files/${names[0]}`, "half")
        assert.include(yield* done(["transfer", "media", "folder"], back), "Copied 3 files")
        for (const name of names) {
          assert.strictEqual(yield* fs.readFileString(`${to}/media/files/${name}`), `content of ${name}`)
        }
      })))
  }
)
