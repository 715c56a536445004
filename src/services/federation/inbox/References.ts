import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { parse } from "../../discovery/LocalUrls.ts"
import { AccountId, StatusId } from "../../Ids.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../Traced.ts"

/** What ids in documents of others mean to us, ours and theirs; nothing is fetched. */
export class References extends Context.Service<References, {
  /** Accounts by the ids of actors; those that nobody here knows are absent. */
  readonly accounts: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, AccountId>, SqlError>
  readonly status: (uri: string) => Effect.Effect<StatusId | undefined, SqlError>
  /** Local accounts alone. */
  readonly localAccount: (uri: string) => Effect.Effect<AccountId | undefined, SqlError>
}>()("murmuration/services/federation/inbox/References") {
  static readonly layer = Layer.effect(
    References,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig

      const localName = (uri: string) => {
        const found = parse(config, uri)
        return found?.kind === "account" ? found.username.toLowerCase() : undefined
      }

      const accounts = traced("References.accounts")(function*(uris: ReadonlyArray<string>) {
        if (uris.length === 0) return new Map<string, AccountId>()
        const names = new Map(uris.flatMap((uri) => {
          const name = localName(uri)
          return name === undefined ? [] : [[name, uri] as const]
        }))
        const rows = yield* sql<{ id: bigint; uri: string | null; username: string }>`
          SELECT id, uri, lower(username) AS username FROM accounts
          WHERE uri = ANY (${uris}::text[]) OR (lower(coalesce(domain, '')) = '' AND lower(username) = ANY (${[
          ...names.keys()
        ]}::text[]))`
        return new Map(rows.flatMap(({ id, uri, username }) => {
          const named = uri ?? names.get(username)
          return named === undefined ? [] : [[named, AccountId.make(id)] as const]
        }))
      })

      const status = traced("References.status")(function*(uri: string) {
        const local = parse(config, uri)
        const [row] = local?.kind === "status"
          ? yield* sql<{ id: bigint }>`SELECT s.id FROM statuses s JOIN accounts a ON a.id = s.account_id
            WHERE s.id = ${local.id} AND s.local AND lower(a.username) = ${local.username.toLowerCase()}`
          : yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE uri = ${uri}`
        return row === undefined ? undefined : StatusId.make(row.id)
      })

      return References.of({
        accounts,
        status,
        localAccount: (uri) =>
          localName(uri) === undefined
            ? Effect.succeed(undefined)
            : Effect.map(accounts([uri]), (found) => found.get(uri))
      })
    })
  )
}
