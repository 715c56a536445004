import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { hash } from "node:crypto"
import { boundedMap } from "../BoundedMap.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsMax } from "../Paging.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import * as LocalIds from "./LocalIds.ts"

/** From so many followers on no digest is sent (federation.md section 4). */
export const synchronizedMax = 25_000
/** How long digests are believed, in milliseconds, and of how many accounts they are kept. */
const keptMillis = 60_000
const keptMax = 100

/** 32 bytes as the standard writes them, in hexadecimal. */
const combined = (uris: Iterable<string>): string => {
  const sum = Buffer.alloc(32)
  for (const uri of uris) {
    const one = hash("sha256", uri, "buffer")
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) ^ (one[at] ?? 0)
  }
  return sum.toString("hex")
}

const hostOf = (uri: string) => URL.parse(uri)?.host ?? ""

/** A follow between a local account and a remote one, as we have it. */
interface LocalFollower {
  readonly accountId: bigint
  readonly uri: string
  readonly pending: boolean
}

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const requesterRows = rowsOf(Schema.Struct({ uri: Schema.NullOr(Schema.String) }))
const followersUrlRows = rowsOf(Schema.Struct({ followersUrl: Schema.NullOr(Schema.String) }))
const followerRows = rowsOf(
  Schema.Struct({ accountId: Schema.BigInt, username: Schema.String, pending: Schema.Boolean })
)

/**
 * Who follows whom between two servers, in 32 bytes: the XOR of the SHA-256 of the followers' ids (FEP-8fcf). Where two servers
 * disagree, one of them missed something.
 */
export class FollowerDigests extends Context.Service<FollowerDigests, {
  /** The header of a delivery to a host, with the digest of the sender's followers there; none for very large accounts. */
  readonly header: (
    sender: { readonly id: bigint; readonly username: string },
    host: string
  ) => Effect.Effect<string | undefined, SqlError>
  /** The ids of a local account's followers at the origin of somebody who asks. */
  readonly followersAt: (accountId: bigint, requesterId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Our people who follow, or ask to follow, a remote account. */
  readonly localFollowers: (accountId: bigint) => Effect.Effect<ReadonlyArray<LocalFollower>, SqlError>
  /** The collection of a remote account's followers as its document names it. */
  readonly followersOf: (accountId: bigint) => Effect.Effect<string | undefined, SqlError>
  readonly digest: (uris: Iterable<string>) => string
}>()("murmuration/services/federation/FollowerDigests") {
  static readonly layer = Layer.effect(
    FollowerDigests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const kept = boundedMap<bigint, { readonly at: number; readonly byHost: ReadonlyMap<string, string> }>(keptMax)
      const nobody: ReadonlyMap<string, string> = new Map()

      const followers = (accountId: bigint) =>
        uriRows(sql`SELECT a.uri FROM follows f JOIN accounts a ON a.id = f.account_id
          WHERE f.target_account_id = ${accountId} AND f.remote AND a.uri IS NOT NULL
          ORDER BY f.id LIMIT ${rowsMax(sql, synchronizedMax)}`)

      const digests = Effect.fnUntraced(function*(accountId: bigint) {
        const now = yield* Clock.currentTimeMillis
        const before = kept.get(accountId)
        if (before !== undefined && now - before.at < keptMillis && now >= before.at) return before.byHost
        const rows = yield* followers(accountId)
        const byHost = rows.length < synchronizedMax
          ? new Map(
            [...Map.groupBy(rows, ({ uri }) => hostOf(uri))].map(([host, found]) =>
              [host, combined(found.map(({ uri }) => uri))] as const
            )
          )
          : nobody
        kept.set(accountId, { at: now, byHost })
        return byHost
      })

      return FollowerDigests.of({
        digest: combined,
        header: traced("FollowerDigests.header")(function*({ id, username }, host) {
          const digest = (yield* digests(id)).get(host)
          const actor = LocalIds.actor(config, username)
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
            SELECT a.id AS account_id, a.username, f.pending FROM (
              SELECT account_id, false AS pending FROM follows WHERE target_account_id = ${accountId} AND NOT remote
              UNION ALL SELECT account_id, true FROM follow_requests WHERE target_account_id = ${accountId}) f
            JOIN accounts a ON a.id = f.account_id WHERE a.domain IS NULL LIMIT ${rowsMax(sql, synchronizedMax)}`)
          return rows.map(({ accountId: id, pending, username }) => ({
            accountId: id,
            pending,
            uri: LocalIds.actor(config, username)
          }))
        })
      })
    })
  )
}
