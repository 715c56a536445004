import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Equal, Exit, FileSystem, Layer, Option, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/layers/Database.ts"
import { lowBytes, reserveBytes, startBytesMin } from "../../src/layers/embedded/DiskSpace.ts"
import * as Postmaster from "../../src/layers/embedded/Postmaster.ts"
import * as RunAs from "../../src/layers/embedded/RunAs.ts"
import { EmbeddedPostgres, type Options } from "../../src/layers/EmbeddedPostgres.ts"

const Platform = Layer.merge(NodeServices.layer, NodeCrypto.layer)

/** Makes a new data folder inside one with these permissions; it is removed at the end. */
const dataDir = Effect.fnUntraced(function*(mode: number) {
  const fs = yield* FileSystem.FileSystem
  const parent = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-embedded-" })
  yield* fs.chmod(parent, mode)
  return `${parent}/data`
})

/** A user id without an entry on any system. */
const nameless = 54_321

/** Starts a Postgres that closes with the returned scope. */
const start = Effect.fnUntraced(function*(options: Options) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const services = yield* Layer.build(EmbeddedPostgres.layer({ durable: false, ...options })).pipe(Scope.provide(scope))
  const postgres = Context.get(services, EmbeddedPostgres)
  return { postgres, stop: Scope.close(scope, Exit.void) }
})

const query = (postgres: EmbeddedPostgres["Service"], statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(PgClient.layer({ ...Database.connectionOf(postgres), connectTimeout: "2 seconds" }))
  )

const running = (dataDir: string) => Postmaster.find(`${dataDir}/postgres`)

/** Data folder shared by tests that ignore its contents; creating one takes longer than they do. */
class SharedFolder extends Context.Service<SharedFolder, string>()("murmuration/test/EmbeddedPostgres/SharedFolder") {
  static readonly layer = Layer.effect(SharedFolder, dataDir(0o755))
}

