import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { InboxId } from "../../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { currentTraceParent } from "../../runtime/TraceParents.ts"
import type { Activity } from "../documents/Activities.ts"
import * as LocalIds from "../LocalIds.ts"

const partyRows = rowsOf(Schema.Struct({ actorPath: LocalIds.ActorPath, uri: Schema.String }))
const hostRows = rowsOf(Schema.Struct({ host: Schema.String }))
const inboxRows = rowsOf(Schema.Struct({ id: InboxId }))

/** Sender id of the server itself. */
export const instanceSender = 0n
/** Interval between deliveries of a low-priority activity, in milliseconds. */
const paceMillis = 20

/** Activity with its sending options. */
export interface OutboxItem {
  /** Account that signs; `instanceSender` is the server. */
  readonly senderId: bigint
  /** Subject: deliveries with the same subject reach an inbox in order. */
  readonly about: bigint
  readonly activity: Activity
  /** True if deliveries carry the digest of the sender's followers. */
  readonly synchronizes?: boolean
  /** Low priority: fewer tries, and deliveries are spread over time. */
  readonly low?: boolean
}

/** Local account and remote account, by their ActivityPub ids. */
interface Parties {
  readonly actor: string
  readonly other: string
}

/** Hosts with new deliveries, to wake after the commit. */
export type HostNames = ReadonlyArray<string>

/** Writes outgoing activities, always inside the current transaction of an actor. Writes nothing without federation. */
export class Outbox extends Context.Service<Outbox, {
  readonly enabled: boolean
  /**
   * Returns both ids if the first account is local and the second is remote; otherwise undefined, as nothing is sent.
   */
  readonly parties: (senderId: bigint, targetId: bigint) => Effect.Effect<Parties | undefined, SqlError>
  /**
   * Sends to the personal inboxes of these accounts; local ones are ignored. Shared inboxes are only for followers and
   * public posts (ActivityPub section 7.1.3).
   */
  readonly toAccounts: (item: OutboxItem, accountIds: ReadonlyArray<bigint>) => Effect.Effect<HostNames, SqlError>
  /** Sends to inboxes by their numbers. With `fanoutId`, all slices of a fan-out share one stored activity. */
  readonly toInboxes: (
    item: OutboxItem,
    inboxIds: ReadonlyArray<number>,
    fanoutId?: bigint
  ) => Effect.Effect<HostNames, SqlError>
}>()("murmuration/services/federation/outbox/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const { federated } = config

      const parties = traced("Outbox.parties")(function*(senderId: bigint, targetId: bigint) {
        if (!federated) return undefined
        const [row] = yield* partyRows(sql`SELECT me.actor_path, a.uri
          FROM accounts me, accounts a
          WHERE me.id = ${senderId} AND me.domain IS NULL AND a.id = ${targetId} AND a.uri IS NOT NULL`)
        return row === undefined ? undefined : { actor: LocalIds.actor(config, row.actorPath), other: row.uri }
      })

      const store = Effect.fnUntraced(function*(item: OutboxItem, at: Date, fanoutId: bigint | undefined) {
        const { activity, low = false, senderId, synchronizes = false } = item
        const { id } = singleRow(
          yield* idRows(sql`
          INSERT INTO outgoing_activities (sender_id, type, uri, about, document, synchronizes, low, fanout_id, created_at,
            trace_parent)
          VALUES (${senderId}, ${activity.type}, ${activity.uri}, ${item.about}, ${
            JSON.stringify(activity.document)
          }, ${synchronizes}, ${low}, ${fanoutId ?? null}, ${at}, ${yield* currentTraceParent})
          ON CONFLICT (fanout_id) WHERE fanout_id IS NOT NULL DO UPDATE SET low = excluded.low RETURNING id`)
        )
        return id
      })

      const toInboxes = traced("Outbox.toInboxes")(
        function*(item: OutboxItem, inboxIds: ReadonlyArray<number>, fanoutId?: bigint) {
          if (!federated || inboxIds.length === 0) return []
          const at = new Date(yield* Clock.currentTimeMillis)
          const id = yield* store(item, at, fanoutId)
          const pace = item.low === true ? paceMillis : 0
          // A delivery is not due before a failed one ahead of it: otherwise each claim would find it again.
          const rows = yield* hostRows(sql`
            WITH failed AS MATERIALIZED (
              SELECT d.inbox_id, max(d.due_at) AS due_at
              FROM outgoing_activities a JOIN deliveries d ON d.activity_id = a.id
              WHERE a.about = ${item.about}::bigint AND a.id < ${id}::bigint AND d.error IS NOT NULL GROUP BY d.inbox_id),
            fresh AS (
              INSERT INTO deliveries (inbox_id, about, activity_id, host_id, due_at)
              SELECT i.id, ${item.about}::bigint, ${id}::bigint, i.host_id,
                greatest(${at}::timestamptz + (given.rank - 1) * ${pace}::int * interval '1 millisecond', f.due_at)
              FROM unnest(${inboxIds}::int[]) WITH ORDINALITY AS given (id, rank) JOIN inboxes i ON i.id = given.id
                LEFT JOIN failed f ON f.inbox_id = i.id
              ON CONFLICT DO NOTHING RETURNING host_id)
            SELECT host FROM hosts WHERE id IN (SELECT host_id FROM fresh)`)
          return rows.map(({ host }) => host)
        }
      )

      const toAccounts = traced("Outbox.toAccounts")(
        function*(item: OutboxItem, accountIds: ReadonlyArray<bigint>) {
          if (!federated || accountIds.length === 0) return []
          // Only a new Follow tests whether a host is back (federation.md section 12).
          const asks = item.activity.type === "Follow"
          const rows = yield* inboxRows(sql`SELECT DISTINCT inbox_number(r.inbox_url) AS id
            FROM remote_actors r LEFT JOIN inboxes i ON i.url = r.inbox_url
              LEFT JOIN hosts h ON h.host = lower(substring(r.inbox_url from '^[a-z]+://([^/?#]+)'))
            WHERE r.account_id = ANY (${accountIds}::bigint[])
              AND (${asks} OR (i.gone_at IS NULL AND h.paused_by IS DISTINCT FROM 'failures'))`)
          return yield* toInboxes(item, rows.map(({ id }) => id))
        }
      )
      return Outbox.of({ enabled: federated, parties, toAccounts, toInboxes })
    })
  )
}
