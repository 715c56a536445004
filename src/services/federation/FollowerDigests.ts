import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { traced } from "../runtime/Traced.ts"
import * as LocalIds from "./LocalIds.ts"

/** Follower count from which no digest is sent (federation.md section 4). */
export const synchronizedMax = 25_000
/** Lifetime of cached digests, in milliseconds, and maximum number of accounts in the cache. */
const keptMillis = 60_000
const keptMax = 100

/** Returns the XOR of the URIs' SHA-256 hashes, in hexadecimal (FEP-8fcf). */
const combined = (uris: Iterable<string>): string => {
  const sum = Buffer.alloc(32)
  for (const uri of uris) {
    const one = hash("sha256", uri, "buffer")
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) ^ (one[at] ?? 0)
  }
  return sum.toString("hex")
}

const hostOf = (uri: string) => URL.parse(uri)?.host ?? ""

/** Follow or follow request of a local account for a remote one. */
interface LocalFollower {
  readonly accountId: bigint
  readonly uri: string
  readonly pending: boolean
}

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const requesterRows = rowsOf(Schema.Struct({ uri: Schema.NullOr(Schema.String) }))
const followersUrlRows = rowsOf(Schema.Struct({ followersUrl: Schema.NullOr(Schema.String) }))
const followerRows = rowsOf(
  Schema.Struct({ accountId: Schema.BigInt, actorPath: LocalIds.ActorPath, pending: Schema.Boolean })
)

/**
 * Digests of the followers that a local account has on one server: the XOR of the SHA-256 of their ids (FEP-8fcf). If
 * two servers' digests differ, one of them missed an activity.
 */
export class FollowerDigests extends Context.Service<FollowerDigests, {
  /**
   * Returns the synchronization header for deliveries to a host, with the digest of the sender's followers there;
   * undefined without followers there and for very large accounts.
   */
  readonly header: (
    sender: { readonly id: bigint; readonly actorPath: LocalIds.ActorPath },
    host: string
  ) => Effect.Effect<string | undefined, SqlError>
  /** Returns the ids of a local account's followers on the requester's server. */
  readonly followersAt: (accountId: bigint, requesterId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Returns local accounts that follow, or have asked to follow, a remote account. */
  readonly localFollowers: (accountId: bigint) => Effect.Effect<ReadonlyArray<LocalFollower>, SqlError>
  /** Returns the URL of a remote account's followers collection, from its actor document. */
  readonly followersOf: (accountId: bigint) => Effect.Effect<string | undefined, SqlError>
  readonly digest: (uris: Iterable<string>) => string
}>()("murmuration/services/federation/FollowerDigests") {
  static readonly layer = Layer.effect(
    FollowerDigests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const cache = boundedMap<bigint, { readonly at: number; readonly byHost: ReadonlyMap<string, string> }>(keptMax)
      const nobody: ReadonlyMap<string, string> = new Map()

      const followers = (accountId: bigint) =>
        uriRows(sql`SELECT a.uri FROM follows f JOIN accounts a ON a.id = f.account_id
          WHERE f.target_account_id = ${accountId} AND f.remote AND a.uri IS NOT NULL
          ORDER BY f.id LIMIT ${rowsMax(sql, synchronizedMax)}`)

      const digests = Effect.fnUntraced(function*(accountId: bigint) {
        const now = yield* Clock.currentTimeMillis
        const before = cache.get(accountId)
        if (before !== undefined && now - before.at < keptMillis && now >= before.at) return before.byHost
        const rows = yield* followers(accountId)
        const byHost = rows.length < synchronizedMax
          ? new Map(
            [...Map.groupBy(rows, ({ uri }) => hostOf(uri))].map(([host, found]) =>
              [host, combined(found.map(({ uri }) => uri))] as const
            )
          )
          : nobody
        cache.set(accountId, { at: now, byHost })
        return byHost
      })

      return FollowerDigests.of({
        digest: combined,
        header: traced("FollowerDigests.header")(function*({ actorPath, id }, host) {
          const digest = (yield* digests(id)).get(host)
          const actor = LocalIds.actor(config, actorPath)
          return digest === undefined ?
            undefined :
            `collectionId="${LocalIds.followers(actor)}", digest="${digest}", url="${
              LocalIds.followersSynchronization(actor)
            }"`
        }),
        followersAt: traced("FollowerDigests.followersAt")(function*(accountId, requesterId) {
          const [requester] = yield* requesterRows(sql`SELECT uri FROM accounts WHERE id = ${requesterId}`)
          const host = hostOf(requester?.uri ?? "")
          return (yield* followers(accountId)).flatMap(({ uri }) => hostOf(uri) === host ? [uri] : [])
        }),
        followersOf: traced("FollowerDigests.followersOf")((accountId) =>
          Effect.map(
            followersUrlRows(sql`SELECT followers_url FROM remote_actors WHERE account_id = ${accountId}`),
            ([row]) => row?.followersUrl ?? undefined
          )
        ),
        localFollowers: traced("FollowerDigests.localFollowers")(function*(accountId) {
          const rows = yield* followerRows(sql`
            SELECT a.id AS account_id, a.actor_path, f.pending FROM (
              SELECT account_id, false AS pending FROM follows WHERE target_account_id = ${accountId} AND NOT remote
              UNION ALL SELECT account_id, true FROM follow_requests WHERE target_account_id = ${accountId}) f
            JOIN accounts a ON a.id = f.account_id WHERE a.domain IS NULL LIMIT ${rowsMax(sql, synchronizedMax)}`)
          return rows.map(({ accountId: id, actorPath, pending }) => ({
            accountId: id,
            pending,
            uri: LocalIds.actor(config, actorPath)
          }))
        })
      })
    })
  )
}
