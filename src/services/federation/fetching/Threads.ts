import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { briefCause } from "../../outbound/BriefCause.ts"
import { momentOf } from "../../runtime/Moments.ts"
import { traced } from "../../runtime/Traced.ts"
import { isPublicRow } from "../../statuses/Visibility.ts"
import { type Foreign, idOf } from "../documents/ForeignValues.ts"
import { KnownUris } from "../inbox/KnownUris.ts"
import * as Budget from "./Budget.ts"
import { RefreshClaims, refreshSecondsMax } from "./RefreshClaims.ts"
import { RemoteCollections } from "./RemoteCollections.ts"
import { RemotePosts } from "./RemotePosts.ts"

const parentRows = rowsOf(Schema.Struct({ uri: Schema.NullOr(Schema.String) }))
const postRows = rowsOf(Schema.Struct({ uri: Schema.String, createdAt: Timestamptz }))

/** Minimum time between fetches of a post's conversation, and minimum age of the post, in milliseconds. */
const threadMillisMin = 15 * 60_000
const threadAgeMillisMin = 5 * 60_000
/** Maximum pages of replies for a new post: the collection and its first page. */
const pagesOfNew = 2
/** Maximum conversations that a node fetches in the background; more are not fetched until they are read again. */
const fetchesAtOnceMax = 64
/** Maximum ancestors searched for one whose parent is missing here. */
const ancestorsMax = 4_096

