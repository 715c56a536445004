import type { Scope } from "effect"
import type { Fanout } from "../../../services/intents/Fanouts.ts"
import { fanoutsRoundMax } from "../../../services/intents/Fanouts.ts"

/**
 * An actor's in-memory view of its fan-out intents: those that it committed itself. Other rows may come from a previous
 * owner, or from a commit whose response was lost. They are read when something signals that they may exist.
 */
export interface Backlog {
  /** Scope of the actor's fan-out fiber. */
  readonly scope: Scope.Scope
  running: boolean
  /** True if work was requested since the fan-out last started to look for it. */
  wakeRequested: boolean
  /** True if there may be rows that are not among `known`. */
  unread: boolean
  /** Incremented when a read of rows begins and when it ends, so it is odd during a read. */
  reads: number
  /** Intents that the running command has written, committed or not. */
  written: ReadonlyArray<Fanout>
  /** Committed intents that are not started yet, `fanoutsRoundMax` at most. */
  known: ReadonlyArray<Fanout>
}

const none: ReadonlyArray<Fanout> = []

/** Creates a backlog that is `unread`: the account's previous owner may have left work behind. */
export const make = (scope: Scope.Scope): Backlog => ({
  scope,
  running: false,
  wakeRequested: false,
  unread: true,
  reads: 0,
  written: none,
  known: none
})

/** Marks the begin of a command. Returns the value that `committed` needs. */
export const beginCommand = (backlog: Backlog): number => {
  backlog.written = none
  return backlog.reads
}

export const addWritten = (backlog: Backlog, intent: Fanout) => {
  backlog.written = [...backlog.written, intent]
}

/**
 * Records that the command which began at `reads` is committed. If rows were read since then, the command's own rows
 * may be among them; the backlog is then only marked `unread`, so that nothing is processed twice.
 */
export const committed = (backlog: Backlog, asked: number) => {
  const { known, written } = backlog
  backlog.written = none
  if (written.length === 0) return
  const fresh = backlog.reads === asked && asked % 2 === 0 && known.length + written.length <= fanoutsRoundMax
  if (fresh) backlog.known = known.length === 0 ? written : [...known, ...written]
  else backlog.unread = true
}

export const hasWork = ({ known, unread }: Backlog): boolean => unread || known.length > 0

/** Takes the known intents out of the backlog. */
export const takeKnown = (backlog: Backlog): ReadonlyArray<Fanout> => {
  const { known } = backlog
  backlog.known = none
  return known
}
