import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { idRows } from "../database/Rows.ts"
import { parseHandle } from "../federation/DomainNames.ts"
import { RemoteActors } from "../federation/RemoteActors.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"

/** Timeout for the server of an author that a page names, in seconds. */
const creatorSecondsMax = 10

/** Authors that pages name by `fediverse:creator`. */
export class Creators extends Context.Service<Creators, {
  /** Returns the account of a handle; looks an unknown one up at its server. Undefined if not found. */
  readonly find: (handle: string) => Effect.Effect<bigint | undefined>
}>()("murmuration/services/previews/Creators") {
  static readonly layer = Layer.effect(
    Creators,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* RemoteActors
      const { federated, localDomain, publicUrl } = yield* ServerConfig
      const ours = new Set([localDomain, URL.parse(publicUrl)?.host])

      const find = traced("Creators.find")(function*(text: string) {
        const handle = parseHandle(text)
        if (handle === undefined) return undefined
        const domain = ours.has(handle.domain) ? null : handle.domain
        const [known] = yield* Effect.orDie(idRows(sql`SELECT id FROM accounts
          WHERE lower(username) = ${handle.username.toLowerCase()} AND lower(coalesce(domain, '')) = ${domain ?? ""}
            AND suspended_at IS NULL`))
        if (known !== undefined) return known.id
        if (domain === null || !federated) return undefined
        return yield* actors.findByHandle(text).pipe(
          Effect.timeout(`${creatorSecondsMax} seconds`),
          Effect.match({ onFailure: () => undefined, onSuccess: ({ id, suspended }) => suspended ? undefined : id })
        )
      })
      return Creators.of({ find })
    })
  )
}
