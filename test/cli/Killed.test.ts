import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import * as BaseCopies from "../../src/layers/backup/BaseCopies.ts"
import * as WalArchive from "../../src/layers/embedded/WalArchive.ts"
import * as CommandLine from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { heldPipe } from "../support/HeldPipe.ts"
import { freePort } from "../support/ports.ts"
import { postmasterIn, runs } from "../support/Processes.ts"
import * as Program from "../support/Program.ts"

const domain = { LOCAL_DOMAIN: "birds.example" }
type Variables = Record<string, string>
const cli = (args: ReadonlyArray<string>, variables: Variables) => CommandLine.cli(args, { ...domain, ...variables })

/** Runs a command that must succeed; returns its output. */
const done = (args: ReadonlyArray<string>, variables: Variables) =>
  Effect.map(cli(args, variables), ({ code, err, out }) => {
    assert.strictEqual(code, 0, out + err)
    return out.trim()
  })

/** Runs a command that must fail; returns what it prints. */
const refused = (args: ReadonlyArray<string>, variables: Variables) =>
  Effect.map(cli(args, variables), ({ code, err, out }) => {
    assert.strictEqual(code, 1, out + err)
    return out + err
  })

const exists = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(path))
const namesIn = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.orElseSucceed(fs.readDirectory(path), () => []))

/** A folder that other users may enter, as Postgres does if the test runs as root. At the end, its Postgres is killed. */
const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) =>
    fs.makeTempDirectoryScoped({ prefix: "murmuration-killed-" }).pipe(
      Effect.tap((path) => fs.chmod(path, 0o755)),
      Effect.tap((path) =>
        Effect.addFinalizer(() =>
          Effect.sync(() => {
            for (const name of ["postgres", "postgres.part"]) {
              const pid = postmasterIn(`${path}/${name}`)
              if (pid !== undefined && runs(pid)) process.kill(pid, "SIGQUIT")
            }
          })
        )
      )
    )
)

/** Starts a command as a process of its own, and kills it once `reached` has completed. */
const killed = <E, R>(args: ReadonlyArray<string>, variables: Variables, reached: Effect.Effect<unknown, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const { child, ended } = yield* Program.start("cli", args, { ...domain, ...variables })
    yield* Effect.raceFirst(
      reached,
      Effect.flatMap(ended, ({ err, out }) => Effect.die(new Error(`it ended before it could be killed: ${out}${err}`)))
    )
    child.kill("SIGKILL")
    assert.isNull((yield* ended).code)
  }))

const appears = (path: string) => eventually(exists(path), (there) => there)

/** Starts a server, which must refuse to; returns what it prints. */
const refusedStart = Effect.fnUntraced(function*(variables: Variables) {
  const port = String(yield* freePort)
  const { ended } = yield* Program.start("main", [], { ...domain, PORT: port, ...variables })
  const { code, err, out } = yield* ended
  assert.strictEqual(code, 1, out + err)
  return out + err
}, Effect.scoped)

/** Starts a server, and stops it with the scope. */
const serverOn = Effect.fnUntraced(function*(variables: Variables, port?: number) {
  const onPort = String(port ?? (yield* freePort))
  yield* Program.printed(
    yield* Program.start("main", [], { ...domain, PORT: onPort, ...variables }),
    "Murmuration is at"
  )
})

const createAda = ["account", "create", "ada", "--email", "ada@example.org", "--confirmed"]

