import { Clock, Effect, FileSystem, Option, type Path } from "effect"

/** Age from which a folder is removed, in milliseconds: longer than any job works in one. */
export const workMillisMax = 3_600_000

/**
 * Creates empty folders below `root`, each removed with its scope. A killed node leaves its folders behind; they are
 * removed when a node starts, or with the next folder that is created an hour later.
 */
export const make = Effect.fnUntraced(function*(path: Path.Path, root: string) {
  const fs = yield* FileSystem.FileSystem

  const sweep = Effect.gen(function*() {
    const before = (yield* Clock.currentTimeMillis) - workMillisMax
    for (const name of yield* fs.readDirectory(root)) {
      const folder = path.join(root, name)
      const { mtime } = yield* fs.stat(folder)
      const isOld = Option.match(mtime, { onNone: () => false, onSome: (at) => at.getTime() < before })
      if (isOld) yield* fs.remove(folder, { recursive: true, force: true })
    }
  }).pipe(Effect.ignore)

  yield* sweep
  let sweptAt = yield* Clock.currentTimeMillis

  return Effect.gen(function*() {
    yield* fs.makeDirectory(root, { recursive: true, mode: 0o700 })
    const millis = yield* Clock.currentTimeMillis
    if (millis - sweptAt > workMillisMax) {
      sweptAt = millis
      yield* sweep
    }
    return yield* fs.makeTempDirectoryScoped({ directory: root, prefix: "job-" })
  })
})