layer(SharedFolder.layer.pipe(Layer.provideMerge(Platform)), { excludeTestServices: true })(
  "EmbeddedPostgres",
  (it) => {
    it.effect("creates its data once, stops cleanly and finds the data again", () =>
      Effect.gen(function*() {
        const folder = yield* dataDir(0o755)
        const first = yield* start({ dataDir: folder, adopt: true })
        yield* query(first.postgres, "CREATE TABLE kept AS SELECT 7 AS n")
        const pid = yield* first.postgres.pid
        yield* first.stop
        assert.throws(() => process.kill(pid, 0))
        assert.isTrue(Option.isNone(yield* running(folder)))
        const second = yield* start({ dataDir: folder, adopt: true })
        assert.deepStrictEqual(yield* query(second.postgres, "SELECT n FROM kept"), [{ n: 7 }])
      }).pipe(Effect.scoped))

    it.effect("F356: a start removes databases that a crash left half-made, not those that are being made", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* SharedFolder
        const [old, recent, other] = [
          `${folder}/postgres.639c76f7-afc2-459f-894c-c0f5a2ad768a`,
          `${folder}/postgres.639c76f7-afc2-459f-894c-c0f5a2ad768b`,
          `${folder}/postgres.of-before`
        ]
        for (const folder of [old, recent, other]) yield* fs.makeDirectory(`${folder}/data`, { recursive: true })
        const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
        for (const folder of [old, other]) yield* fs.utimes(folder, hoursAgo, hoursAgo)
        yield* start({ dataDir: folder, adopt: true })
        assert.deepStrictEqual(yield* Effect.forEach([old, recent, other], (folder) => fs.exists(folder)), [
          false,
          true,
          true
        ])
      }).pipe(Effect.scoped))

    it.effect("requires the password, and listens on no port; F1: a user without a name is enough", () =>
      Effect.gen(function*() {
        const folder = yield* dataDir(0o755)
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(`${folder}/postgres`, { recursive: true })
        // Root runs Postgres as the owner of the folder.
        if (process.getuid?.() === 0) yield* fs.chown(`${folder}/postgres`, nameless, nameless)
        const { postgres } = yield* start({ dataDir: folder, adopt: true })
        const { username } = postgres
        const refused = yield* Effect.flip(Effect.scoped(Layer.build(
          Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)).pipe(
            Layer.provide(PgClient.layer({ ...postgres.endpoint, username, database: "postgres" }))
          )
        )))
        assert.strictEqual(refused.reason._tag, "AuthenticationError")
        assert.deepStrictEqual(yield* query(postgres, "SHOW listen_addresses"), [{ listen_addresses: "" }])
      }).pipe(Effect.scoped))

    it.effect("F1: runs in a folder that other users cannot enter, also as root, under a user with a name", () =>
      Effect.gen(function*() {
        // initdb looks the user's name up, and a machine may only have root and system users (below 1000, and 65534).
        const { args } = RunAs.command({ kind: "namespace" }, "true", [])
        assert.includeMembers(args, ["--map-user=65534", "--map-group=65534"])
        const { postgres } = yield* start({ dataDir: yield* dataDir(0o700), adopt: true })
        assert.deepStrictEqual(yield* query(postgres, "SELECT 1 AS n"), [{ n: 1 }])
      }).pipe(Effect.scoped))

    it.effect("F1: the same if a container allows no user namespaces: `nobody` gets access to others' folders", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* dataDir(0o700)
        yield* fs.makeDirectory(`${folder}/postgres`, { recursive: true })
        if (process.getuid?.() === 0) yield* fs.chown(`${folder}/postgres`, nameless, nameless)
        const tools = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-tools-" })
        yield* fs.chmod(tools, 0o755)
        yield* fs.writeFileString(`${tools}/unshare`, "#!/bin/sh\nexit 1\n", { mode: 0o755 })
        const path = process.env["PATH"]
        yield* Effect.acquireRelease(
          Effect.sync(() => process.env["PATH"] = `${tools}:${path}`),
          () => Effect.sync(() => process.env["PATH"] = path)
        )
        const { postgres } = yield* start({ dataDir: folder, adopt: true })
        yield* query(postgres, "CREATE TABLE kept AS SELECT 7 AS n")
        assert.deepStrictEqual(yield* query(postgres, "SELECT n FROM kept"), [{ n: 7 }])
      }).pipe(Effect.scoped))

    it.effect("started twice on the same data: the second one finds the running Postgres and leaves it running", () =>
      Effect.gen(function*() {
        const folder = yield* SharedFolder
        const server = yield* start({ dataDir: folder, adopt: true })
        const beside = yield* start({ dataDir: folder, adopt: false })
        assert.strictEqual(yield* beside.postgres.pid, yield* server.postgres.pid)
        yield* beside.stop
        assert.deepStrictEqual(yield* query(server.postgres, "SELECT 1 AS n"), [{ n: 1 }])
      }).pipe(Effect.scoped))

    it.effect("if killed, it is restarted at the same place with the same data", () =>
      Effect.gen(function*() {
        const { postgres } = yield* start({ dataDir: yield* SharedFolder, adopt: true })
        yield* query(postgres, "CREATE TABLE kept AS SELECT 7 AS n")
        const pid = yield* postgres.pid
        process.kill(pid, "SIGKILL")
        yield* Effect.repeat(postgres.pid, { until: (now) => now !== pid, schedule: Schedule.spaced("20 millis") })
        assert.deepStrictEqual(yield* query(postgres, "SELECT n FROM kept"), [{ n: 7 }])
      }).pipe(Effect.scoped))

    it.effect("if killed, the server's client has failed queries until it is back, and needs no restart", () =>
      Effect.gen(function*() {
        const { postgres } = yield* start({ dataDir: yield* SharedFolder, adopt: true })
        const services = yield* Layer.build(Database.client(Database.connectionOf(postgres)))
        const one = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 AS n`).pipe(Effect.provide(services))
        assert.deepStrictEqual(yield* one, [{ n: 1 }])
        process.kill(yield* postgres.pid, "SIGKILL")
        const failure = yield* Effect.repeat(Effect.exit(one), { until: Exit.isFailure })
        assert.isTrue(Exit.isFailure(failure))
        assert.deepStrictEqual(yield* Effect.retry(one, Schedule.spaced("20 millis")), [{ n: 1 }])
      }).pipe(Effect.scoped))

    it.effect("reports why its data is unusable", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* dataDir(0o755)
        const first = yield* start({ dataDir: folder, adopt: true })
        yield* first.stop
        yield* fs.writeFileString(`${folder}/postgres/PG_VERSION`, "12\n")
        const old = yield* Effect.flip(start({ dataDir: folder, adopt: true }))
        assert.match(old.message, /was written by Postgres 12, this server has Postgres \d+/)
        yield* fs.remove(`${folder}/secrets/postgres_password`)
        const locked = yield* Effect.flip(start({ dataDir: folder, adopt: true }))
        assert.match(locked.message, /postgres_password is missing/)
      }).pipe(Effect.scoped))

    it.effect("F20: on a full disk nothing is written and everything is read; with free space all is as before", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* SharedFolder
        let free = 10 * lowBytes
        let looks = 0
        const { postgres } = yield* start({
          dataDir: folder,
          adopt: true,
          durable: true,
          free: Effect.sync(() => (looks++, free))
        })
        const reserved = Effect.map(Effect.option(fs.stat(`${folder}/reserve`)), Option.map(({ size }) => Number(size)))
        const becomes = <A>(wanted: A, now: Effect.Effect<A, unknown>) =>
          Effect.repeat(Effect.orDie(now), {
            until: (found) => Equal.equals(found, wanted),
            schedule: Schedule.spaced("50 millis")
          })
        yield* becomes(Option.some(reserveBytes), reserved)
        yield* query(postgres, "CREATE TABLE stored AS SELECT 7 AS n")
        const written = Effect.map(Effect.exit(query(postgres, "INSERT INTO stored VALUES (8)")), Exit.isSuccess)
        free = lowBytes - 1
        yield* becomes(false, written)
        assert.isTrue(Option.isNone(yield* reserved))
        const refused = yield* Effect.flip(query(postgres, "UPDATE stored SET n = 9"))
        assert.match(String(refused.reason.cause), /read-only transaction/)
        assert.deepInclude(yield* query(postgres, "SELECT n FROM stored"), { n: 7 })
        // Slightly more space than the minimum is not enough to resume.
        free = lowBytes + reserveBytes - 1
        const before = looks
        yield* Effect.repeat(Effect.sync(() => looks), {
          until: (now) => now >= before + 2,
          schedule: Schedule.spaced("50 millis")
        })
        assert.isFalse(yield* written)
        free = 10 * lowBytes
        yield* becomes(true, written)
        yield* becomes(Option.some(reserveBytes), reserved)
      }).pipe(Effect.scoped))

    it.effect("F20: a start on a full disk uses the reserve, and reports the path and the missing bytes", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* dataDir(0o755)
        const begin = (free: Effect.Effect<number>) => start({ dataDir: folder, adopt: true, durable: true, free })
        const full = yield* Effect.flip(begin(Effect.succeed(1_000)))
        assert.include(full.message, `The disk of ${folder} is full`)
        assert.include(
          full.message,
          `needs ${startBytesMin} bytes to start, 1000 are free, ${startBytesMin - 1_000} are missing`
        )
        yield* fs.writeFileString(`${folder}/reserve`, "kept back")
        const reserved = Effect.orElseSucceed(fs.exists(`${folder}/reserve`), () => false)
        const { postgres } = yield* begin(Effect.map(reserved, (there) => there ? 1_000 : startBytesMin))
        assert.isFalse(yield* reserved)
        assert.deepInclude(yield* query(postgres, "SELECT 7 AS n"), { n: 7 })
      }).pipe(Effect.scoped))
  }
)
