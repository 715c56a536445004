import { Effect, FileSystem, Option } from "effect"
import { spawnSync } from "node:child_process"
import { traced } from "../../services/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Binaries } from "./Binaries.ts"

/**
 * As whom Postgres runs. It refuses root. So root starts it as another user. That user may not be able to read the
 * programs or the data. Then root starts it in a user namespace, in which root looks like an ordinary user.
 */
export type RunAs =
  | { readonly kind: "self" }
  | { readonly kind: "user"; readonly uid: number; readonly gid: number }
  | { readonly kind: "namespace" }

/** `nobody`, whom every system knows by this number: initdb wants to know the name of who runs it. */
const unprivileged = 65534

const namespace = ["--user", `--map-user=${unprivileged}`, `--map-group=${unprivileged}`]

/** A command as `runAs` has to start it, with the options of node:child_process that belong to it. */
export const command = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => ({
  program: runAs.kind === "namespace" ? "unshare" : program,
  args: runAs.kind === "namespace" ? [...namespace, program, ...args] : [...args],
  options: runAs.kind === "user" ? { uid: runAs.uid, gid: runAs.gid } : {}
})

/** The same as `nobody`, for a user whose number has no name here (`docker run --user 12345`). */
export const named = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => ({
  ...command({ kind: "namespace" }, program, args),
  options: command(runAs, program, args).options
})

/**
 * Chooses for a data folder, whose parent has to exist. Data that belongs to an ordinary user already stays with that
 * user; a new folder goes to `nobody`.
 */
export const choose = traced("RunAs.choose")(function*(binaries: Binaries, folder: string, parent: string) {
  if (process.getuid?.() !== 0) return { kind: "self" } satisfies RunAs
  const fs = yield* FileSystem.FileSystem
  const owner = yield* fs.stat(folder).pipe(
    Effect.map((info) => ({ uid: Option.getOrElse(info.uid, () => 0), gid: Option.getOrElse(info.gid, () => 0) })),
    Effect.orElseSucceed(() => ({ uid: 0, gid: 0 }))
  )
  const { gid, uid } = owner.uid === 0 ? { uid: unprivileged, gid: unprivileged } : owner
  const reads = spawnSync("/bin/sh", ["-c", "test -x \"$1\" && test -x \"$2\"", "sh", binaries.postgres, parent], {
    uid,
    gid,
    cwd: "/"
  })
  if (reads.status === 0) return { kind: "user", uid, gid } satisfies RunAs
  const mapped = spawnSync("unshare", [...namespace, binaries.postgres, "--version"], { cwd: "/" })
  if (mapped.status === 0) return { kind: "namespace" } satisfies RunAs
  return yield* new OperatorError({
    message:
      `Postgres does not run as root, and user ${uid} cannot enter ${parent} or the folder of ${binaries.postgres}. ` +
      "Start the server as an ordinary user, move it and DATA_DIR to folders that others may enter, or set DATABASE_URL."
  })
})

/** The numeric owner that the data must have on disk for `runAs`; undefined where nothing may be changed. */
export const owner = (runAs: RunAs): { readonly uid: number; readonly gid: number } | undefined => {
  switch (runAs.kind) {
    case "self":
      return undefined
    case "user":
      return runAs
    case "namespace":
      return { uid: 0, gid: 0 }
  }
}
