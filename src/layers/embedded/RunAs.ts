import { Effect, FileSystem, Option } from "effect"
import { spawnSync } from "node:child_process"
import { traced } from "../../services/runtime/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Binaries } from "./Binaries.ts"

/**
 * User that Postgres runs as. It refuses root, so root starts it as another user. If that user cannot read the programs
 * or the data, root starts it in a user namespace, where root looks like an ordinary user. Without user namespaces, as
 * in most containers, the other user gets the one capability that lets it into others' folders.
 */
export type RunAs =
  | { readonly kind: "self" }
  | { readonly kind: "user"; readonly uid: number; readonly gid: number }
  | { readonly kind: "namespace" }
  | { readonly kind: "capability"; readonly uid: number; readonly gid: number; readonly capability: Capability }

/** Reading other users' files or, if the container leaves root nothing smaller, ignoring all file permissions. */
const capabilities = ["dac_read_search", "dac_override"] as const
type Capability = typeof capabilities[number]

/** `nobody`, which has this number on every system: initdb needs the name of its user. */
const unprivileged = 65534

const namespace = ["--user", `--map-user=${unprivileged}`, `--map-group=${unprivileged}`]

/** The secure bit makes `access()` respect the capability; Postgres looks for its own programs by it. */
const setpriv = (uid: number, gid: number, capability: Capability) => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  "--clear-groups",
  "--securebits=+no_setuid_fixup",
  `--inh-caps=+${capability}`,
  `--ambient-caps=+${capability}`
]

const wrapped = (runAs: RunAs): ReadonlyArray<string> =>
  runAs.kind === "namespace"
    ? ["unshare", ...namespace]
    : runAs.kind === "capability"
    ? ["setpriv", ...setpriv(runAs.uid, runAs.gid, runAs.capability)]
    : []

/** Returns a command as `runAs` has to start it, with its options for node:child_process. */
export const command = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => {
  const [first = program, ...rest] = [...wrapped(runAs), program, ...args]
  return { program: first, args: rest, options: runAs.kind === "user" ? { uid: runAs.uid, gid: runAs.gid } : {} }
}

/**
 * Returns a command that runs as `nobody` in a user namespace, for a user id without a name (`docker run --user
 * 12345`).
 */
export const named = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => ({
  ...command({ kind: "namespace" }, program, args),
  options: command(runAs, program, args).options
})

/**
 * Returns `runAs` with the user `nobody`, for root without user namespaces: the caller changes the owner of the result
 * afterwards.
 */
export const asNobody = (runAs: RunAs): RunAs | undefined =>
  runAs.kind === "user" || runAs.kind === "capability"
    ? { ...runAs, uid: unprivileged, gid: unprivileged }
    : undefined

/** Returns true if a condition of the shell is true for the user, with `paths` as `$1`, `$2` and so on. */
export const passes = (runAs: RunAs, condition: string, paths: ReadonlyArray<string>): boolean => {
  const { args, options, program } = command(runAs, "/bin/sh", ["-c", condition, "sh", ...paths])
  return spawnSync(program, args, { ...options, cwd: "/" }).status === 0
}

/**
 * Chooses the user for a data folder, whose parent has to exist. Data of an ordinary user stays with that user; a new
 * folder belongs to `nobody`.
 */
export const choose = traced("RunAs.choose")(function*(binaries: Binaries, folder: string, parent: string) {
  if (process.getuid?.() !== 0) return { kind: "self" } satisfies RunAs
  const fs = yield* FileSystem.FileSystem
  const owner = yield* fs.stat(folder).pipe(
    Effect.map((info) => ({ uid: Option.getOrElse(info.uid, () => 0), gid: Option.getOrElse(info.gid, () => 0) })),
    Effect.orElseSucceed(() => ({ uid: 0, gid: 0 }))
  )
  const { gid, uid } = owner.uid === 0 ? { uid: unprivileged, gid: unprivileged } : owner
  const enters = (runAs: RunAs) => passes(runAs, "test -x \"$1\" && test -x \"$2\"", [binaries.postgres, parent])
  const ways: ReadonlyArray<RunAs> = [
    { kind: "user", uid, gid },
    { kind: "namespace" },
    ...capabilities.map((capability) => ({ kind: "capability", uid, gid, capability } as const))
  ]
  const way = ways.find(enters)
  if (way !== undefined) return way
  return yield* new OperatorError({
    message:
      `Postgres does not run as root, and user ${uid} cannot enter ${parent} or the folder of ${binaries.postgres}. ` +
      "Start the server as an ordinary user, move it and DATA_DIR to folders that other users can enter, or set DATABASE_URL."
  })
})

/** Returns the numeric owner that the data needs on disk for `runAs`; undefined if nothing may be changed. */
export const owner = (runAs: RunAs): { readonly uid: number; readonly gid: number } | undefined => {
  switch (runAs.kind) {
    case "self":
      return undefined
    case "user":
    case "capability":
      return runAs
    case "namespace":
      return { uid: 0, gid: 0 }
  }
}
