import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { batchRequestsOrSingle } from "../../database/Batches.ts"
import { rowsMax } from "../../database/Paging.ts"
import { accountIdRows, nullable } from "../../database/Rows.ts"
import { currentTraceParent, type TraceParent } from "../../runtime/TraceParents.ts"
import { isId } from "../documents/ForeignValues.ts"

/** Maximum waiting activities of one sender; further ones are refused for now. */
export const waitingPerSenderMax = 1_000
/** Maximum activities per statement. */
const recordedAtOnceMax = 100

/**
 * Period in which activities signed in the same second may arrive, in milliseconds: longer than any request takes. A
 * later copy is a replay and has no effect.
 */
const sameSecondMillisMax = 120_000

/** Incoming activity. */
export interface Incoming {
  /** Undefined if the activity has no id. */
  readonly uri: string | undefined
  readonly document: string
  /** Time of signing, in milliseconds since 1970. */
  readonly signedMillis: number
  /**
   * True if it may have an effect again under the same id, when it is signed later than before and later than its Undo
   * or Delete.
   */
  readonly repeats: boolean
  /**
   * Forwarded by another server with its author's proof, at any time and in any serialisation. It has no effect if the
   * author did something under its id at that time or later.
   */
  readonly proven?: boolean
}

interface ReceivedActivity extends Incoming {
  readonly accountId: bigint
  readonly uri: string
  readonly digest: bigint
  readonly traceParent: TraceParent
}

/**
 * Returns the id under which an activity is stored, besides its digest. Ids that Postgres would reject are replaced by
 * their hash, and missing ids by the document's hash.
 */
export const keyOf = (uri: string | undefined, document: string): string =>
  uri !== undefined && isId(uri) ? uri : `sha256:${hash("sha256", uri ?? document)}`

/** Returns 64 bits of the activity's hash. A sender who finds a collision only suppresses its own activities. */
const digestOf = (document: string): bigint => hash("sha256", document, "buffer").readBigInt64BE()

/**
 * Stores activities in order of arrival, in batches: those that arrive during one statement are stored by the next. An
 * activity is stored before the caller continues; one of a deleted account has no effect. Each keeps its signing time,
 * or the later time of whatever ended it: a repeated activity counts only if it is signed after that. Signing times
 * have seconds: within one second, an activity that arrives after another one of its sender counts as new. If the
 * earlier copy still waits, the later one replaces it, at the end of the queue.
 */
export const make = (sql: SqlClient) => {
  /** Returns for each whether it was stored: not if too many of its sender's activities wait. */
  const write = Effect.fnUntraced(function*(arrivals: ReadonlyArray<ReceivedActivity>) {
    // A statement must not write a row twice.
    const byKey = new Map<string, ReceivedActivity>()
    for (const one of arrivals) {
      const key = `${one.accountId} ${one.uri} ${one.digest}`
      const before = byKey.get(key)
      if (before !== undefined && (!one.repeats || before.signedMillis > one.signedMillis)) continue
      // Moves the key to the end, as the later one arrived later.
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
            ${batch.map(({ repeats }) => repeats)}::boolean[], ${batch.map(({ digest }) => digest)}::bigint[],
            ${nullable(batch.map(({ traceParent }) => traceParent))}::text[])
          WITH ORDINALITY AS g (account_id, uri, document, signed_at, repeats, digest, trace_parent, place)),
        full_senders AS (SELECT s.account_id FROM (SELECT DISTINCT account_id FROM given) s
          WHERE (SELECT count(*) FROM (SELECT FROM inbound_activities w
            WHERE w.account_id = s.account_id AND w.outcome IS NULL LIMIT ${rowsMax(sql, waitingPerSenderMax)}) w)
            >= ${waitingPerSenderMax}),
        made AS (INSERT INTO inbound_activities AS i (id, account_id, uri, digest, document, received_at, due_at, signed_at,
            trace_parent)
          SELECT next_id(${at.getTime()}), a.id, g.uri, digest, document, ${at}, ${at}, signed_at, trace_parent FROM given g JOIN accounts a ON a.id = g.account_id
          WHERE account_id NOT IN (SELECT account_id FROM full_senders) ORDER BY place
          ON CONFLICT (account_id, uri, digest) DO UPDATE SET id = excluded.id, document = excluded.document, outcome = NULL,
            tries = 0, received_at = excluded.received_at, due_at = excluded.due_at, signed_at = excluded.signed_at,
            trace_parent = excluded.trace_parent
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

  // An activity that cannot be stored must not fail the others.
  const record = batchRequestsOrSingle({ max: recordedAtOnceMax }, write)
  const isRecorded = (accountId: bigint, uri: string, signedMillis: number) =>
    Effect.map(
      sql`SELECT FROM inbound_activities WHERE account_id = ${accountId} AND uri = ${uri}
        AND coalesce(signed_at, due_at) >= ${new Date(signedMillis)} LIMIT 1`,
      (rows) => rows.length > 0
    )
  return Effect.fnUntraced(function*(accountId: bigint, incoming: Incoming): Effect.fn.Return<boolean, SqlError> {
    const { document, signedMillis } = incoming
    const uri = keyOf(incoming.uri, document)
    if (incoming.proven === true && (yield* isRecorded(accountId, uri, signedMillis))) return true
    const traceParent = yield* currentTraceParent
    return yield* record({ ...incoming, accountId, uri, digest: digestOf(document), traceParent })
  })
}
