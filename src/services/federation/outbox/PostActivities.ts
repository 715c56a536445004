import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import * as Activities from "../documents/Activities.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, instanceSender, Outbox } from "./Outbox.ts"
import * as PairKey from "./PairKey.ts"

type Sent = Effect.Effect<HostNames, SqlError>

/** Local account's favourite, or a poll to vote in, of a remote author's post. */
const Foreign = Schema.Struct({
  id: Schema.BigInt,
  actorPath: LocalIds.ActorPath,
  uri: Schema.String,
  authorId: Schema.BigInt,
  /** Id of the author. */
  author: Schema.String
})
const favouriteRows = rowsOf(Foreign)
const pollRows = rowsOf(Schema.Struct({ ...Foreign.fields, options: Schema.Array(Schema.String) }))

const reportRows = rowsOf(Schema.Struct({
  comment: Schema.String,
  uri: Schema.NullOr(Schema.String),
  posts: Schema.Array(Schema.String),
  collections: Schema.Array(Schema.String),
  receivers: Schema.Array(Schema.BigInt),
  receiverUris: Schema.Array(Schema.String)
}))

/** Interactions of local accounts with remote posts, sent to their authors, and forwarded reports. */
export class PostActivities extends Context.Service<PostActivities, {
  /** Sends a favourite that was just stored. */
  readonly like: (accountId: bigint, statusId: bigint) => Sent
  /** Sends the Undo of a favourite; call before its row is deleted. */
  readonly undoLike: (accountId: bigint, statusId: bigint) => Sent
  /** Sends votes by the indexes of the options, one activity per choice. */
  readonly vote: (accountId: bigint, statusId: bigint, choices: ReadonlyArray<number>) => Sent
  /** Forwards a report that was just filed to the servers that it names, without the reporter (row 20). */
  readonly flag: (reportId: bigint, only?: ReadonlyArray<string>) => Sent
}>()("murmuration/services/federation/outbox/PostActivities") {
  static readonly layerNoDeps = Layer.effect(
    PostActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const outbox = yield* Outbox
      const none: HostNames = []

      const favourite = Effect.fnUntraced(function*(accountId: bigint, statusId: bigint, undone: boolean) {
        if (!outbox.enabled) return none
        const [row] = yield* favouriteRows(
          sql`SELECT f.id, me.actor_path, s.uri, s.account_id AS author_id, a.uri AS author
          FROM favourites f JOIN accounts me ON me.id = f.account_id JOIN statuses s ON s.id = f.status_id
            JOIN accounts a ON a.id = s.account_id
          WHERE f.account_id = ${accountId} AND f.status_id = ${statusId} AND me.domain IS NULL AND s.uri IS NOT NULL`
        )
        if (row === undefined) return none
        const activity = Activities.like(LocalIds.actor(config, row.actorPath), row.id, row)
        return yield* outbox.toAccounts({
          senderId: accountId,
          about: PairKey.pairKey(accountId, statusId),
          activity: undone ? Activities.undo(activity) : activity
        }, [row.authorId])
      })

      const vote = traced("PostActivities.vote")(
        function*(accountId: bigint, statusId: bigint, choices: ReadonlyArray<number>) {
          if (!outbox.enabled) return none
          const [row] = yield* pollRows(sql`
            SELECT s.id, me.actor_path, s.uri, s.account_id AS author_id, p.options, a.uri AS author
            FROM statuses s JOIN polls p ON p.status_id = s.id JOIN accounts a ON a.id = s.account_id, accounts me
            WHERE s.id = ${statusId} AND s.uri IS NOT NULL AND me.id = ${accountId} AND me.domain IS NULL`)
          if (row === undefined) return none
          const { actorPath, author, authorId, options, uri } = row
          const actor = LocalIds.actor(config, actorPath)
          const about = PairKey.pairKey(accountId, statusId)
          const hosts = yield* Effect.forEach([...new Set(choices)], (choice) => {
            const option = options[choice]
            const activity = option === undefined
              ? undefined
              : Activities.vote(actor, `${statusId}-${choice}`, { uri, author, option })
            return activity === undefined
              ? Effect.succeed(none)
              : outbox.toAccounts({ senderId: accountId, about, activity }, [authorId])
          })
          return [...new Set(hosts.flat())]
        }
      )

      const flag = traced("PostActivities.flag")(function*(reportId: bigint, only?: ReadonlyArray<string>) {
        if (!outbox.enabled) return none
        const [report] = yield* reportRows(sql`
          SELECT r.comment, a.uri, ARRAY(SELECT s.uri FROM statuses s
              WHERE s.id = ANY (r.status_ids) AND s.uri IS NOT NULL ORDER BY s.id) AS posts,
            ARRAY(SELECT c.uri FROM collections c WHERE c.id = ANY (r.collection_ids) AND c.uri IS NOT NULL
              ORDER BY c.id) AS collections,
            coalesce(t.ids, '{}') AS receivers, coalesce(t.uris, '{}') AS receiver_uris
          FROM reports r JOIN accounts a ON a.id = r.target_account_id
          CROSS JOIN LATERAL (SELECT array_agg(t.id ORDER BY t.id) AS ids, array_agg(t.uri ORDER BY t.id) AS uris
            FROM accounts t WHERE t.uri IS NOT NULL AND t.domain = ANY (${
          only ?? sql`r.forward_domains`
        }) AND (t.id = a.id OR t.id IN (
              SELECT s.in_reply_to_account_id FROM statuses s WHERE s.id = ANY (r.status_ids)))) t
          WHERE r.id = ${reportId}`)
        if (report === undefined || report.uri === null) return none
        const activity = Activities.flag(LocalIds.instanceActor(config), String(yield* Clock.currentTimeMillis), {
          objects: [report.uri, ...report.posts, ...report.collections],
          comment: report.comment,
          receivers: report.receiverUris
        })
        return yield* outbox.toAccounts({ senderId: instanceSender, about: reportId, activity }, report.receivers)
      })

      return PostActivities.of({
        like: traced("PostActivities.like")((accountId, statusId) => favourite(accountId, statusId, false)),
        undoLike: traced("PostActivities.undoLike")((accountId, statusId) => favourite(accountId, statusId, true)),
        vote,
        flag
      })
    })
  )
  static readonly layer = PostActivities.layerNoDeps.pipe(Layer.provide(Outbox.layer))
}
