import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../database/Ids.ts"
import { clauses, type Page } from "../../database/Paging.ts"
import { rowsOf } from "../../database/Rows.ts"
import type { Document } from "../../federation/documents/Vocabulary.ts"
import * as LocalIds from "../../federation/LocalIds.ts"
import { Objects } from "../../federation/Objects.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"

const statusRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))
const favouriteRows = rowsOf(Schema.Struct({ id: Schema.BigInt, statusId: Schema.BigInt }))
const accountRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, uri: Schema.NullOr(Schema.String), actorPath: LocalIds.ActorPath })
)

/** A page, newest first: its entries, and the id below which the next page begins; undefined at the end. */
interface PortablePage<A> {
  readonly entries: ReadonlyArray<A>
  readonly next: bigint | undefined
}

type Portable<A> = (account: AccountId, page: Page) => Effect.Effect<PortablePage<A>>

/**
 * Data of local accounts for servers that copy them with the user's consent (LOLA 0.2). Checks no permissions. Posts are
 * as they are now, without Create, Update and Delete. Local-only posts are left out: no other server gets them.
 */
export class PortableAccounts extends Context.Service<PortableAccounts, {
  /**
   * Returns true if the account's data may be copied: the account may be suspended or moved, but its user must be
   * approved, and not disabled.
   */
  readonly isOpen: (account: AccountId) => Effect.Effect<boolean>
  /** Posts of any visibility as notes, and boosts as Announce. */
  readonly activities: Portable<Document>
  /** Posts of any visibility as notes. */
  readonly notes: Portable<Document>
  /** Ids of accounts that the account follows, and that it blocks. */
  readonly following: Portable<string>
  readonly blocked: Portable<string>
  /** Ids of favourited posts. */
  readonly liked: Portable<string>
}>()("murmuration/services/transfers/live/PortableAccounts") {
  static readonly layer = Layer.effect(
    PortableAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const objects = yield* Objects

      const pageOf = <Row extends { readonly id: bigint }, A>(
        rows: ReadonlyArray<Row>,
        { limit }: Page,
        entryOf: (row: Row) => A | undefined
      ): PortablePage<A> => ({
        entries: rows.flatMap((row) => entryOf(row) ?? []),
        next: rows.length < limit ? undefined : rows.at(-1)?.id
      })

      const posts = (withBoosts: boolean) =>
        Effect.fnUntraced(function*(account: AccountId, page: Page) {
          const { tail, where } = clauses(sql, "id", page)
          const rows = yield* statusRows(sql`SELECT id FROM statuses
            WHERE account_id = ${account} AND local AND deleted_at IS NULL AND NOT local_only
              AND (${withBoosts} OR reblog_of_id IS NULL) AND ${where} ${tail}`)
          const loaded = yield* objects.load(rows.map(({ id }) => id))
          return pageOf(rows, page, ({ id }) => {
            const found = loaded.get(id)
            return found && (found.note ?? found.activity)
          })
        }, Effect.orDie)

      const related = (table: "follows" | "blocks") =>
        Effect.fnUntraced(function*(account: AccountId, page: Page) {
          const { tail, where } = clauses(sql, "r.id", page)
          const rows = yield* accountRows(sql`SELECT r.id, a.uri, a.actor_path FROM ${sql(table)} r
            JOIN accounts a ON a.id = r.target_account_id WHERE r.account_id = ${account} AND ${where} ${tail}`)
          return pageOf(rows, page, ({ actorPath, uri }) => uri ?? LocalIds.actor(config, actorPath))
        }, Effect.orDie)

      return PortableAccounts.of({
        isOpen: traced("PortableAccounts.isOpen")((account) =>
          Effect.map(
            sql`SELECT FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.account_id = ${account}
              AND NOT u.disabled AND NOT a.memorial AND u.approved AND u.confirmed_at IS NOT NULL`,
            (rows) => rows.length > 0
          ).pipe(Effect.orDie)
        ),
        activities: traced("PortableAccounts.activities")(posts(true)),
        notes: traced("PortableAccounts.notes")(posts(false)),
        following: traced("PortableAccounts.following")(related("follows")),
        blocked: traced("PortableAccounts.blocked")(related("blocks")),
        liked: traced("PortableAccounts.liked")(function*(account: AccountId, page: Page) {
          const { tail, where } = clauses(sql, "id", page)
          const rows = yield* favouriteRows(sql`SELECT id, status_id FROM favourites
            WHERE account_id = ${account} AND ${where} ${tail}`)
          const uris = yield* objects.uris(rows.map(({ statusId }) => statusId))
          return pageOf(rows, page, ({ statusId }) => uris.get(statusId))
        }, Effect.orDie)
      })
    })
  )
}
