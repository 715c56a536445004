import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { gatheredOrAlone } from "../../Batches.ts"
import { rowsMax } from "../../Paging.ts"
import { accountIdRows } from "../../Rows.ts"
import { isId } from "../documents/Reading.ts"

/** Activities of one sender that may wait; more are for later. */
export const waitingPerSenderMax = 1_000
/** Activities that one statement writes down. */
const recordedAtOnceMax = 100

/**
 * Time in which what is signed in one second may arrive, in milliseconds: longer than any request takes. A later copy is a
 * replay, and has no effect.
 */
const sameSecondMillisMax = 120_000

/** An activity as it came in. */
export interface Incoming {
  /** Undefined stands for what has no id. */
  readonly uri: string | undefined
  readonly document: string
  /** When its sender signed it, in milliseconds since 1970. */
  readonly signedMillis: number
  /** Whether it may have its effect under the same id again: signed later than before, and than its Undo or Delete. */
  readonly repeats: boolean
  /**
   * Somebody else handed it on with its author's proof, at any time and in any spelling: it has no effect where the
   * author did something under its id at that time or later.
   */
  readonly proven?: boolean
}

interface ReceivedActivity extends Incoming {
  readonly accountId: bigint
  readonly uri: string
  readonly digest: bigint
}

/** What an activity is known by beside what it says (`digestOf`). An id that Postgres would not take stands for itself by its hash, too. */
export const keyOf = (uri: string | undefined, document: string): string =>
  uri !== undefined && isId(uri) ? uri : `sha256:${hash("sha256", uri ?? document)}`

/** 64 bits of the activity's hash; a sender who finds a collision keeps only its own activities away. */
const digestOf = (document: string): bigint => hash("sha256", document, "buffer").readBigInt64BE()

/**
 * Writes activities down, in the order in which they came: those that arrive while one statement runs go into the next.
 * A flood takes few statements, and none waits for others. An activity is kept before the caller goes on; one of an
 * account that is gone by now has no effect. What is kept knows when it was signed, or the later time of what ended it:
 * of what repeats, only what was signed after that is new. Signatures have seconds: within one, what arrives after another
 * activity of its sender is new, so that the order of arrival decides. Where the earlier one is still waiting, the later one
 * stands in its place, at the end.
 */
export const make = (sql: SqlClient) => {
  /** Answers for each whether it is kept: not where too much of its sender waits. */
  const write = Effect.fnUntraced(function*(arrivals: ReadonlyArray<ReceivedActivity>) {
    // No statement may touch a row twice.
    const byKey = new Map<string, ReceivedActivity>()
    for (const one of arrivals) {
      const key = `${one.accountId} ${one.uri} ${one.digest}`
      const before = byKey.get(key)
      if (before !== undefined && (!one.repeats || before.signedMillis > one.signedMillis)) continue
      // The later one has the later place.
      byKey.delete(key)
      byKey.set(key, one)
    }
    const batch = [...byKey.values()]
    const at = new Date(yield* Clock.currentTimeMillis)
    const sameSecond = new Date(at.getTime() - sameSecondMillisMax)
    const rows = yield* accountIdRows(sql`
        WITH given AS (SELECT * FROM unnest(${batch.map(({ accountId }) => accountId)}::bigint[],
            ${batch.map(({ uri }) => uri)}::text[], ${batch.map(({ document }) => document)}::text[],
            ${batch.map(({ signedMillis }) => new Date(signedMillis))}::timestamptz[],
            ${batch.map(({ repeats }) => repeats)}::boolean[], ${batch.map(({ digest }) => digest)}::bigint[])
          WITH ORDINALITY AS g (account_id, uri, document, signed_at, repeats, digest, place)),
        full_senders AS (SELECT s.account_id FROM (SELECT DISTINCT account_id FROM given) s
          WHERE (SELECT count(*) FROM (SELECT FROM inbound_activities w
            WHERE w.account_id = s.account_id AND w.outcome IS NULL LIMIT ${rowsMax(sql, waitingPerSenderMax)}) w)
            >= ${waitingPerSenderMax}),
        made AS (INSERT INTO inbound_activities AS i (id, account_id, uri, digest, document, received_at, due_at, signed_at)
          SELECT next_id(${at.getTime()}), a.id, g.uri, digest, document, ${at}, ${at}, signed_at FROM given g JOIN accounts a ON a.id = g.account_id
          WHERE account_id NOT IN (SELECT account_id FROM full_senders) ORDER BY place
          ON CONFLICT (account_id, uri, digest) DO UPDATE SET id = excluded.id, document = excluded.document, outcome = NULL,
            tries = 0, received_at = excluded.received_at, due_at = excluded.due_at, signed_at = excluded.signed_at
          WHERE EXISTS (SELECT FROM given g
              WHERE g.account_id = i.account_id AND g.uri = i.uri AND g.digest = i.digest AND g.repeats
                AND (coalesce(i.signed_at, i.due_at) < g.signed_at OR (i.signed_at = g.signed_at AND i.received_at > ${sameSecond}
                  AND (EXISTS (SELECT FROM given o WHERE o.account_id = g.account_id AND o.signed_at = g.signed_at AND o.place < g.place)
                    OR EXISTS (SELECT FROM inbound_activities o WHERE o.id > i.id AND o.account_id = i.account_id
                      AND o.signed_at = i.signed_at))))))
        SELECT account_id FROM full_senders`)
    const full = new Set<bigint>(rows.map(({ accountId }) => accountId))
    return ({ accountId }: ReceivedActivity) => !full.has(accountId)
  })

  // One that cannot be written must not keep the others out.
  const record = gatheredOrAlone({ max: recordedAtOnceMax }, write)
  const hasCome = (accountId: bigint, uri: string, signedMillis: number) =>
    Effect.map(
      sql`SELECT FROM inbound_activities WHERE account_id = ${accountId} AND uri = ${uri}
        AND coalesce(signed_at, due_at) >= ${new Date(signedMillis)} LIMIT 1`,
      (rows) => rows.length > 0
    )
  return Effect.fnUntraced(function*(accountId: bigint, incoming: Incoming): Effect.fn.Return<boolean, SqlError> {
    const { document, signedMillis } = incoming
    const uri = keyOf(incoming.uri, document)
    if (incoming.proven === true && (yield* hasCome(accountId, uri, signedMillis))) return true
    return yield* record({ ...incoming, accountId, uri, digest: digestOf(document) })
  })
}