layer(Layer.merge(NodeServices.layer, NodeCrypto.layer), { excludeTestServices: true })(
  "commands that are killed",
  (it) => {
    it.effect(
      "F350, F355: `wal base` leaves a whole archive, and the next run removes its draft; F352, F353: so does `wal restore`, and nothing starts before its repetition",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [dataDir, archive] = [yield* folder, yield* folder]
          const source = { DATA_DIR: dataDir, WAL_ARCHIVE_DIR: archive }
          const base = BaseCopies.baseFolder(archive)
          const wal = WalArchive.walFolder(archive)
          const drafts = Effect.map(namesIn(base), (names) => names.filter((name) => name.endsWith(".part")))
          yield* Effect.scoped(Effect.gen(function*() {
            const port = yield* freePort
            yield* serverOn(source, port)
            const failing = Effect.map(
              Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text())),
              (text) => /^murmuration_postgres_archive_failing (\d)$/m.exec(text)?.[1]
            )
            yield* done(createAda, source)
            const copying = eventually(drafts, (names) => names.length > 0).pipe(
              Effect.flatMap(([name]) => appears(`${base}/${name}/data/global`))
            )
            yield* killed(["wal", "base"], source, copying)
            const [first] = yield* drafts
            assert.isDefined(first)
            assert.include(yield* refused(["doctor"], source), "has no base copy")

            // The end of a copy waits for the archive, which is away.
            yield* fs.rename(wal, `${wal}.away`)
            const waiting = eventually(drafts, (names) => names.some((name) => name !== first)).pipe(
              Effect.map((names) => names.find((name) => name !== first)),
              Effect.flatMap((name) => appears(`${base}/${name}/data/global/pg_control.gz`))
            )
            yield* killed(["wal", "base"], source, waiting)
            assert.notInclude(yield* drafts, first, "F350")
            assert.lengthOf(yield* drafts, 1)
            yield* eventually(failing, (value) => value === "1")
            yield* fs.rename(`${wal}.away`, wal)

            yield* done(["wal", "base"], source)
            assert.lengthOf(yield* namesIn(base), 1)
            assert.match((yield* cli(["doctor"], source)).out, /^ok {5}Archive of the log: base copy of /m)
            assert.strictEqual(yield* failing, "0")
          }))

          const [copy] = yield* BaseCopies.list(archive)
          const targetDir = yield* folder
          const target = { DATA_DIR: targetDir }
          const restore = ["wal", "restore", archive]
          yield* killed(restore, target, appears(`${targetDir}/postgres.part/base`))
          assert.include(yield* refused(["doctor"], target), "did not end", "F353")
          assert.include(yield* refused(createAda, target), "did not end", "F353")
          assert.include(yield* refusedStart(target), "did not end", "F353")
          assert.isFalse(yield* exists(`${targetDir}/postgres`))

          // The replay waits for the first segment.
          const segment = `${wal}/${copy?.firstSegment}.gz`
          yield* fs.rename(segment, `${segment}.away`)
          const pid = yield* Effect.scoped(Effect.gen(function*() {
            const replaying = yield* heldPipe(segment, "reads")
            const refusedBeside = Effect.andThen(replaying, refused(restore, target))
            yield* killed(
              restore,
              target,
              Effect.tap(refusedBeside, (words) => Effect.sync(() => assert.include(words, "is running")))
            )
            const pid = postmasterIn(`${targetDir}/postgres.part`) ?? 0
            assert.isTrue(runs(pid), "Postgres outlives the command")
            yield* fs.rename(`${segment}.away`, segment)
            assert.include(yield* done(restore, target), "Restored.")
            return pid
          }))
          assert.isFalse(runs(pid), "F352")
          assert.sameMembers(yield* namesIn(targetDir), ["postgres", "secrets"])
          yield* Effect.scoped(serverOn(target))
          assert.include(yield* done(["account", "show", "ada"], target), "ada")
        }))
    )

    it.effect(
      "F353: a killed `backup` is no file; after a killed `restore` nothing starts before its repetition, which succeeds",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const [dataDir, files] = [yield* folder, yield* folder]
          const source = { DATA_DIR: dataDir }
          yield* done(createAda, source)
          const name = `ab/ab${"c".repeat(30)}.png`
          const media = `media/files/${name}`
          yield* fs.makeDirectory(`${dataDir}/media/files/ab`, { recursive: true })
          yield* fs.writeFile(`${dataDir}/${media}`, new Uint8Array(16_777_216).fill(7))
          const file = `${files}/backup.tar`
          yield* killed(["backup", file], source, appears(`${file}.part`))
          assert.deepStrictEqual(yield* namesIn(files), ["backup.tar.part"])
          assert.include(yield* done(["backup", file], source), "1 files")
          assert.deepStrictEqual(yield* namesIn(files), ["backup.tar"])

          const targetDir = yield* folder
          const target = { DATA_DIR: targetDir }
          yield* Effect.scoped(Effect.gen(function*() {
            yield* fs.makeDirectory(`${targetDir}/media/files/ab`, { recursive: true })
            const writing = yield* heldPipe(`${targetDir}/${media}.part`, "writes")
            yield* killed(["restore", file], target, writing)
          }))
          assert.include(yield* refused(["doctor"], target), "did not end", "F353")
          assert.include(yield* refused(createAda, target), "did not end", "F353")
          assert.include(yield* refusedStart(target), "did not end", "F353")

          assert.include(yield* done(["restore", file], target), "1 files")
          assert.strictEqual(
            (yield* fs.stat(`${targetDir}/${media}`)).size,
            (yield* fs.stat(`${dataDir}/${media}`)).size
          )
          assert.deepStrictEqual(yield* namesIn(`${targetDir}/media/files/ab`), [name.slice(3)])
          assert.sameMembers(yield* namesIn(targetDir), ["media", "postgres", "secrets"])
          assert.include(yield* done(["account", "show", "ada"], target), "ada")
          yield* Effect.scoped(serverOn(target))
        }))
    )
  }
)
