import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { waitsForOthers } from "./HeldStatuses.ts"
import type { FoundStatus } from "./Statuses.ts"
import { visibleTo } from "./Visibility.ts"

const ancestorRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/** Maximum ancestors, and maximum descendants, of a context (S-196). */
const contextStatusesMax = 4_096

/** Thread of a status: ids of its ancestors, oldest first, and of its descendants, depth first. */
interface Thread {
  readonly ancestors: ReadonlyArray<bigint>
  readonly descendants: ReadonlyArray<bigint>
  /** Authors of all statuses that were read. */
  readonly authors: ReadonlySet<bigint>
}

/**
 * Threads, without statuses that the viewer may not see or whose authors it hides; two queries of bounded depth and
 * width.
 */
export class Contexts extends Context.Service<Contexts, {
  readonly of: (viewer: Viewer, status: FoundStatus) => Effect.Effect<Thread>
}>()("murmuration/services/statuses/Contexts") {
  static readonly layer = Layer.effect(
    Contexts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const most = rowsMax(sql, contextStatusesMax)

      const of = traced("Contexts.of")(function*(viewer: Viewer, { accountId, id }: FoundStatus) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const shown = sql`${visibleTo(sql, viewer, "s")} ${
          viewer === undefined
            ? sql``
            : sql`AND NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`s.account_id`, now)}
              AND NOT ${waitsForOthers(sql, viewer, "s")}`
        }`
        // LATERAL with OFFSET 0 makes each step look up one status; a join might scan the table at each depth. The
        // depth limit ends cycles of parents, which only remote statuses can form.
        const ancestors = yield* ancestorRows(sql`
          WITH RECURSIVE up (id, depth) AS (
            SELECT in_reply_to_id, 1 FROM statuses WHERE id = ${id} AND in_reply_to_id IS NOT NULL
            UNION ALL
            SELECT p.in_reply_to_id, up.depth + 1 FROM up
            CROSS JOIN LATERAL (SELECT in_reply_to_id FROM statuses
              WHERE statuses.id = up.id AND in_reply_to_id IS NOT NULL OFFSET 0) p
            WHERE up.depth < ${most})
          SELECT s.id, s.account_id FROM up JOIN statuses s ON s.id = up.id WHERE ${shown} AND s.id <> ${id} ORDER BY up.depth DESC`)
        // UNION dedupes; the limit ends the walk.
        const below = yield* descendantRows(sql`
          WITH RECURSIVE down (id) AS (
            SELECT id FROM statuses WHERE in_reply_to_id = ${id} AND deleted_at IS NULL
            UNION
            SELECT c.id FROM down CROSS JOIN LATERAL (SELECT statuses.id FROM statuses
              WHERE in_reply_to_id = down.id AND deleted_at IS NULL OFFSET 0) c),
          near AS MATERIALIZED (SELECT id FROM down LIMIT ${most})
          SELECT s.id, s.in_reply_to_id AS parent, s.account_id, ${shown} AS shown
          FROM near JOIN statuses s ON s.id = near.id WHERE s.id <> ${id}`)
        return {
          ancestors: [...new Set(ancestors.map(({ id }) => id))],
          descendants: depthFirst(id, accountId, below),
          authors: new Set([accountId, ...[...ancestors, ...below].map((row) => row.accountId)])
        }
      }, Effect.orDie)
      return Contexts.of({ of })
    })
  )
}

const Descendant = Schema.Struct({
  id: Schema.BigInt,
  parent: Schema.BigInt,
  accountId: Schema.BigInt,
  shown: Schema.Boolean
})
type Descendant = typeof Descendant.Type
const descendantRows = rowsOf(Descendant)

/** Orders each status before its replies; among the replies, the author's own come first, then older ones. */
const depthFirst = (root: bigint, rootAuthor: bigint, replies: ReadonlyArray<Descendant>): ReadonlyArray<bigint> => {
  const children = new Map<bigint, Array<Descendant>>()
  for (const reply of replies) {
    const siblings = children.get(reply.parent)
    if (siblings === undefined) children.set(reply.parent, [reply])
    else siblings.push(reply)
  }
  const ordered: Array<bigint> = []
  // Explicit stack, as threads may be thousands of levels deep.
  const stack: Array<{ readonly id: bigint; readonly accountId: bigint; readonly shown: boolean }> = [
    { id: root, accountId: rootAuthor, shown: false }
  ]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { accountId, id, shown } = next
    if (shown) ordered.push(id)
    const own = (reply: Descendant) => reply.accountId === accountId ? 0 : 1
    stack.push(
      ...(children.get(id) ?? []).toSorted((a, b) => own(b) - own(a) || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
    )
    children.delete(id)
  }
  return ordered
}
