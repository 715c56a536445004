import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isUrl } from "../discovery/LocalUrls.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { parseHandle } from "./Domains.ts"
import { RemoteAccounts } from "./RemoteAccounts.ts"
import { RemoteActors } from "./RemoteActors.ts"

/** How long somebody who searches waits for another server, in seconds; what it says later is there the next time. */
export const resolveSecondsMax = 4

export type Resolved =
  | { readonly kind: "account"; readonly id: bigint }
  | { readonly kind: "status"; readonly id: bigint }

/** What the addresses and handles of other servers stand for. */
export class Resolutions extends Context.Service<Resolutions, {
  /**
   * The account or the post, as far as `viewer` may see it; an account that nobody here knows is asked for at its
   * server. Undefined for everything else, whatever the reason.
   */
  readonly resolve: (viewer: Viewer, text: string) => Effect.Effect<Resolved | undefined>
}>()("murmuration/services/federation/Resolutions") {
  static readonly layer = Layer.effect(
    Resolutions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* RemoteAccounts
      const actors = yield* RemoteActors
      const { federated } = yield* ServerConfig

      const account = ({ id, suspended }: { readonly id: bigint; readonly suspended: boolean }): Resolved | undefined =>
        suspended ? undefined : { kind: "account", id }

      const byAddress = Effect.fnUntraced(function*(viewer: Viewer, uri: string) {
        const known = yield* accounts.byUri(uri)
        if (known !== undefined) return account(known)
        const [status] = yield* sql<{ id: bigint; visible: boolean }>`
          SELECT s.id, ${visibleTo(sql, viewer, "s")} AS visible FROM statuses s WHERE s.uri = ${uri}`.pipe(
          Effect.orDie
        )
        if (status !== undefined) return status.visible ? { kind: "status", id: status.id } as const : undefined
        return account(yield* actors.find(uri))
      })

      const resolve = traced("Resolutions.resolve")((viewer: Viewer, text: string) => {
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
      return Resolutions.of({ resolve })
    })
  )
}
