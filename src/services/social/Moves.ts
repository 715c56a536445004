import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../database/Ids.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { NotAllowed, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"

/** Minimum time between moves, in milliseconds: of a remote account, and of a local one. */
const remoteMoveMillisMin = 7 * 86_400_000
const localMoveMillisMin = 30 * 86_400_000
/** Maximum aliases of a local account. */
const aliasesMax = 100
/** Maximum followers that one move transfers, and maximum of one slice (row 23). */
const handedOverMax = 100_000
export const transferRowsMax = 500

/** A slice of accounts to transfer; `cursor` is undefined after the last one. */
interface TransferSlice {
  readonly accountIds: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

const sliceRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))
const handedOverRows = rowsOf(Schema.Struct({ handedOver: Schema.Int }))
const alsoKnownAsRows = rowsOf(Schema.Struct({ alsoKnownAs: Schema.Array(Schema.String) }))
const targetUriRows = rowsOf(Schema.Struct({ targetUri: Schema.String }))
const aliasesRows = rowsOf(Schema.Struct({ aliases: Schema.Array(Schema.String) }))

/** Account moves; always called in the transaction of the moving account, unless noted. */
export class Moves extends Context.Service<Moves, {
  /** Records a remote account's requested move; false if its last move is too recent. */
  readonly request: (accountId: AccountId, targetUri: string) => Effect.Effect<boolean, SqlError>
  /** Returns the target of a requested move; called outside of transactions, before the target is fetched. */
  readonly requestedTarget: (accountId: bigint) => Effect.Effect<string | undefined, SqlError>
  /**
   * Moves an account if the target has it among its aliases and has not moved itself (row 23). Fails with `NotAllowed`
   * otherwise.
   */
  readonly perform: (accountId: AccountId, target: AccountId) => Effect.Effect<void, NotAllowed | SqlError>
  /** Returns the next slice above a cursor: local followers, or local accounts that block or mute the account. */
  readonly followers: (accountId: AccountId, cursor: bigint) => Effect.Effect<TransferSlice, SqlError>
  /** Returns the next slice of local accounts that follow the account, or asked to. */
  readonly followersAndRequesters: (accountId: AccountId, cursor: bigint) => Effect.Effect<TransferSlice, SqlError>
  readonly blockersAndMuters: (accountId: AccountId, cursor: bigint) => Effect.Effect<TransferSlice, SqlError>
  /** Adds or removes an alias of a local account; an alias is an actor's id. */
  readonly alias: (accountId: AccountId, uri: string, present: boolean) => Effect.Effect<void, Unprocessable | SqlError>
  /**
   * Returns the aliases of an account, as actor ids: those set here, or last stated by its server. Called outside of
   * transactions.
   */
  readonly aliasesOf: (accountId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Returns the aliases of a local account. */
  readonly aliases: (accountId: bigint) => Effect.Effect<ReadonlyArray<string>, SqlError>
}>()("murmuration/services/social/Moves") {
  static readonly layer = Layer.effect(
    Moves,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const config = yield* ServerConfig

      const request = traced("Moves.request")(function*(accountId: AccountId, targetUri: string) {
        const since = new Date((yield* Clock.currentTimeMillis) - remoteMoveMillisMin)
        const rows = yield* sql`INSERT INTO moves (account_id, target_uri) VALUES (${accountId}, ${targetUri})
          ON CONFLICT (account_id) DO UPDATE SET target_uri = excluded.target_uri
          WHERE moves.moved_at IS NULL OR moves.moved_at < ${since} RETURNING account_id`
        return rows.length > 0
      })

      const perform = traced("Moves.perform")(function*(accountId: AccountId, target: AccountId) {
        const now = yield* Clock.currentTimeMillis
        const [self, other] = yield* Effect.map(
          sideRows(sql`SELECT a.id, a.actor_path, a.domain, a.uri,
              a.moved_to_id IS NOT NULL OR r.moved_to IS NOT NULL AS moved, a.suspended_at IS NOT NULL AS suspended, m.moved_at,
              CASE WHEN a.domain IS NULL THEN a.also_known_as ELSE coalesce(r.also_known_as, '{}') END AS aliases
            FROM accounts a LEFT JOIN remote_actors r ON r.account_id = a.id LEFT JOIN moves m ON m.account_id = a.id
            WHERE a.id IN (${accountId}, ${target})`),
          (rows) => [rows.find(({ id }) => id === accountId), rows.find(({ id }) => id === target)]
        )
        if (self === undefined || other === undefined || accountId === target || other.suspended) {
          return yield* new NotAllowed({ text: "The target account was not found" })
        }
        if (other.moved) return yield* new NotAllowed({ text: "The target account has moved to another account" })
        const uri = self.uri ?? Urls.actor(config, self.actorPath)
        if (!other.aliases.includes(uri)) {
          return yield* new NotAllowed({ text: "The target account does not list this account as an alias" })
        }
        const millisMin = self.domain === null ? localMoveMillisMin : remoteMoveMillisMin
        if (self.movedAt !== null && self.movedAt.getTime() > now - millisMin) {
          return yield* new NotAllowed({ text: "You cannot move again so soon after your last move" })
        }
        // The move changes the state of the user.
        yield* tracked("user", [accountId])(
          tracked("account", [accountId])(sql`UPDATE accounts SET moved_to_id = ${target} WHERE id = ${accountId}`)
        )
        yield* sql`INSERT INTO moves (account_id, target_uri, moved_at)
          VALUES (${accountId}, ${other.uri ?? Urls.actor(config, other.actorPath)}, ${new Date(now)})
          ON CONFLICT (account_id) DO UPDATE SET moved_at = excluded.moved_at, target_uri = excluded.target_uri,
            handed_over = 0, recorded_followers = NULL`
      })

      const slice = (rows: ReadonlyArray<{ readonly id: bigint; readonly accountId: bigint }>): TransferSlice => ({
        accountIds: rows.map(({ accountId }) => AccountId.make(accountId)),
        cursor: rows.length < transferRowsMax ? undefined : rows.at(-1)?.id
      })

      const followers = traced("Moves.followers")(function*(accountId: AccountId, cursor: bigint) {
        const rows = yield* sliceRows(sql`
          SELECT f.id, f.account_id FROM follows f JOIN users u ON u.account_id = f.account_id
          WHERE f.target_account_id = ${accountId} AND f.id > ${cursor} ORDER BY f.id LIMIT ${transferRowsMax}`)
        const [move] = yield* handedOverRows(sql`
          UPDATE moves SET handed_over = handed_over + ${rows.length} WHERE account_id = ${accountId} RETURNING handed_over`)
        const left = handedOverMax - ((move?.handedOver ?? handedOverMax) - rows.length)
        return slice(rows.slice(0, Math.max(0, left)))
      })

      /** Returns the next slice of local accounts that have a row about the account in one of two tables. */
      const relatedBy = Effect.fnUntraced(
        function*(tables: readonly [string, string], accountId: AccountId, cursor: bigint) {
          const [one, other] = [sql(tables[0]), sql(tables[1])]
          const rows = yield* sliceRows(sql`
          SELECT account_id AS id, account_id FROM (
            SELECT account_id FROM ${one} WHERE target_account_id = ${accountId}
            UNION SELECT account_id FROM ${other} WHERE target_account_id = ${accountId}) related
          WHERE account_id > ${cursor} AND EXISTS (SELECT FROM users u WHERE u.account_id = related.account_id)
          ORDER BY account_id LIMIT ${transferRowsMax}`)
          return slice(rows)
        }
      )

      const aliases = traced("Moves.aliases")(function*(accountId: bigint) {
        const [row] = yield* alsoKnownAsRows(sql`
          SELECT also_known_as FROM accounts WHERE id = ${accountId}`)
        return row?.alsoKnownAs ?? []
      })

      const alias = traced("Moves.alias")(function*(accountId: AccountId, uri: string, present: boolean) {
        const rest = (yield* aliases(accountId)).filter((one) => one !== uri)
        if (present && rest.length >= aliasesMax) {
          return yield* validationFailed(`Aliases are too many (maximum is ${aliasesMax})`)
        }
        yield* tracked("account", [accountId])(
          sql`UPDATE accounts SET also_known_as = ${present ? [...rest, uri] : rest}::text[] WHERE id = ${accountId}`
        )
      })

      return Moves.of({
        request,
        requestedTarget: traced("Moves.requestedTarget")(function*(accountId) {
          const [row] = yield* targetUriRows(sql`SELECT target_uri FROM moves WHERE account_id = ${accountId}`)
          return row?.targetUri
        }),
        perform,
        followers,
        followersAndRequesters: traced("Moves.followersAndRequesters")((accountId, cursor) =>
          relatedBy(["follows", "follow_requests"], accountId, cursor)
        ),
        blockersAndMuters: traced("Moves.blockersAndMuters")((accountId, cursor) =>
          relatedBy(["blocks", "mutes"], accountId, cursor)
        ),
        alias,
        aliases,
        aliasesOf: traced("Moves.aliasesOf")(function*(accountId) {
          const [row] = yield* aliasesRows(sql`
            SELECT CASE WHEN a.domain IS NULL THEN a.also_known_as ELSE coalesce(r.also_known_as, '{}') END AS aliases
            FROM accounts a LEFT JOIN remote_actors r ON r.account_id = a.id WHERE a.id = ${accountId}`)
          return row?.aliases ?? []
        })
      })
    })
  )
}

const Side = Schema.Struct({
  id: Schema.BigInt,
  actorPath: Urls.ActorPath,
  domain: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String),
  moved: Schema.Boolean,
  suspended: Schema.Boolean,
  movedAt: Schema.NullOr(Timestamptz),
  aliases: Schema.Array(Schema.String)
})
type Side = typeof Side.Type
const sideRows = rowsOf(Side)