/** Fetches remote conversations: parents up to the first post, and replies, each from its origin. */
export class Threads extends Context.Service<Threads, {
  /** Fetches a new post's parents and first replies. Does nothing if it has neither. */
  readonly fetchAround: (post: Foreign) => Effect.Effect<void>
  /** As `fetchAround`, in the background, for a post that a user found and that is too new for `read`. */
  readonly fetchFound: (post: Foreign) => Effect.Effect<void>
  /**
   * Call when a user reads a status's conversation. Fetches it in the background if that is due. Returns whether a
   * fetch is running, or undefined if there is nothing to wait for.
   */
  readonly read: (
    statusId: bigint
  ) => Effect.Effect<{ readonly running: boolean; readonly found: number } | undefined>
}>()("murmuration/services/federation/fetching/Threads") {
  static readonly layerNoDeps = Layer.effect(
    Threads,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const collections = yield* RemoteCollections
      const limits = yield* Budget.FetchLimits
      const claims = yield* RefreshClaims
      const posts = yield* RemotePosts
      const knownUris = yield* KnownUris
      const scope = yield* Effect.scope

      const had = (uri: string, budget: Budget.Budget, inReplyTo?: string) =>
        posts.refresh(uri, { asked: true, budget, ...(inReplyTo === undefined ? {} : { inReplyTo }) }).pipe(
          Effect.orElseSucceed(() => undefined)
        )

      /** Fetches parents until one is known or has no parent itself. */
      const climb = Effect.fnUntraced(function*(from: string | undefined, budget: Budget.Budget) {
        const visited = new Set<string>()
        let count = 0
        for (let uri = from; uri !== undefined && !visited.has(uri);) {
          visited.add(uri)
          if ((yield* Effect.orDie(knownUris.status(uri))) !== undefined || !Budget.spend(budget, "statuses")) break
          const parent = yield* had(uri, budget)
          if (parent === undefined) break
          count++
          uri = idOf(parent.document["inReplyTo"])
        }
        return count
      })

      /** Fetches replies level by level. A collection may list anything; only replies to the post are stored. */
      const descend = Effect.fnUntraced(function*(top: Foreign, budget: Budget.Budget, repliesMax: number) {
        const visited = new Set<string>()
        const parents = [top]
        let count = 0
        for (let parent = parents.shift(); parent !== undefined && count < repliesMax; parent = parents.shift()) {
          const id = idOf(parent) ?? ""
          let pages = limits.pagesPerCollection
          const mayAsk = () => pages-- > 0 && Budget.spend(budget, "pages")
          const origin = URL.parse(id)?.origin ?? ""
          for (const item of yield* collections.items(parent["replies"], origin, repliesMax - count, mayAsk)) {
            const uri = idOf(item)
            if (uri === undefined || visited.has(uri)) continue
            visited.add(uri)
            if (count >= repliesMax || !Budget.spend(budget, "statuses")) return count
            const reply = yield* had(uri, budget, id)
            if (reply === undefined) continue
            count++
            parents.push(reply.document)
          }
        }
        return count
      })

      const fetchAround = traced("Threads.fetchAround")(function*(post: Foreign) {
        const budget = Budget.begin(limits)
        yield* climb(idOf(post["inReplyTo"]), budget)
        // The embedded replies are enough for a new post.
        budget.pages = typeof post["replies"] === "string" ? pagesOfNew : 0
        yield* descend(post, budget, limits.repliesOfNew)
      })

      let running = 0
      /** Starts a fetch in the background; returns false if `fetchesAtOnceMax` run already. */
      const inBackground = (work: Effect.Effect<void>) =>
        Effect.uninterruptible(Effect.suspend(() => {
          if (running >= fetchesAtOnceMax) return Effect.succeed(false)
          running++
          return Effect.as(Effect.forkIn(Effect.ensuring(work, Effect.sync(() => running--)), scope), true)
        }))

      const meet = traced("Threads.fetchFound")(function*(post: Foreign) {
        const published = momentOf(post["published"])
        if (published !== undefined && (yield* Clock.currentTimeMillis) - published >= threadAgeMillisMin) return
        yield* fetchAround(post).pipe(
          Effect.timeoutOption(`${refreshSecondsMax} seconds`),
          Effect.catchCause((cause) => Effect.logWarning("a conversation was not fetched", briefCause(cause))),
          Effect.asVoid,
          inBackground
        )
      })

      /** Returns the id of the missing parent of the topmost known ancestor. */
      const missing = (statusId: bigint) =>
        Effect.map(
          parentRows(sql`
          WITH RECURSIVE up (id, depth) AS (
            SELECT ${statusId}::bigint, 1
            UNION ALL
            SELECT s.in_reply_to_id, up.depth + 1 FROM up JOIN statuses s ON s.id = up.id
            WHERE s.in_reply_to_id IS NOT NULL AND up.depth < ${ancestorsMax})
          SELECT s.in_reply_to_uri AS uri FROM up JOIN statuses s ON s.id = up.id ORDER BY up.depth DESC LIMIT 1`),
          ([row]) => row?.uri ?? undefined
        )

      const grow = Effect.fnUntraced(function*(statusId: bigint, uri: string) {
        const budget = Budget.begin(limits)
        const climbed = yield* climb(yield* Effect.orDie(missing(statusId)), budget)
        const top = yield* had(uri, budget)
        return climbed + (top === undefined ? 0 : yield* descend(top.document, budget, limits.repliesOfRead))
      })

      const read = traced("Threads.read")(function*(statusId: bigint) {
        const [post] = yield* postRows(sql`SELECT uri, created_at FROM statuses
          WHERE id = ${statusId} AND NOT local AND uri IS NOT NULL AND ${isPublicRow(sql, "statuses")}`).pipe(
          Effect.orDie
        )
        const now = yield* Clock.currentTimeMillis
        if (post === undefined || now - post.createdAt.getTime() < threadAgeMillisMin) return undefined
        if (yield* claims.begin("thread", statusId, threadMillisMin)) {
          const isStarted = yield* grow(statusId, post.uri).pipe(
            Effect.timeoutOrElse({ duration: `${refreshSecondsMax} seconds`, orElse: () => Effect.succeed(0) }),
            Effect.catchCause((cause) =>
              Effect.as(Effect.logWarning("a conversation was not fetched", briefCause(cause)), 0)
            ),
            Effect.flatMap((found) => claims.end("thread", statusId, found)),
            inBackground
          )
          if (!isStarted) yield* claims.end("thread", statusId, 0)
        }
        return yield* claims.find("thread", statusId)
      })

      return Threads.of({ fetchAround: fetchAround, fetchFound: meet, read })
    })
  )
  static readonly layer = Threads.layerNoDeps.pipe(
    Layer.provide([KnownUris.layer, RefreshClaims.layer, RemoteCollections.layer, RemotePosts.layer])
  )
}
