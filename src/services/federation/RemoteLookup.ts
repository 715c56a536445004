import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { isUrl } from "../discovery/LocalUrls.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { RequestedUrls } from "../outbound/HttpRedirects.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { actorTypes } from "./documents/ForeignActor.ts"
import { typeOf } from "./documents/ForeignValues.ts"
import { parseHandle } from "./DomainNames.ts"
import { lookUpSecondsMax, RemotePosts } from "./fetching/RemotePosts.ts"
import { Threads } from "./fetching/Threads.ts"
import { ObjectFetcher } from "./ObjectFetcher.ts"
import { RemoteAccounts } from "./RemoteAccounts.ts"
import { RemoteActors, underWayMax } from "./RemoteActors.ts"
import * as SingleFlight from "./SingleFlight.ts"

/** Maximum seconds that a search waits for another server; a later result is found by the next search. */
const resolveSecondsMax = 4

type Resolved =
  | { readonly kind: "account"; readonly id: bigint }
  | { readonly kind: "status"; readonly id: bigint }

type Found = { readonly kind: "status"; readonly id: bigint } | { readonly kind: "account"; readonly uri: string }

const foundRows = rowsOf(Schema.Struct({ id: Schema.BigInt, visible: Schema.Boolean }))

/** Resolves URLs and handles of other servers. */
export class RemoteLookup extends Context.Service<RemoteLookup, {
  /**
   * Returns the account or status that `viewer` may see: by its id, its HTML page or (for an account) its handle. An
   * unknown one is fetched from its server. Returns undefined in all other cases.
   */
  readonly resolve: (viewer: Viewer, text: string) => Effect.Effect<Resolved | undefined>
}>()("murmuration/services/federation/RemoteLookup") {
  static readonly layerNoDeps = Layer.effect(
    RemoteLookup,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* RemoteAccounts
      const actors = yield* RemoteActors
      const fetcher = yield* ObjectFetcher
      const posts = yield* RemotePosts
      const threads = yield* Threads
      const { federated } = yield* ServerConfig
      const shared = yield* SingleFlight.make<Found | undefined, never>(underWayMax)

      const account = ({ id, suspended }: { readonly id: bigint; readonly suspended: boolean }): Resolved | undefined =>
        suspended ? undefined : { kind: "account", id }

      /** Finds a stored status by its id or page URL. */
      const findStored = Effect.fnUntraced(function*(viewer: Viewer, address: string) {
        const [status] = yield* foundRows(sql`
          SELECT s.id, ${visibleTo(sql, viewer, "s")} AS visible FROM statuses s
          WHERE s.uri = ${address} OR s.url = ${address} ORDER BY s.uri = ${address} DESC LIMIT 1`).pipe(Effect.orDie)
        return status
      })

      /** Fetches the object at an unknown URL. Concurrent callers share one look-up, which continues without them. */
      const lookUp = Effect.fnUntraced(
        function*(address: string) {
          const places: RequestedUrls = new Set()
          const found = yield* fetcher.discover(address, places)
          if (typeOf(found.document, ...actorTypes) !== undefined) {
            return { kind: "account" as const, uri: (yield* actors.keep(found)).uri }
          }
          const { document, statusId } = yield* posts.keep(found, { asked: true }, places)
          yield* threads.fetchFound(document)
          return { kind: "status" as const, id: statusId }
        },
        Effect.timeoutOrElse({
          duration: `${lookUpSecondsMax} seconds`,
          orElse: () => Effect.fail("it takes too long" as const)
        }),
        Effect.orElseSucceed(() => undefined)
      )

      const byAddress = Effect.fnUntraced(function*(viewer: Viewer, address: string) {
        const known = yield* accounts.byUri(address)
        if (known !== undefined) return account(known)
        const status = yield* findStored(viewer, address)
        if (status !== undefined) return status.visible ? { kind: "status", id: status.id } as const : undefined
        const found = yield* shared(address, lookUp(address))
        if (found === undefined) return undefined
        if (found.kind === "account") {
          const fresh = yield* accounts.byUri(found.uri)
          return fresh === undefined ? undefined : account(fresh)
        }
        const [fresh] = yield* sql`SELECT FROM statuses s WHERE s.id = ${found.id} AND ${visibleTo(sql, viewer, "s")}`
          .pipe(Effect.orDie)
        return fresh === undefined ? undefined : found
      })

      const resolve = traced("RemoteLookup.resolve")((viewer: Viewer, text: string) => {
        if (!federated) return Effect.succeed(undefined)
        const asked = isUrl(text)
          ? byAddress(viewer, text)
          : parseHandle(text) === undefined
          ? Effect.succeed(undefined)
          : Effect.map(actors.findByHandle(text), account)
        return asked.pipe(
          Effect.timeoutOrElse({ duration: `${resolveSecondsMax} seconds`, orElse: () => Effect.succeed(undefined) }),
          Effect.orElseSucceed(() => undefined)
        )
      })
      return RemoteLookup.of({ resolve })
    })
  )
  static readonly layer = RemoteLookup.layerNoDeps.pipe(
    Layer.provide([ObjectFetcher.layer, RemoteAccounts.layer, RemoteActors.layer, RemotePosts.layer, Threads.layer])
  )
}
