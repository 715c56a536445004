import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import type { Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isOfDomain } from "../visibility/HiddenAccounts.ts"

/** Maximum domains that one user blocks. */
export const userDomainBlocksMax = 10_000
/** Relations with accounts of a blocked domain that one transaction ends. */
export const userDomainBlockSliceMax = 50

/** Relations of an account of the domain with the account that blocks it. */
const Related = Schema.Struct({
  accountId: Schema.BigInt,
  followed: Schema.Boolean,
  follower: Schema.Boolean,
  requesting: Schema.Boolean,
  /** Has pending requests to reply to, favourite or boost a post of the account that blocks it. */
  asking: Schema.Boolean
})
type Related = typeof Related.Type
const relatedRows = rowsOf(Related)

const quoteRows = rowsOf(Schema.Struct({ statusId: Schema.BigInt, accountId: Schema.BigInt }))

const domainRows = rowsOf(Schema.Struct({ domain: Schema.String }))
const listedRows = rowsOf(Schema.Struct({ cursor: Schema.BigInt, domain: Schema.String }))
const previewRows = rowsOf(Schema.Struct({ followingCount: Schema.Int, followersCount: Schema.Int }))

/** Domains that a user blocks (S-212): exactly these, without subdomains. */
export class UserDomainBlocks extends Context.Service<UserDomainBlocks, {
  /** Adds a block in the current transaction. Returns its id; undefined if it exists already. */
  readonly add: (account: AccountId, domain: string) => Effect.Effect<bigint | undefined, Unprocessable | SqlError>
  readonly remove: (account: AccountId, domain: string) => Effect.Effect<bigint | undefined, SqlError>
  readonly domainOf: (account: AccountId, id: bigint) => Effect.Effect<string | undefined, SqlError>
  /**
   * Returns accounts of the domain that follow, are followed, have a follow request in either direction or ask for
   * permission to interact, `userDomainBlockSliceMax` at most. Deletes all notifications from the domain.
   */
  readonly related: (account: AccountId, domain: string) => Effect.Effect<ReadonlyArray<Related>, SqlError>
  /** Returns pending and accepted quotes of the account by accounts of the domain, `userDomainBlockSliceMax` at most. */
  readonly quotes: (
    account: AccountId,
    domain: string
  ) => Effect.Effect<ReadonlyArray<{ readonly statusId: bigint; readonly accountId: bigint }>, SqlError>
  readonly page: (
    account: AccountId,
    page: Page
  ) => Effect.Effect<ReadonlyArray<{ readonly cursor: bigint; readonly domain: string }>>
  /** Counts the follows that a block of the domain would end. */
  readonly preview: (
    account: AccountId,
    domain: string
  ) => Effect.Effect<{ readonly followingCount: number; readonly followersCount: number }>
}>()("murmuration/services/social/UserDomainBlocks") {
  static readonly layer = Layer.effect(
    UserDomainBlocks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      /** SQL condition: the account with the alias `a` belongs to the domain. */
      const isOf = (domain: string) =>
        sql`EXISTS (SELECT FROM (SELECT ${domain}::text AS name) d WHERE ${sql.literal(isOfDomain("a", "d.name"))})`
      const idIn = ([row]: ReadonlyArray<{ readonly id: bigint }>) => row?.id

      return UserDomainBlocks.of({
        add: traced("UserDomainBlocks.add")(function*(account, domain) {
          const now = yield* Clock.currentTimeMillis
          const known = yield* sql`SELECT FROM domain_mutes WHERE account_id = ${account} AND domain = ${domain}`
          if (known.length > 0) return undefined
          const counted = sql`account_id = ${account}`
          yield* requireCapacity(sql, {
            table: "domain_mutes",
            name: "Domain blocks",
            max: userDomainBlocksMax,
            counted
          })
          return idIn(
            yield* idRows(
              tracked("relations", [account])(sql`INSERT INTO domain_mutes (id, account_id, domain)
              VALUES (next_id(${now}), ${account}, ${domain}) ON CONFLICT DO NOTHING RETURNING id`)
            )
          )
        }),
        remove: traced("UserDomainBlocks.remove")((account, domain) =>
          Effect.map(
            idRows(
              tracked("relations", [account])(
                sql`DELETE FROM domain_mutes WHERE account_id = ${account} AND domain = ${domain} RETURNING id`
              )
            ),
            idIn
          )
        ),
        domainOf: traced("UserDomainBlocks.domainOf")((account, id) =>
          Effect.map(
            domainRows(sql`SELECT domain FROM domain_mutes WHERE id = ${id} AND account_id = ${account}`),
            ([row]) => row?.domain
          )
        ),
        related: traced("UserDomainBlocks.related")(function*(account, domain) {
          yield* sql`DELETE FROM notifications WHERE id IN (
            SELECT n.id FROM notifications n JOIN accounts a ON a.id = n.from_account_id AND ${isOf(domain)}
            WHERE n.account_id = ${account})`
          return yield* relatedRows(sql`
            SELECT r.account_id, bool_or(r.how = 'followed') AS followed, bool_or(r.how = 'follower') AS follower,
              bool_or(r.how = 'requesting') AS requesting, bool_or(r.how = 'asking') AS asking
            FROM (SELECT target_account_id AS account_id, 'followed' AS how FROM follows WHERE account_id = ${account}
              UNION ALL SELECT target_account_id, 'followed' FROM follow_requests WHERE account_id = ${account}
              UNION ALL SELECT account_id, 'follower' FROM follows WHERE target_account_id = ${account}
              UNION ALL SELECT account_id, 'requesting' FROM follow_requests WHERE target_account_id = ${account}
              UNION ALL SELECT account_id, 'asking' FROM interaction_requests
                WHERE target_account_id = ${account} AND state = 'pending') r
            JOIN accounts a ON a.id = r.account_id AND ${isOf(domain)}
            GROUP BY r.account_id ORDER BY r.account_id LIMIT ${rowsMax(sql, userDomainBlockSliceMax)}`)
        }),
        quotes: traced("UserDomainBlocks.quotes")((account, domain) =>
          quoteRows(sql`SELECT q.status_id, q.account_id FROM quotes q JOIN accounts a ON a.id = q.account_id
            AND ${isOf(domain)} WHERE q.quoted_account_id = ${account} AND q.state IN ('pending', 'accepted')
            ORDER BY q.status_id LIMIT ${rowsMax(sql, userDomainBlockSliceMax)}`)
        ),
        page: traced("UserDomainBlocks.page")(function*(account, page) {
          if (page.limit === 0) return []
          const { tail, where } = clauses(sql, "d.id", page)
          const rows = yield* listedRows(sql`
            SELECT d.id AS cursor, d.domain FROM domain_mutes d WHERE d.account_id = ${account} AND ${where} ${tail}`)
          return newestFirst(page, rows)
        }, Effect.orDie),
        preview: traced("UserDomainBlocks.preview")(function*(account, domain) {
          const [row] = yield* previewRows(sql`SELECT
            (SELECT count(*)::int FROM follows f JOIN accounts a ON a.id = f.target_account_id
              WHERE f.account_id = ${account} AND ${isOf(domain)}) AS following_count,
            (SELECT count(*)::int FROM follows f JOIN accounts a ON a.id = f.account_id
              WHERE f.target_account_id = ${account} AND ${isOf(domain)}) AS followers_count`)
          return row ?? { followingCount: 0, followersCount: 0 }
        }, Effect.orDie)
      })
    })
  )
}
