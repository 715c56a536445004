import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { spawnSync } from "node:child_process"
import * as BaseCopies from "../../src/layers/backup/BaseCopies.ts"
import * as WalArchive from "../../src/layers/embedded/WalArchive.ts"
import * as CommandLine from "../support/CommandLine.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"

const domain = { LOCAL_DOMAIN: "birds.example" }
const cli = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  CommandLine.cli(args, { ...domain, ...variables })

/** Runs a command that must succeed; returns its output. */
const done = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.map(cli(args, variables), ({ code, err, out }) => {
    assert.strictEqual(code, 0, out + err)
    return out.trim()
  })

/** Runs a command that must fail; returns its error. */
const refused = (args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.map(cli(args, variables), ({ code, err, out }) => {
    assert.strictEqual(code, 1, out + err)
    return err
  })

const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-wal-" })
)

/** A folder that other users may enter, as Postgres does if the test runs as root. */
const openFolder = Effect.tap(folder, (path) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.chmod(path, 0o755)))

/** Starts a server that ends with the scope; returns functions that post and look. */
const serverOn = Effect.fnUntraced(function*(variables: Record<string, string>) {
  const port = yield* freePort
  const server = yield* Program.start("main", [], { ...domain, PORT: String(port), ...variables })
  yield* Program.printed(server, "Murmuration is at")
  const request = (token: string, path: string, init: RequestInit = {}) =>
    Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/api/v1/statuses${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}` }
      })
    )
  return {
    post: (token: string, status: string) =>
      Effect.flatMap(
        request(token, "", { method: "POST", body: new URLSearchParams({ status }) }),
        (response) => Effect.promise(async () => (await response.json() as { readonly id: string }).id)
      ),
    remove: (token: string, id: string) => request(token, `/${id}`, { method: "DELETE" }),
    found: (token: string, id: string) => Effect.map(request(token, `/${id}`), ({ status }) => status === 200)
  }
})

layer(Layer.merge(NodeServices.layer, NodeCrypto.layer), { excludeTestServices: true })(
  "npm run cli -- wal",
  (it) => {
    it.effect(
      "a restore to an exact time brings a deleted post back, and not the one that was written later",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [first, archive] = [yield* openFolder, `${yield* openFolder}/it's 100% kept`]
          const source = { DATA_DIR: first, WAL_ARCHIVE_DIR: archive }
          const drilled = yield* Effect.scoped(Effect.gen(function*() {
            const { found, post, remove } = yield* serverOn(source)
            assert.include((yield* cli(["doctor"], source)).out, "has no base copy")
            yield* done(["account", "create", "ada", "--email", "ada@example.org", "--confirmed"], source)
            const token = yield* done(["token", "create", "ada", "--scopes", "read write"], source)
            const before = yield* post(token, "Before the base copy")
            assert.include(yield* done(["wal", "base"], source), `${archive}/base/`)
            const deletedPost = yield* post(token, "Deleted by mistake")
            assert.isTrue(yield* found(token, deletedPost))
            const time = new Date().toISOString()
            yield* remove(token, deletedPost)
            const later = yield* post(token, "After the mistake")
            assert.match((yield* cli(["doctor"], source)).out, /^ok {5}Archive of the log: base copy of /m)
            return { before, deletedPost, later, time, token }
          }))
          const { before, deletedPost, later, time, token } = drilled
          const listed = JSON.parse(yield* done(["wal", "list", "--json"], source))
          assert.deepStrictEqual(listed.map((copy: object) => Object.keys(copy)), [["folder", "completed_at", "bytes"]])

          const second = yield* openFolder
          const target = { DATA_DIR: second }
          const early = yield* refused(["wal", "restore", archive, "--until", "2020-01-01T00:00:00Z"], target)
          assert.include(early, "The oldest base copy of")
          const late = yield* refused(["wal", "restore", archive, "--until", "2200-01-01T00:00:00Z"], target)
          assert.include(late, "ends before 2200-01-01T00:00:00.000Z. Leave out --until")
          const foreign = yield* refused(["wal", "restore", archive], { ...target, LOCAL_DOMAIN: "other.example" })
          assert.include(foreign, "The archive is of birds.example, this server is other.example")
          const nowhere = yield* refused(["wal", "restore", `${archive}/nowhere`], target)
          assert.include(nowhere, "/nowhere/base does not exist")
          assert.deepStrictEqual(yield* fs.readDirectory(second), [])
          assert.include(yield* done(["wal", "restore", archive, "--until", time], target), "Restored.")
          assert.include(yield* refused(["wal", "restore", archive], target), "The target is not empty")
          for (const name of ["signing_key", "vapid_key", "postgres_password"]) {
            const file = `${second}/secrets/${name}`
            assert.strictEqual(yield* fs.readFileString(file), yield* fs.readFileString(`${first}/secrets/${name}`))
            assert.strictEqual(Number((yield* fs.stat(file)).mode) & 0o777, 0o600)
          }
          // The log of the old server goes on there: a second server would spoil it.
          const shared = yield* Effect.flip(Effect.scoped(serverOn({ ...target, WAL_ARCHIVE_DIR: archive })))
          assert.instanceOf(shared, Error)
          const next = `${yield* openFolder}/next`
          const again = { ...target, WAL_ARCHIVE_DIR: next }
          const last = yield* Effect.scoped(Effect.gen(function*() {
            const { found, post } = yield* serverOn(again)
            assert.isTrue(yield* found(token, before))
            assert.isTrue(yield* found(token, deletedPost), "the deleted post is back")
            assert.isFalse(yield* found(token, later), "the later post is not there")
            yield* done(["wal", "base"], again)
            return yield* post(token, "On the restored server")
          }))

          const third = { DATA_DIR: yield* openFolder }
          yield* done(["wal", "restore", next], third)
          const fourth = { DATA_DIR: yield* openFolder }
          yield* done(["wal", "restore", archive], fourth)
          yield* Effect.scoped(Effect.gen(function*() {
            const { found } = yield* serverOn(third)
            assert.isTrue(yield* found(token, last), "a restored server is restored once more")
          }))
          yield* Effect.scoped(Effect.gen(function*() {
            const { found } = yield* serverOn(fourth)
            assert.isFalse(yield* found(token, deletedPost))
            assert.isTrue(yield* found(token, later), "without a time, all of the log is restored")
          }))
        }))
    )

    it.effect(
      "old copies and their log are removed; a missing segment and a failing archive are reported (F340)",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [dataDir, archive] = [yield* openFolder, yield* openFolder]
          const wal = WalArchive.walFolder(archive)
          const source = { DATA_DIR: dataDir }
          const create = (name: string) =>
            done(["account", "create", name, "--email", `${name}@example.org`, "--confirmed"], source)
          yield* create("ada")
          assert.include(yield* refused(["wal", "base"], source), "The write-ahead log is not archived")
          yield* WalArchive.choose(dataDir, archive)
          // Each command starts Postgres, which archives its log when it stops, without WAL_ARCHIVE_DIR as well.
          yield* done(["wal", "base"], source)
          yield* done(["wal", "base"], source)
          assert.lengthOf(yield* BaseCopies.list(archive), 2)
          yield* fs.makeDirectory(`${archive}/base/2020${BaseCopies.draftEnding}/data`, { recursive: true })
          yield* done(["wal", "base", "--keep", "1"], source)
          const [copy, ...others] = yield* BaseCopies.list(archive)
          assert.lengthOf(others, 0)
          assert.lengthOf(yield* fs.readDirectory(`${archive}/base`), 1)
          const segments = yield* BaseCopies.segments(archive)
          assert.strictEqual(segments[0]?.name, copy?.firstSegment)

          yield* create("bob")
          yield* create("cid")
          yield* create("dan")
          const middle = (yield* BaseCopies.segments(archive)).at(-2)
          yield* fs.remove(`${wal}/${middle?.file}`)
          const target = { DATA_DIR: yield* openFolder }
          const broken = yield* refused(["wal", "restore", archive], target)
          assert.include(broken, "is missing or damaged after")
          yield* done(["wal", "restore", archive, "--to-gap"], target)
          assert.strictEqual((yield* cli(["account", "show", "bob"], target)).code, 0)
          assert.strictEqual((yield* cli(["account", "show", "dan"], target)).code, 1)

          yield* fs.remove(wal, { recursive: true })
          yield* create("eve")
          assert.match(
            (yield* cli(["doctor"], source)).out,
            /^FAIL {3}Archive of the log: segment \S+ could not be stored/m
          )
          yield* fs.writeFileString(`${dataDir}/postgres/${WalArchive.gapName}`, "000000010000000000000007\n")
          yield* fs.makeDirectory(wal)
          assert.match((yield* cli(["doctor"], source)).out, /^FAIL {3}Archive of the log: segment \S+ (?:was|could)/m)
          // A copy that fails closes no gap.
          yield* fs.rename(`${archive}/base`, `${archive}/base.away`)
          yield* fs.writeFileString(`${archive}/base`, "")
          yield* refused(["wal", "base"], source)
          yield* fs.remove(`${archive}/base`)
          yield* fs.rename(`${archive}/base.away`, `${archive}/base`)
          assert.isTrue(yield* fs.exists(`${dataDir}/postgres/${WalArchive.gapName}`), "F340")
          yield* done(["wal", "base"], source)
          assert.match((yield* cli(["doctor"], source)).out, /^ok {5}Archive of the log: /m)

          yield* WalArchive.choose(dataDir, undefined)
          const off = yield* cli(["doctor"], source)
          assert.match(off.out, /^skip {3}Archive of the log: off/m)
          const again = yield* Effect.flip(WalArchive.choose(dataDir, archive))
          assert.include(again.message, "has the log of another database")
          const both = yield* refused(["wal", "list"], {
            DATABASE_URL: "postgres://localhost/x",
            WAL_ARCHIVE_DIR: archive
          })
          assert.include(both, "WAL_ARCHIVE_DIR: archives the embedded Postgres only")
        }))
    )

    it.effect("a segment is stored once; a failing archive keeps up to 64 segments and drops later ones", () =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const [data, archive] = [yield* folder, `${yield* folder}/%f "$(false)" it's`]
        const wal = WalArchive.walFolder(archive)
        const waiting = `${data}/pg_wal/archive_status`
        yield* fs.makeDirectory(waiting, { recursive: true })
        const name = "00000001000000000000000A"
        yield* fs.writeFileString(`${data}/pg_wal/${name}`, "changes")
        // As Postgres replaces them.
        const command = String(WalArchive.archiving(archive)["archive_command"])
          .replaceAll(/%([%fp])/g, (_, what) => what === "%" ? "%" : what === "f" ? name : `pg_wal/${name}`)
        const archived = () => spawnSync("/bin/sh", ["-c", command], { cwd: data }).status === 0
        assert.isFalse(archived(), "the folder is missing")
        yield* fs.makeDirectory(wal, { recursive: true })
        assert.isTrue(archived())
        assert.isTrue(archived(), "stored before a crash of Postgres")
        assert.deepStrictEqual(yield* fs.readDirectory(wal), [`${name}.gz`])
        yield* fs.writeFileString(`${data}/pg_wal/${name}`, "other changes")
        assert.isFalse(archived(), "never replaced")
        const gap = `${data}/${WalArchive.gapName}`
        for (let number = 0; number <= WalArchive.waitingSegmentsMax; number++) {
          assert.isFalse(archived())
          yield* fs.writeFileString(`${waiting}/${number}.ready`, "")
        }
        assert.isFalse(yield* fs.exists(gap))
        assert.isTrue(archived())
        assert.strictEqual(yield* fs.readFileString(gap), `${name}\n`)
      })))
  }
)
