import { Context, Effect, Layer, type Scope } from "effect"
import { boundedMap } from "../BoundedMap.ts"
import { Broadcast, type BroadcastMessage, type Change } from "../Broadcast.ts"

/** What can change. Tokens do when they are revoked, and somebody's filters, which have messages of their own. */
export type ChangeKind = Change["kind"] | "token" | "filters"

/** Rows of one kind whose last change is known one by one. */
const changedRowsMax = 20_000

/** The last changes of one kind, counted in changes; of rows that are not known any more the latest that it may have been. */
interface Known {
  readonly rows: ReturnType<typeof boundedMap<bigint, number>>
  forgotten: number
  last: number
}

/**
 * What has changed, counted: caches ask it whether what they keep is older than the last change of what that was made
 * of. A change that this node publishes is known here at once. The others know it as soon as the bus brings it.
 */
export class Changes extends Context.Service<Changes, {
  /** Takes over what was published on another node, and may not have come by the bus yet. */
  readonly learn: (changes: ReadonlyArray<Change>) => void
  /** Changes that are known so far. */
  readonly count: () => number
  /** The count at which a row of a kind changed last; 0 where it never did. */
  readonly lastOf: (kind: ChangeKind, id: bigint) => number
  /** The same of any row of a kind. */
  readonly last: (kind: ChangeKind) => number
  /** Calls `listener` at each change of a kind, for as long as the scope is open: for what acts on it at once. */
  readonly each: (kind: ChangeKind, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  /** False while changes on other nodes can be missed. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/caching/Changes") {
  static readonly layer = Layer.effect(
    Changes,
    Effect.gen(function*() {
      const { connected, heard } = yield* Broadcast
      const kinds = new Map<ChangeKind, Known>()
      const listeners = new Set<readonly [kind: ChangeKind, listener: () => void]>()
      /** Those that were counted already, in whichever way they come back. */
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
      const hear = (message: BroadcastMessage) => {
        switch (message._tag) {
          case "Changed":
            if (counted.has(message)) return
            counted.add(message)
            return add(message.kind, message.ids)
          case "Revoked":
            add("token", message.tokenIds)
            return add("user", message.accountIds)
          // Word that the row changed may come later, or be lost with its node.
          case "StatusEvent":
            return message.event === "status.update" ? add("status", [message.statusId]) : undefined
          case "StatusDeleted":
            return add("status", [message.statusId])
          case "FiltersChanged":
            return add("filters", [message.accountId])
          case "NotificationCreated":
          case "NotificationsMerged":
          case "ConversationChanged":
            return undefined
        }
      }
      yield* heard(hear)

      return Changes.of({
        learn: (changes) => changes.forEach(hear),
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
