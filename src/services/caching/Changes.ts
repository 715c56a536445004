import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LRUCache } from "lru-cache"
import { Broadcast, type BroadcastMessage, type Change, type ChangeKind } from "../Broadcast.ts"

/** Rows of one kind whose last change is known one by one. */
const changedRowsMax = 20_000

/** The last changes of one kind, counted in changes; of rows that it has forgotten it says the latest that it may have been. */
interface Kept {
  readonly rows: LRUCache<bigint, number>
  forgotten: number
  last: number
}

/** What the work that runs has published, where somebody wants to know. */
const Published = Context.Reference<Array<Change> | undefined>("murmuration/services/caching/Published", {
  defaultValue: () => undefined
})

/**
 * What has changed, counted: caches ask it whether what they keep is older than the last change of what that was made of.
 * A change that is published on this node is known here at once, on the others as soon as the bus brings it.
 */
export class Changes extends Context.Service<Changes, {
  /** Says that rows changed, once the running transaction is committed. No ids: any of the kind may have. */
  readonly publish: (kind: Change["kind"], ids: ReadonlyArray<bigint>) => Effect.Effect<void>
  /** Does work and answers what it published, too, for a caller on another node that must not read what was before. */
  readonly collected: <A, E, R>(
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<{ readonly answer: A; readonly changes: ReadonlyArray<Change> }, E, R>
  /** Takes over what was collected on another node. */
  readonly learn: (changes: ReadonlyArray<Change>) => void
  /** Changes that are known so far. */
  readonly count: () => number
  /** The change, by its count, after which a row of a kind was not changed any more; 0 where it never was. */
  readonly lastOf: (kind: ChangeKind, id: bigint) => number
  /** The same of any row of a kind. */
  readonly last: (kind: ChangeKind) => number
  /** False while changes on other nodes can be missed. */
  readonly connected: Effect.Effect<boolean>
}>()("murmuration/services/caching/Changes") {
  static readonly layer = Layer.effect(
    Changes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { connected, heard, publish } = yield* Broadcast
      const kinds = new Map<ChangeKind, Kept>()
      /** Those that were counted already, however they come back. */
      const known = new WeakSet<Change>()
      let count = 0

      const keptOf = (kind: ChangeKind): Kept => {
        const before = kinds.get(kind)
        if (before !== undefined) return before
        const kept: Kept = {
          rows: new LRUCache<bigint, number>({
            max: changedRowsMax,
            dispose: (change, _id, reason) => {
              if (reason === "evict") kept.forgotten = Math.max(kept.forgotten, change)
            }
          }),
          forgotten: 0,
          last: 0
        }
        kinds.set(kind, kept)
        return kept
      }
      const add = (kind: ChangeKind, ids: ReadonlyArray<bigint>) => {
        const kept = keptOf(kind)
        kept.last = ++count
        if (ids.length === 0) {
          kept.rows.clear()
          kept.forgotten = count
        }
        for (const id of ids) kept.rows.set(id, count)
      }
      const hear = (message: BroadcastMessage) => {
        if (message._tag === "Changed") {
          if (known.has(message)) return
          known.add(message)
          add(message.kind, message.ids)
        }
        if (message._tag !== "Revoked") return
        if (message.tokenIds.length > 0) add("token", message.tokenIds)
        if (message.accountIds.length > 0) add("user", message.accountIds)
      }
      yield* heard(hear)

      return Changes.of({
        publish: (kind, ids) => {
          const change: Change = { _tag: "Changed", kind, ids }
          return Effect.withFiber((fiber) => {
            fiber.getRef(Published)?.push(change)
            return sql.afterCommit(publish(change))
          })
        },
        collected: (work) =>
          Effect.suspend(() => {
            const changes: Array<Change> = []
            return Effect.map(Effect.provideService(work, Published, changes), (answer) => ({ answer, changes }))
          }),
        learn: (changes) => changes.forEach(hear),
        count: () => count,
        lastOf: (kind, id) => {
          const kept = kinds.get(kind)
          return kept === undefined ? 0 : kept.rows.peek(id) ?? kept.forgotten
        },
        last: (kind) => kinds.get(kind)?.last ?? 0,
        connected
      })
    })
  )
}
