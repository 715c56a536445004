import type { Cpu } from "./Cpu.ts"

/** Kinds of client requests, in the API's words. */
export type Kind =
  | "post"
  | "edit"
  | "delete"
  | "favourite"
  | "unfavourite"
  | "reblog"
  | "unreblog"
  | "bookmark"
  | "unbookmark"
  | "follow"
  | "unfollow"

/** A request with its status (0 without a response); times are in milliseconds since the start of the run. */
export interface Attempt {
  readonly began: number
  readonly ended: number
  readonly status: number
  readonly place: string
}

/** A client's command, retried until it is answered. */
export interface Entry {
  readonly kind: Kind
  readonly by: string
  /** Target of the command: the text of a new post, otherwise an id. */
  readonly about: string
  readonly text: string | undefined
  readonly began: number
  readonly attempts: Array<Attempt>
  /** Done, refused for good, or unknown. */
  outcome: "done" | "refused" | "unknown"
  /** Id of the created post. */
  id: string | undefined
}

/** A message on a stream. */
export interface Heard {
  readonly by: string
  readonly connection: number
  readonly at: number
  readonly event: string
  /** Subject of the event; for an edit with its time, so that each is unique. */
  readonly about: string
}

/** Something that was done to the machines. */
export interface Happened {
  readonly kind: string
  readonly where: string
  readonly began: number
  /** Usage up to that time. */
  readonly cpu: Cpu
  /** When the machines were whole again; nodes may need longer to notice. */
  ended: number
}

/** Everything that a run saw. */
export class Ledger {
  readonly entries: Array<Entry> = []
  /** Homes that were read. */
  readonly readings: Array<Attempt> = []
  readonly heard: Array<Heard> = []
  readonly faults: Array<Happened> = []
  private readonly zero = performance.now()

  /** Milliseconds since the run began. */
  get now() {
    return performance.now() - this.zero
  }

  /** All that was asked for about a thing, in the order in which it was. */
  historyOf({ about, by }: Entry) {
    return this.entries.filter((entry) => entry.by === by && (entry.about === about || entry.id === about))
  }

  /** The last command about a thing of some kinds, in the order in which they were sent; one at a time is under way. */
  lastOf(kinds: ReadonlyArray<Kind>) {
    const last = new Map<string, Entry>()
    for (const entry of this.entries) {
      if (kinds.includes(entry.kind) && entry.outcome !== "refused") last.set(`${entry.by} ${entry.about}`, entry)
    }
    return last
  }
}
