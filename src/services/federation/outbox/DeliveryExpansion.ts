import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { InboxId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { idRows, rowsOf, singleRow } from "../../database/Rows.ts"
import { type Fanout, withoutProgress } from "../../intents/Fanouts.ts"
import { type Deliver, type OutgoingActivity, toColumns } from "../../intents/Intent.ts"
import { traced } from "../../runtime/Traced.ts"
import { currentTraceParent } from "../../runtime/TraceParents.ts"
import { blocksDomain, eitherBlocks } from "../../visibility/HiddenAccounts.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import type { Rendered } from "./OutgoingActivities.ts"

const candidateRows = rowsOf(
  Schema.Struct({ asked: Schema.Int, last: Schema.NullOr(Schema.BigInt), inboxes: Schema.Array(InboxId) })
)
const inboxIdRows = rowsOf(Schema.Struct({ inboxId: InboxId }))

/** Maximum accounts per kind of interaction whose servers receive changes of a post. */
const interactedMax = 2_000

/** Progress of an expansion: the index of the account whose followers are processed, and the last processed follow. */
export interface Progress {
  readonly phase: number
  readonly cursor: bigint
}

/** Expands an activity into deliveries, by slices of followers; use only inside the account's transaction. */
export class DeliveryExpansion extends Context.Service<DeliveryExpansion, {
  /** Writes a slice; the first one also has all individual recipients. `next` is undefined after the last slice. */
  readonly slice: (
    fanoutId: bigint,
    rendered: Rendered,
    progress: Progress,
    rows: number
  ) => Effect.Effect<{ readonly hosts: HostNames; readonly next: Progress | undefined }, SqlError>
  /** Enqueues the fan-out of a local post's change, if another server knows the post. */
  readonly enqueueChange: (
    accountId: bigint,
    statusId: bigint,
    change: "Update" | "Delete"
  ) => Effect.Effect<void, SqlError>
  /**
   * Enqueues the fan-out of an account's own news, if it has remote followers; an account's deletion and a rejected
   * reply in any case.
   */
  readonly tellFollowers: (
    accountId: bigint,
    statusId: bigint | null,
    outgoing: OutgoingActivity
  ) => Effect.Effect<Fanout | undefined, SqlError>
}>()("murmuration/services/federation/outbox/DeliveryExpansion") {
  static readonly layerNoDeps = Layer.effect(
    DeliveryExpansion,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* Outbox

      const people = (statusId: bigint) =>
        sql`(SELECT account_id FROM favourites WHERE status_id = ${statusId} LIMIT ${rowsMax(sql, interactedMax)})
          UNION (SELECT account_id FROM emoji_reactions WHERE status_id = ${statusId} LIMIT ${
          rowsMax(sql, interactedMax)
        })
          UNION (SELECT account_id FROM statuses WHERE reblog_of_id = ${statusId} AND NOT local LIMIT ${
          rowsMax(sql, interactedMax)
        })
          UNION (SELECT account_id FROM statuses WHERE in_reply_to_id = ${statusId} AND NOT local LIMIT ${
          rowsMax(sql, interactedMax)
        })
          UNION (SELECT account_id FROM quotes WHERE quoted_status_id = ${statusId} AND state = 'accepted' LIMIT ${
          rowsMax(sql, interactedMax)
        })
          UNION (SELECT account_id FROM poll_votes WHERE status_id = ${statusId} LIMIT ${rowsMax(sql, interactedMax)})`

      /** Selects inboxes that received a post of the account, and those of accounts that it follows. */
      const everybody = (accountId: bigint) =>
        sql`SELECT unnest(t.inbox_ids) FROM statuses s JOIN reaches t ON t.about = s.id WHERE s.account_id = ${accountId}
          UNION SELECT r.inbox_id FROM follows f JOIN remote_actors r ON r.account_id = f.target_account_id
            WHERE f.account_id = ${accountId}`

      /**
       * SQL condition for followers (`a`): no block exists between them and the sender, and the sender does not block
       * their domain.
       */
      const welcome = (senderId: bigint) =>
        sql`NOT ${eitherBlocks(sql, sql`${senderId}::bigint`, sql`a.id`)}
          AND NOT ${blocksDomain(sql, sql`${senderId}::bigint`, sql`a.id`)}`

      const candidates = Effect.fnUntraced(
        function*(
          fanoutId: bigint,
          { item, recipients, statusId }: Rendered,
          { cursor, phase }: Progress,
          rows: number
        ) {
          const first = phase === 0 && cursor === 0n
          const followersOf = recipients.followersOf[phase] ?? null
          const named = first ? recipients.accountIds : []
          const reached = !first || !recipients.reached
            ? sql``
            : statusId === null
            ? sql`UNION ${everybody(item.senderId)}`
            : sql`UNION SELECT unnest(inbox_ids) FROM reaches WHERE about = ${statusId}`
          const relayed = first && recipients.relayed
            ? sql`UNION SELECT inbox_id FROM relays WHERE state = 'accepted'`
            : sql``
          const interacted = first && recipients.interacted && statusId !== null
          return singleRow(
            yield* candidateRows(sql`
            WITH slice AS MATERIALIZED (SELECT id, account_id FROM follows
              WHERE target_account_id = ${followersOf}::bigint AND remote AND id > ${cursor} ORDER BY id LIMIT ${
              rowsMax(sql, rows)
            }),
            named AS (SELECT account_id FROM slice UNION SELECT unnest(${named}::bigint[])
              ${interacted ? sql`UNION ${people(statusId)}` : sql``}),
            wanted AS (SELECT r.inbox_id AS id FROM named n JOIN remote_actors r ON r.account_id = n.account_id
                JOIN accounts a ON a.id = n.account_id WHERE a.suspended_at IS NULL AND ${welcome(item.senderId)}
              ${reached} ${relayed}),
            known AS MATERIALIZED (SELECT unnest(inbox_ids) AS id FROM outgoing_activities WHERE fanout_id = ${fanoutId})
            SELECT (SELECT count(*)::int FROM slice) AS asked, (SELECT max(id) FROM slice) AS last,
              ARRAY(SELECT i.id FROM wanted w JOIN inboxes i ON i.id = w.id JOIN hosts h ON h.id = i.host_id
                WHERE i.gone_at IS NULL AND h.paused_by IS DISTINCT FROM 'failures' AND NOT EXISTS (
                  SELECT FROM known k WHERE k.id = i.id)
                ORDER BY i.id) AS inboxes`)
          )
        }
      )

      /**
       * Deletes deliveries of the post that were never tried, and returns the inboxes that never got it: they need no
       * Delete. Inboxes of servers that fetched the post are not among them.
       */
      const unsent = Effect.fnUntraced(function*(statusId: bigint, inboxIds: ReadonlyArray<number>) {
        const rows = yield* inboxIdRows(sql`
          WITH gone AS (DELETE FROM deliveries WHERE about = ${statusId} AND inbox_id = ANY (${inboxIds}::int[]) AND tries = 0
            RETURNING inbox_id, activity_id)
          SELECT g.inbox_id FROM gone g JOIN outgoing_activities a ON a.id = g.activity_id
          WHERE a.type IN ('Create', 'Announce') AND NOT EXISTS (SELECT FROM reaches t
            WHERE t.about = ${statusId} AND g.inbox_id = ANY (t.given_to))`)
        return new Set(rows.map(({ inboxId }) => inboxId))
      })

      const remember = (statusId: bigint, inboxIds: ReadonlyArray<number>) =>
        sql`INSERT INTO reaches (about, inbox_ids) VALUES (${statusId}, ${inboxIds}::int[])
          ON CONFLICT (about) DO UPDATE SET inbox_ids = reaches.inbox_ids ||
            ARRAY(SELECT unnest(excluded.inbox_ids) EXCEPT SELECT unnest(reaches.inbox_ids))`

      const slice = traced("DeliveryExpansion.slice")(
        function*(fanoutId: bigint, rendered: Rendered, progress: Progress, rows: number) {
          const { asked, inboxes, last } = yield* candidates(fanoutId, rendered, progress, rows)
          const { carries, item, recipients, statusId } = rendered
          const more = asked === rows && last !== null
          const next = more
            ? { phase: progress.phase, cursor: last }
            : progress.phase + 1 < recipients.followersOf.length
            ? { phase: progress.phase + 1, cursor: 0n }
            : undefined
          const ends = statusId !== null && !carries && item.about === statusId
          const spared = ends ? yield* unsent(statusId, inboxes) : new Set<number>()
          const receivers = inboxes.filter((id) => !spared.has(id))
          const hosts = yield* outbox.toInboxes(item, receivers, fanoutId)
          if (ends) yield* sql`DELETE FROM reaches WHERE about = ${statusId}`
          if (receivers.length > 0) {
            if (carries && statusId !== null) yield* remember(statusId, receivers)
            if (next !== undefined) {
              yield* sql`UPDATE outgoing_activities SET inbox_ids = inbox_ids || ${receivers}::int[] WHERE fanout_id = ${fanoutId}`
            }
          }
          return { hosts, next }
        }
      )

      const enqueueChange = traced("DeliveryExpansion.enqueueChange")(
        function*(accountId: bigint, statusId: bigint, change: "Update" | "Delete") {
          if (!outbox.enabled) return
          const now = yield* Clock.currentTimeMillis
          const { details } = toColumns({ _tag: "deliver", statusId, leaves: change, number: "0" })
          yield* sql`INSERT INTO fanouts (id, account_id, kind, status_id, details, created_at, trace_parent)
            SELECT next_id(${now}), ${accountId}, 'deliver', s.id, ${details}::jsonb, ${new Date(now)},
              ${yield* currentTraceParent}::text
            FROM statuses s WHERE s.id = ${statusId} AND s.local AND (EXISTS (SELECT FROM reaches WHERE about = s.id)
              OR EXISTS (SELECT FROM (${people(statusId)}) p JOIN remote_actors r ON r.account_id = p.account_id))`
        }
      )

      const tellFollowers = traced("DeliveryExpansion.tellFollowers")(
        function*(accountId: bigint, statusId: bigint | null, outgoing: OutgoingActivity) {
          if (!outbox.enabled) return undefined
          const now = yield* Clock.currentTimeMillis
          const intent: Deliver = { _tag: "deliver", ...(statusId === null ? {} : { statusId }), ...outgoing }
          const traceParent = yield* currentTraceParent
          const [row] = yield* idRows(sql`
            INSERT INTO fanouts (id, account_id, kind, status_id, details, created_at, trace_parent)
            SELECT next_id(${now}), a.id, 'deliver', ${statusId}::bigint, ${toColumns(intent).details}::jsonb,
              ${new Date(now)}, ${traceParent}::text FROM accounts a WHERE a.id = ${accountId} AND a.domain IS NULL
              AND (${outgoing.leaves === "Farewell" || outgoing.leaves === "RejectReply"} OR EXISTS (SELECT FROM follows
                WHERE target_account_id = a.id AND remote)) RETURNING id`)
          return row === undefined ? undefined : withoutProgress(row.id, intent, traceParent)
        }
      )
      return DeliveryExpansion.of({ tellFollowers, enqueueChange, slice })
    })
  )
  static readonly layer = DeliveryExpansion.layerNoDeps.pipe(Layer.provide(Outbox.layer))
}
