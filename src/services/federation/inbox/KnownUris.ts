import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId, StatusId } from "../../database/Ids.ts"
import { rowsOf } from "../../database/Rows.ts"
import { batched } from "../../database/TransactionBatch.ts"
import { parse } from "../../discovery/LocalUrls.ts"
import { isNamed, nameColumns } from "../../instance/LocalNames.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { StoredStatus } from "../../statuses/StoredStatus.ts"

const accountRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, uri: Schema.NullOr(Schema.String), username: Schema.String })
)
/** Status with the fields that decide who may act on it. */
const NamedStatus = Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["accountId", "local", "visibility", "interactionPolicy"])).fields,
  id: StatusId
})
export type NamedStatus = typeof NamedStatus.Type
const foreignRows = rowsOf(Schema.Struct({ ...NamedStatus.fields, uri: Schema.String }))
const localRows = rowsOf(Schema.Struct({ ...NamedStatus.fields, username: Schema.String }))
const ownedRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    accountId: Schema.BigInt,
    uri: Schema.String,
    originalAccountId: Schema.NullOr(Schema.BigInt)
  })
)

/** Resolves local and remote ids in remote documents from the database; fetches nothing. */
export class KnownUris extends Context.Service<KnownUris, {
  /** Returns accounts by actor id; unknown ones are absent. */
  readonly accounts: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, AccountId>, SqlError>
  readonly status: (uri: string) => Effect.Effect<StatusId | undefined, SqlError>
  /** As `status`, with the fields that decide who may act on it. */
  readonly named: (uri: string) => Effect.Effect<NamedStatus | undefined, SqlError>
  /** Returns the local accounts, or local statuses, among the ids, in no order. */
  readonly localAccounts: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<AccountId>, SqlError>
  readonly localStatuses: (
    uris: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<{ readonly id: StatusId; readonly accountId: AccountId }>, SqlError>
  /**
   * Returns pairs of id and author for the local statuses among the ids; a boost also has a pair with the original's
   * author, who may be remote.
   */
  readonly localAuthors: (
    uris: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<readonly [string, AccountId]>, SqlError>
  /** Returns a local account; undefined for other ids. */
  readonly localAccount: (uri: string) => Effect.Effect<AccountId | undefined, SqlError>
}>()("murmuration/services/federation/inbox/KnownUris") {
  static readonly layer = Layer.effect(
    KnownUris,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig

      const localName = (uri: string) => {
        const found = parse(config, uri)
        if (found?.kind !== "account") return undefined
        return typeof found.name === "string" ? found.name.toLowerCase() : found.name
      }

      const accounts = traced("KnownUris.accounts")(function*(uris: ReadonlyArray<string>) {
        if (uris.length === 0) return new Map<string, AccountId>()
        // A local account may be named by several ids at once: its page and its actor, in any case, and by number.
        const names = Map.groupBy(uris, localName)
        names.delete(undefined)
        const keys = [...names.keys()]
        const rows = yield* accountRows(sql`
          SELECT id, uri, lower(username) AS username FROM accounts
          WHERE (domain IS NOT NULL OR NOT EXISTS (SELECT FROM retired_usernames r WHERE r.username = lower(accounts.username)))
            AND (uri = ANY (${uris}::text[]) OR (domain IS NULL AND id = ANY (${
          keys.filter((name) => typeof name === "bigint")
        }::bigint[]))
              OR (lower(coalesce(domain, '')) = '' AND lower(username) = ANY (${
          keys.filter((name) => typeof name === "string")
        }::text[])))`)
        return new Map(rows.flatMap(({ id, uri, username }) => {
          const named = uri === null ? [...names.get(username) ?? [], ...names.get(id) ?? []] : [uri]
          return named.map((one) => [one, AccountId.make(id)] as const)
        }))
      })

      const foreignStatus = batched((uris: ReadonlyArray<string>) =>
        Effect.map(
          foreignRows(sql`SELECT id, account_id, local, visibility, interaction_policy, uri FROM statuses
            WHERE uri = ANY (${uris}::text[])
            UNION ALL SELECT s.id, s.account_id, s.local, s.visibility, s.interaction_policy, a.uri
            FROM status_aliases a JOIN statuses s ON s.id = a.status_id WHERE a.uri = ANY (${uris}::text[])`),
          (rows) => {
            const found = new Map(rows.map((row) => [row.uri, row]))
            return (uri: string) => found.get(uri)
          }
        )
      )
      const localStatus = batched((ids: ReadonlyArray<bigint>) =>
        Effect.map(
          localRows(
            sql`SELECT s.id, s.account_id, s.local, s.visibility, s.interaction_policy, lower(a.username) AS username
            FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = ANY (${ids}::bigint[]) AND s.local`
          ),
          (rows) => {
            const found = new Map<bigint, typeof rows[number]>(rows.map((row) => [row.id, row]))
            return (id: bigint) => found.get(id)
          }
        )
      )
      const named = traced("KnownUris.named")((uri: string): Effect.Effect<NamedStatus | undefined, SqlError> => {
        const local = parse(config, uri)
        return local?.kind === "status"
          ? Effect.map(
            localStatus(local.id),
            (found) =>
              found !== undefined && isNamed(local.name, { id: found.accountId, username: found.username })
                ? found
                : undefined
          )
          : foreignStatus(uri)
      })
      const status = (uri: string) => Effect.map(named(uri), (found) => found?.id)

      const localAccounts = traced("KnownUris.localAccounts")((uris: ReadonlyArray<string>) =>
        Effect.map(accounts(uris.filter((uri) => localName(uri) !== undefined)), (found) => [...found.values()])
      )

      const ownedStatuses = Effect.fnUntraced(function*(uris: ReadonlyArray<string>) {
        const named = uris.flatMap((uri) => {
          const found = parse(config, uri)
          return found?.kind === "status" ? [{ ...found, uri }] : []
        })
        const { numbers, usernames } = nameColumns(named.map(({ name }) => name))
        return named.length === 0 ? [] : yield* ownedRows(sql`
          SELECT s.id, s.account_id, named.uri, o.account_id AS original_account_id
          FROM unnest(${named.map(({ id }) => id)}::bigint[], ${numbers}::bigint[], ${usernames}::text[], ${
          named.map(({ uri }) => uri)
        }::text[]) AS named (id, number, username, uri)
          JOIN statuses s ON s.id = named.id AND s.local
          JOIN accounts a ON a.id = s.account_id AND (a.id = named.number OR lower(a.username) = named.username)
          LEFT JOIN statuses o ON o.id = s.reblog_of_id`)
      })
      const localStatuses = traced("KnownUris.localStatuses")((uris: ReadonlyArray<string>) =>
        Effect.map(
          ownedStatuses(uris),
          (rows) => rows.map(({ accountId, id }) => ({ id: StatusId.make(id), accountId: AccountId.make(accountId) }))
        )
      )
      const localAuthors = traced("KnownUris.localAuthors")((uris: ReadonlyArray<string>) =>
        Effect.map(
          ownedStatuses(uris),
          (rows) =>
            rows.flatMap(({ accountId, originalAccountId, uri }) =>
              [accountId, ...(originalAccountId === null ? [] : [originalAccountId])]
                .map((author) => [uri, AccountId.make(author)] as const)
            )
        )
      )

      return KnownUris.of({
        accounts,
        named,
        status,
        localAccounts,
        localStatuses,
        localAuthors,
        localAccount: (uri) =>
          localName(uri) === undefined
            ? Effect.succeed(undefined)
            : Effect.map(accounts([uri]), (found) => found.get(uri))
      })
    })
  )
}
