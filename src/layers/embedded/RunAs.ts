import { Effect, FileSystem, Option } from "effect"
import { spawnSync } from "node:child_process"
import { traced } from "../../services/Traced.ts"
import { OperatorError } from "../OperatorError.ts"
import type { Binaries } from "./Binaries.ts"

/**
 * As whom Postgres runs. It refuses root. So root starts it as another user. That user may not be able to read the
 * programs or the data. Then root starts it in a user namespace, in which root looks like an ordinary user. Where there
 * are none, as in most containers, that user gets the one capability of root that lets it into folders of others.
 */
export type RunAs =
  | { readonly kind: "self" }
  | { readonly kind: "user"; readonly uid: number; readonly gid: number }
  | { readonly kind: "namespace" }
  | { readonly kind: "capability"; readonly uid: number; readonly gid: number; readonly capability: Capability }

/** Reading what others may not, or, where a container leaves root no less, all that files forbid. */
const capabilities = ["dac_read_search", "dac_override"] as const
type Capability = typeof capabilities[number]

/** `nobody`, whom every system knows by this number: initdb wants to know the name of who runs it. */
const unprivileged = 65534

const namespace = ["--user", `--map-user=${unprivileged}`, `--map-group=${unprivileged}`]

/** The bit has `access()` heed the capability, by which Postgres looks for its own programs. */
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

/** A command as `runAs` has to start it, with the options of node:child_process that belong to it. */
export const command = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => {
  const [first = program, ...rest] = [...wrapped(runAs), program, ...args]
  return { program: first, args: rest, options: runAs.kind === "user" ? { uid: runAs.uid, gid: runAs.gid } : {} }
}

/** The same as `nobody`, for a user whose number has no name here (`docker run --user 12345`). */
export const named = (runAs: RunAs, program: string, args: ReadonlyArray<string>) => ({
  ...command({ kind: "namespace" }, program, args),
  options: command(runAs, program, args).options
})

/** The same as `nobody`, for root where there are no user namespaces: what is made is given to its owner afterwards. */
export const asNobody = (runAs: RunAs): RunAs | undefined =>
  runAs.kind === "user" || runAs.kind === "capability"
    ? { ...runAs, uid: unprivileged, gid: unprivileged }
    : undefined

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
  const enters = (runAs: RunAs) => {
    const entering = ["-c", "test -x \"$1\" && test -x \"$2\"", "sh", binaries.postgres, parent]
    const { args, options, program } = command(runAs, "/bin/sh", entering)
    return spawnSync(program, args, { ...options, cwd: "/" }).status === 0
  }
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
      "Start the server as an ordinary user, move it and DATA_DIR to folders that others may enter, or set DATABASE_URL."
  })
})

/** The numeric owner that the data must have on disk for `runAs`; undefined where nothing may be changed. */
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
