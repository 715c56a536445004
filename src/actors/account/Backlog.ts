import type { Scope } from "effect"
import type { Fanout } from "../../services/intents/Fanouts.ts"
import { fanoutsRoundMax } from "../../services/intents/Fanouts.ts"

/**
 * What an actor knows of its intents without asking for them: those that it committed itself. Others may leave rows: an
 * owner before, a commit whose answer was lost. They are asked for when something says that there may be some.
 */
export interface Backlog {
  /** The actor's fan-out lives in it. */
  readonly scope: Scope.Scope
  running: boolean
  /** Somebody asked for work to be done since the fan-out last began to look for it. */
  rung: boolean
  /** There may be rows that are not among `known`. */
  unread: boolean
  /** Counts when rows began to be asked for, and when they were there: odd in between. */
  asked: number
  /** What the command that runs has written, committed or not. */
  written: ReadonlyArray<Fanout>
  /** Committed intents that nobody has begun, `fanoutsRoundMax` at most. */
  known: ReadonlyArray<Fanout>
}

const none: ReadonlyArray<Fanout> = []

/** The previous owner of the account may have left work behind. */
export const make = (scope: Scope.Scope): Backlog => ({
  scope,
  running: false,
  rung: false,
  unread: true,
  asked: 0,
  written: none,
  known: none
})

/** A command begins; answers what `committed` wants to know. */
export const begun = (backlog: Backlog): number => {
  backlog.written = none
  return backlog.asked
}

export const wrote = (backlog: Backlog, intent: Fanout) => {
  backlog.written = [...backlog.written, intent]
}

/**
 * The command that began at `asked` is committed. Where rows were asked for since, its own may be among them, and
 * nothing is taken up twice.
 */
export const committed = (backlog: Backlog, asked: number) => {
  const { known, written } = backlog
  backlog.written = none
  if (written.length === 0) return
  const fresh = backlog.asked === asked && asked % 2 === 0 && known.length + written.length <= fanoutsRoundMax
  if (fresh) backlog.known = known.length === 0 ? written : [...known, ...written]
  else backlog.unread = true
}

export const hasWork = ({ known, unread }: Backlog): boolean => unread || known.length > 0

/** The intents that are known, which are the caller's from now on. */
export const takeKnown = (backlog: Backlog): ReadonlyArray<Fanout> => {
  const { known } = backlog
  backlog.known = none
  return known
}
