import { Context, Effect, Layer, type Scope } from "effect"
import { Broadcast, type BroadcastMessage, type Change } from "../events/Broadcast.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"

/** Kinds of changes. Revoked tokens and changed filters have messages of their own. */
export type ChangeKind = Change["kind"] | "token" | "filters"

/** Maximum rows of a kind whose last change is tracked individually. */
const changedRowsMax = 20_000

/** Last changes of one kind, as change counts. `forgotten` is the latest that an evicted row may have. */
interface Known {
  readonly rows: ReturnType<typeof boundedMap<bigint, number>>
  forgotten: number
  last: number
}

/**
 * Counts changes, so that caches can compare a value's age with the last change of its rows. A change published by this
 * node is counted at once; other nodes count it when the bus delivers it.
 */
export class Changes extends Context.Service<Changes, {
  /** Counts changes published on another node that the bus may not have delivered yet. */
  readonly addRemote: (changes: ReadonlyArray<Change>) => void
  /** Returns the number of changes counted so far. */
  readonly count: () => number
  /** Returns the count at the last change of a row; 0 if it never changed. */
  readonly lastOf: (kind: ChangeKind, id: bigint) => number
  /** Returns the count at the last change of any row of a kind. */
  readonly last: (kind: ChangeKind) => number
  /** Calls `listener` synchronously at each change of a kind, until the scope closes. */
  readonly each: (kind: ChangeKind, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  /** False while changes on other nodes may be missed. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/caching/Changes") {
  static readonly layer = Layer.effect(
    Changes,
    Effect.gen(function*() {
      const { connected, onMessage } = yield* Broadcast
      const kinds = new Map<ChangeKind, Known>()
      const listeners = new Set<readonly [kind: ChangeKind, listener: () => void]>()
      /** Changes already counted; the same object may arrive both by `addRemote` and by the bus. */
      const counted = new WeakSet<Change>()
      let count = 0

      const knownOf = (kind: ChangeKind): Known => {
        const before = kinds.get(kind)
        if (before !== undefined) return before
        const known: Known = {
          rows: boundedMap<bigint, number>(changedRowsMax, {
            dispose: (change, _id, reason) => {
              if (reason === "evict") known.forgotten = Math.max(known.forgotten, change)
            }
          }),
          forgotten: 0,
          last: 0
        }
        kinds.set(kind, known)
        return known
      }
      const add = (kind: ChangeKind, ids: ReadonlyArray<bigint>) => {
        const known = knownOf(kind)
        known.last = ++count
        for (const id of ids) known.rows.set(id, count)
        for (const [listened, listener] of listeners) if (listened === kind) listener()
      }
      const receive = (message: BroadcastMessage) => {
        switch (message._tag) {
          case "Changed":
            if (counted.has(message)) return
            counted.add(message)
            return add(message.kind, message.ids)
          case "Revoked":
            add("token", message.tokenIds)
            return add("user", message.accountIds)
          // The `Changed` message may come later, or be lost with its node.
          case "StatusEvent":
            return message.event === "status.update" ? add("status", [message.statusId]) : undefined
          case "StatusDeleted":
            return add("status", [message.statusId])
          case "FiltersChanged":
            return add("filters", [message.accountId])
          case "NotificationCreated":
          case "NotificationsMerged":
          case "NotificationsDismissed":
          case "ConversationChanged":
            return undefined
        }
      }
      yield* onMessage(receive)

      return Changes.of({
        addRemote: (changes) => changes.forEach(receive),
        count: () => count,
        lastOf: (kind, id) => {
          const known = kinds.get(kind)
          return known === undefined ? 0 : known.rows.peek(id) ?? known.forgotten
        },
        last: (kind) => kinds.get(kind)?.last ?? 0,
        each: (kind, listener) => {
          const entry = [kind, listener] as const
          return Effect.asVoid(Effect.acquireRelease(
            Effect.sync(() => listeners.add(entry)),
            () => Effect.sync(() => listeners.delete(entry))
          ))
        },
        connected
      })
    })
  )
}
