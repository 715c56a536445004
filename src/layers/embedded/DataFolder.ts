import { Clock, Effect, FileSystem, Option, Path, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { spawnSync } from "node:child_process"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Binaries } from "./Binaries.ts"
import * as RunAs from "./RunAs.ts"

/** Role that owns everything in an embedded Postgres. */
export const username = "murmuration"

const failed = (message: string) => new OperatorError({ message })

/** Returns the data folder of the embedded Postgres. */
export const of = Effect.fnUntraced(function*(dataDir: string) {
  const path = yield* Path.Path
  return path.resolve(dataDir, "postgres")
})

const versionIn = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.option(Effect.map(fs.readFileString(path.join(folder, "PG_VERSION")), (text) => text.trim()))
})

/** Returns true if the folder holds a database of any version. */
export const exists = (folder: string) => Effect.map(versionIn(folder), Option.isSome)

/**
 * Fails if the data was written by another major version, which this Postgres cannot read, or if Postgres does not run.
 */
export const checkVersion = traced("DataFolder.checkVersion")(function*(folder: string, binaries: Binaries) {
  const found = Option.getOrElse(yield* versionIn(folder), () => "")
  const words = spawnSync(binaries.postgres, ["--version"], { encoding: "utf8", cwd: "/" })
  if (words.status !== 0) {
    return yield* failed(
      `The embedded Postgres does not run on this machine (${(words.stderr ?? "").trim() || words.error?.message}). ` +
        "Set DATABASE_URL to your own Postgres."
    )
  }
  const own = /(\d{1,4})\./.exec(words.stdout)?.[1]
  if (found !== "" && found !== own) {
    return yield* failed(
      `${folder} was written by Postgres ${found}, this server has Postgres ${own}. Export the data with the version ` +
        `that wrote it (pg_dumpall), move the folder away and import it, or set DATABASE_URL to a Postgres ${found}.`
    )
  }
})

/** initdb's error for a user without an entry in /etc/passwd; Postgres itself needs none. */
const nameless = /could not look up effective user ID/

/** Name of a folder in which a database is created. */
const draftName = /^postgres\.[0-9a-f]{8}-[0-9a-f-]{27}$/
/** Age from which such a folder was left by a crash, in milliseconds: creating a database takes seconds. */
const draftMillisMax = 3_600_000

/** Removes the folders that a crash left while a database was created. */
export const removeDrafts = traced("DataFolder.removeDrafts")(function*(dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const oldest = (yield* Clock.currentTimeMillis) - draftMillisMax
  const names = yield* Effect.orElseSucceed(fs.readDirectory(dataDir), () => [])
  yield* Effect.forEach(names.filter((name) => draftName.test(name)), (name) => {
    const draft = path.join(dataDir, name)
    return fs.stat(draft).pipe(
      Effect.flatMap(({ mtime }) =>
        Option.exists(mtime, (time) => time.getTime() < oldest) ? fs.remove(draft, { recursive: true }) : Effect.void
      ),
      Effect.ignore
    )
  }, { discard: true })
})

/**
 * Creates the database in `folder`. It is built in a temporary folder and renamed: a crash leaves no partial database,
 * and of two concurrent servers one wins and the other uses its result.
 */
export const initialise = traced("DataFolder.initialise")(
  function*(folder: string, binaries: Binaries, runAs: RunAs.RunAs, password: Redacted.Redacted<string>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const random = yield* SecureRandom.SecureRandom
    const draft = `${folder}.${yield* random.uuidV4()}`
    const passwordFile = path.join(draft, "password")
    yield* Effect.gen(function*() {
      yield* fs.makeDirectory(path.join(draft, "data"), { recursive: true, mode: 0o700 })
      yield* fs.writeFileString(passwordFile, Redacted.value(password), { mode: 0o600 })
      yield* changeOwner(draft, runAs)
      const initdbArgs = [
        "-D",
        path.join(draft, "data"),
        "-U",
        username,
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--locale=C.UTF-8",
        "--no-instructions"
      ]
      const run = ({ args, options, program }: ReturnType<typeof RunAs.command>) =>
        spawnSync(program, args, {
          ...options,
          encoding: "utf8",
          cwd: "/",
          env: { LC_ALL: "C", PATH: "/usr/bin:/bin" }
        })
      const first = run(RunAs.command(runAs, binaries.initdb, initdbArgs))
      const second = first.status !== 0 && nameless.test(first.stderr)
        ? run(RunAs.named(runAs, binaries.initdb, initdbArgs))
        : first
      const nobody = second.status !== 0 && second !== first ? RunAs.asNobody(runAs) : undefined
      const result = nobody === undefined
        ? second
        : yield* changeOwner(draft, nobody).pipe(
          Effect.map(() => run(RunAs.command(nobody, binaries.initdb, initdbArgs))),
          Effect.tap(() => changeOwner(draft, runAs))
        )
      if (result.status !== 0) {
        return yield* failed(`Postgres could not create its data in ${folder}: ${result.stderr || result.error}`)
      }
      yield* fs.rename(path.join(draft, "data"), folder).pipe(
        Effect.catch((error) =>
          Effect.flatMap(exists(folder), (isPresent) => isPresent ? Effect.void : Effect.fail(error))
        )
      )
    }).pipe(Effect.ensuring(Effect.ignore(fs.remove(draft, { recursive: true }))))
  },
  Effect.catchTag("PlatformError", (error) => failed(`Postgres could not create its data: ${error.message}`))
)

/** Changes the owner of a folder and its contents to the user that Postgres runs as. */
export const changeOwner = traced("DataFolder.changeOwner")(function*(folder: string, runAs: RunAs.RunAs) {
  const fs = yield* FileSystem.FileSystem
  const owner = RunAs.owner(runAs)
  if (owner === undefined) return
  const { uid } = yield* fs.stat(folder)
  if (Option.getOrUndefined(uid) === owner.uid) return
  const changed = spawnSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder], { encoding: "utf8" })
  if (changed.status !== 0) return yield* failed(`The owner of ${folder} could not be changed: ${changed.stderr}`)
})
