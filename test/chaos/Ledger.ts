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
  readonly slot: string
}

/** A client's command, retried until a node responds. */
export interface Entry {
  readonly kind: Kind
  readonly by: string
  /** Target of the command: the text of a new post, otherwise an id. */
  readonly target: string
  readonly text: string | undefined
  readonly began: number
  readonly attempts: Array<Attempt>
  /** Done, refused, or unknown. */
  outcome: "done" | "refused" | "unknown"
  /** Id of the created post. */
  id: string | undefined
}

/** An event received from a stream. */
export interface ReceivedEvent {
  readonly by: string
  readonly connection: number
  readonly at: number
  readonly event: string
  /** Subject of the event; for an edit also its time, so that each is unique. */
  readonly target: string
}

/** An injected fault. */
export interface InjectedFault {
  readonly kind: string
  readonly nodeName: string
  readonly began: number
  /** CPU usage up to that time. */
  readonly cpu: Cpu
  /** Time when the machines were whole again; nodes may need longer to notice. */
  ended: number
}

/** All observations of a run. */
export class Ledger {
  readonly entries: Array<Entry> = []
  /** Requests for homes. */
  readonly readings: Array<Attempt> = []
  readonly events: Array<ReceivedEvent> = []
  readonly faults: Array<InjectedFault> = []
  private readonly zero = performance.now()

  /** Milliseconds since the run began. */
  get now() {
    return performance.now() - this.zero
  }

  /** Returns all commands about the entry's target, in the order of their first attempts. */
  historyOf({ target, by }: Entry) {
    return this.entries.filter((entry) => entry.by === by && (entry.target === target || entry.id === target))
  }

  /**
   * Returns the last command of the given kinds per target, in the order of sending; commands on a target are
   * sequential.
   */
  lastOf(kinds: ReadonlyArray<Kind>) {
    const last = new Map<string, Entry>()
    for (const entry of this.entries) {
      if (kinds.includes(entry.kind) && entry.outcome !== "refused") last.set(`${entry.by} ${entry.target}`, entry)
    }
    return last
  }
}
