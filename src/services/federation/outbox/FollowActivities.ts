import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { accountIdRows, idRows, rowsOf, singleRow } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import * as Activities from "../documents/Activities.ts"
import { isBefore } from "../inbox/CountedIds.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import * as PairKey from "./PairKey.ts"

const followRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, uri: Schema.NullOr(Schema.String), accepted: Schema.Boolean })
)
const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const blockRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    blockUri: Schema.NullOr(Schema.String),
    actorPath: LocalIds.ActorPath,
    uri: Schema.String
  })
)

type Sent = Effect.Effect<HostNames, SqlError>

/** Follows and blocks between a local and a remote account; nothing is sent for other pairs. */
export class FollowActivities extends Context.Service<FollowActivities, {
  /** Sends a follow request that was just stored, and gives it its id. */
  readonly follow: (follower: bigint, target: bigint) => Sent
  /** Sends an existing follow or request once more, with its id and low priority: the other server lost it. */
  readonly repeat: (follower: bigint, target: bigint) => Sent
  /** Sends the Undo of a follow or request; call before its row is deleted. */
  readonly undoFollow: (follower: bigint, target: bigint) => Sent
  /** Sends the Undo of a follow that only the other server has. */
  readonly disown: (follower: bigint, target: bigint) => Sent
  /**
   * Sends an Accept or Reject; call before a Reject deletes the row. If a remote target rejects, sends an Undo of the
   * local follow instead: the target may have accepted a later follow, which it would otherwise keep.
   */
  readonly respond: (type: "Accept" | "Reject", target: bigint, follower: bigint) => Sent
  /** Sends Accepts to new followers. */
  readonly acceptAll: (target: bigint, followers: ReadonlyArray<bigint>) => Sent
  /** Rejects a follow that was not stored; `uri` is its id as it arrived. */
  readonly refuse: (target: bigint, follower: bigint, uri: string | undefined) => Sent
  /**
   * Stores the id of an incoming follow, unless it is an earlier one that arrives late. Accepts it if the follow
   * exists, again if necessary.
   */
  readonly received: (follower: bigint, target: bigint, uri: string | undefined) => Sent
  /** Returns true if a local id is that of an earlier follow, while a later follow or request exists. */
  readonly isEarlier: (follower: bigint, target: bigint, uri: string) => Effect.Effect<boolean, SqlError>
  /** Sends a block that was just stored. */
  readonly block: (accountId: bigint, target: bigint) => Sent
  /** Sends the Undo of a block; call before its row is deleted. */
  readonly undoBlock: (accountId: bigint, target: bigint) => Sent
}>()("murmuration/services/federation/outbox/FollowActivities") {
  static readonly layerNoDeps = Layer.effect(
    FollowActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const outbox = yield* Outbox
      const none: HostNames = []

      const found = (follower: bigint, target: bigint) =>
        followRows(sql`
          SELECT id, uri, true AS accepted FROM follows WHERE account_id = ${follower} AND target_account_id = ${target}
          UNION ALL SELECT id, uri, false FROM follow_requests
          WHERE account_id = ${follower} AND target_account_id = ${target}`)

      const follow = traced("FollowActivities.follow")(function*(follower: bigint, target: bigint) {
        const parties = yield* outbox.parties(follower, target)
        if (parties === undefined) return none
        const { actor, other } = parties
        const [row] = yield* uriRows(sql`UPDATE follow_requests SET uri = ${Activities.followIds(actor)} || id
          WHERE account_id = ${follower} AND target_account_id = ${target} RETURNING uri`)
        if (row === undefined) return none
        const activity = Activities.follow({ id: row.uri, actor, object: other })
        return yield* outbox.toAccounts({ senderId: follower, about: PairKey.pairKey(follower, target), activity }, [
          target
        ])
      })

      /** Sends an activity about the follow or request of a pair, if there is one. */
      const sendExisting = Effect.fnUntraced(
        function*(
          follower: bigint,
          target: bigint,
          activityOf: (follow: Activities.Activity) => Activities.Activity,
          low = false
        ) {
          const parties = yield* outbox.parties(follower, target)
          const [row] = parties === undefined ? [] : yield* found(follower, target)
          if (parties === undefined || row === undefined) return none
          const { actor, other } = parties
          const id = row.uri ?? `${Activities.followIds(actor)}${row.id}`
          const activity = activityOf(Activities.follow({ id, actor, object: other }))
          const about = PairKey.pairKey(follower, target)
          return yield* outbox.toAccounts({ senderId: follower, about, activity, low }, [target])
        }
      )

      const undoFollow = traced("FollowActivities.undoFollow")((follower: bigint, target: bigint) =>
        sendExisting(follower, target, Activities.undo)
      )

      const disown = traced("FollowActivities.disown")(function*(follower: bigint, target: bigint) {
        const parties = yield* outbox.parties(follower, target)
        const rows = parties === undefined ? [] : yield* found(follower, target)
        if (parties === undefined || rows.length > 0) return none
        const { actor, other } = parties
        // Numbered after all earlier ones: a server that has an earlier follow ends it.
        const number = singleRow(yield* idRows(sql`SELECT next_id(${yield* Clock.currentTimeMillis}) AS id`)).id
        const id = `${Activities.followIds(actor)}${number}`
        const activity = Activities.undo(Activities.follow({ id, actor, object: other }))
        return yield* outbox.toAccounts({ senderId: follower, about: PairKey.pairKey(follower, target), activity }, [
          target
        ])
      })

      const response = (
        type: "Accept" | "Reject",
        target: bigint,
        follower: bigint,
        of: Activities.FollowOf,
        number: string
      ) =>
        outbox.toAccounts(
          {
            senderId: target,
            about: PairKey.pairKey(target, follower),
            activity: Activities.followResponse(type, of, number)
          },
          [follower]
        )

      const respond = traced("FollowActivities.respond")(
        function*(type: "Accept" | "Reject", target: bigint, follower: bigint) {
          const parties = yield* outbox.parties(target, follower)
          if (parties === undefined) return type === "Reject" ? yield* undoFollow(follower, target) : none
          const [row] = yield* found(follower, target)
          if (row === undefined) return none
          const of = { id: row.uri ?? undefined, actor: parties.other, object: parties.actor }
          // A follow may be requested and settled several times; each reply needs its own id.
          return yield* response(type, target, follower, of, `${row.id}-${yield* Clock.currentTimeMillis}`)
        }
      )

      const refuse = traced("FollowActivities.refuse")(
        function*(target: bigint, follower: bigint, uri: string | undefined) {
          const parties = yield* outbox.parties(target, follower)
          if (parties === undefined) return none
          const of = { id: uri, actor: parties.other, object: parties.actor }
          return yield* response("Reject", target, follower, of, String(yield* Clock.currentTimeMillis))
        }
      )

      const acceptAll = traced("FollowActivities.acceptAll")(
        function*(target: bigint, followers: ReadonlyArray<bigint>) {
          if (!outbox.enabled || followers.length === 0) return none
          const rows = yield* accountIdRows(sql`SELECT account_id FROM follows
          WHERE target_account_id = ${target} AND remote AND account_id = ANY (${followers}::bigint[])`)
          const hosts = yield* Effect.forEach(rows, ({ accountId }) => respond("Accept", target, accountId))
          return [...new Set(hosts.flat())]
        }
      )

      const received = traced("FollowActivities.received")(
        function*(follower: bigint, target: bigint, uri: string | undefined) {
          if (!outbox.enabled) return none
          const [row] = yield* found(follower, target)
          const before = row?.uri ?? undefined
          const isLate = uri !== undefined && before !== undefined && isBefore(uri, before) === true
          for (const table of isLate ? [] : ["follows", "follow_requests"]) {
            yield* sql`UPDATE ${sql(table)} SET uri = ${uri ?? null}
              WHERE account_id = ${follower} AND target_account_id = ${target}`
          }
          return row?.accepted === true ? yield* respond("Accept", target, follower) : none
        }
      )

      const isEarlier = traced("FollowActivities.isEarlier")((follower: bigint, target: bigint, uri: string) =>
        Effect.map(
          URL.parse(uri)?.origin === config.publicUrl ? found(follower, target) : Effect.succeed([]),
          ([row]) => row !== undefined && row.uri !== null && row.uri !== uri
        )
      )

      const blocking = (accountId: bigint, target: bigint) =>
        blockRows(sql`SELECT b.id, b.uri AS block_uri, me.actor_path, a.uri FROM blocks b
          JOIN accounts me ON me.id = b.account_id JOIN accounts a ON a.id = b.target_account_id
          WHERE b.account_id = ${accountId} AND b.target_account_id = ${target} AND me.domain IS NULL AND a.uri IS NOT NULL`)

      const blocked = Effect.fnUntraced(function*(accountId: bigint, target: bigint, undone: boolean) {
        const [row] = outbox.enabled ? yield* blocking(accountId, target) : []
        if (row === undefined) return none
        const activity = Activities.block(LocalIds.actor(config, row.actorPath), row.blockUri ?? row.id, row.uri)
        return yield* outbox.toAccounts({
          senderId: accountId,
          about: PairKey.pairKey(accountId, target),
          activity: undone ? Activities.undo(activity) : activity
        }, [target])
      })

      return FollowActivities.of({
        follow,
        disown,
        repeat: traced("FollowActivities.repeat")((follower, target) =>
          sendExisting(follower, target, (follow) => follow, true)
        ),
        undoFollow,
        respond,
        acceptAll,
        refuse,
        received,
        isEarlier,
        block: traced("FollowActivities.block")((accountId, target) => blocked(accountId, target, false)),
        undoBlock: traced("FollowActivities.undoBlock")((accountId, target) => blocked(accountId, target, true))
      })
    })
  )
  static readonly layer = FollowActivities.layerNoDeps.pipe(Layer.provide(Outbox.layer))
}
