import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { isSeparate } from "../HiddenAccounts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { decide, policyOf, type Verdict } from "./InteractionPolicy.ts"
import { interactionOf, type PolicyTarget, RequestKind } from "./InteractionRequest.ts"

const StandingRow = Schema.Struct({
  accountId: Schema.BigInt,
  statusId: Schema.BigInt,
  username: Schema.String,
  uri: Schema.NullOr(Schema.String),
  follows: Schema.Boolean,
  followed: Schema.Boolean,
  mentioned: Schema.Boolean,
  /** What it asked for before in vain; a reply is another each time. */
  refused: Schema.Array(RequestKind)
})
const standingRows = rowsOf(StandingRow)
const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/**
 * Whether a reply that came before what it answers needs no consent, for rows under aliases: everybody may answer that, or its
 * author does, or somebody whom it names, also where who that is has not been looked up yet.
 */
export const mayAnswer = (sql: SqlClient.SqlClient, reply: string, parent: string): Fragment =>
  sql.literal(`(${parent}.interaction_policy IS NULL OR NOT ${parent}.interaction_policy @> '{canReply}'
    OR ${parent}.interaction_policy @> '{canReply:automatic:public}' OR ${reply}.account_id = ${parent}.account_id
    OR EXISTS (SELECT FROM mentions named WHERE named.status_id = ${parent}.id AND named.account_id = ${reply}.account_id
      AND NOT named.silent AND NOT named.quiet)
    OR EXISTS (SELECT FROM unknown_mentions named JOIN accounts replier ON replier.uri = named.uri
      WHERE named.status_id = ${parent}.id AND replier.id = ${reply}.account_id AND named.addressed))`)

/** Somebody who may see a status. */
interface Asking {
  readonly account: bigint
  readonly target: PolicyTarget
}

/** What a policy says to somebody, of each interaction. */
export type Verdicts = { readonly [Kind in RequestKind]: Verdict }

/** What policies say to accounts, and how these stand to statuses. */
export class PolicyVerdicts extends Context.Service<PolicyVerdicts, {
  /** To one that may see the status; and whether that is named in it, and is somebody here. */
  readonly of: (
    account: bigint,
    target: PolicyTarget,
    kind: RequestKind
  ) => Effect.Effect<
    { readonly verdict: Verdict; readonly mentioned: boolean; readonly local: boolean },
    SqlError
  >
  /** What they say to readers, by `account status`; one query. */
  readonly ofReaders: (asking: ReadonlyArray<Asking>) => Effect.Effect<ReadonlyMap<string, Verdicts>, SqlError>
  /** Whether a status is a reply of an account to another. */
  readonly isReply: (statusId: bigint, parentId: bigint, account: bigint) => Effect.Effect<boolean, SqlError>
  /** A block separates the two accounts, which outranks every policy. */
  readonly isSeparate: (account: bigint, author: bigint) => Effect.Effect<boolean, SqlError>
  /** Whether an address is of an account's own server. */
  readonly isAt: (account: bigint, address: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/PolicyVerdicts") {
  static readonly layer = Layer.effect(
    PolicyVerdicts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const standings = (asking: ReadonlyArray<Asking>) =>
        standingRows(sql`
          SELECT a.id AS account_id, given.status_id, a.username, a.uri,
            EXISTS (SELECT FROM follows WHERE account_id = a.id AND target_account_id = given.author_id) AS follows,
            EXISTS (SELECT FROM follows WHERE account_id = given.author_id AND target_account_id = a.id) AS followed,
            EXISTS (SELECT FROM mentions WHERE status_id = given.status_id AND account_id = a.id AND NOT silent AND NOT quiet)
              OR EXISTS (SELECT FROM unknown_mentions WHERE status_id = given.status_id AND uri = a.uri AND addressed)
              OR EXISTS (SELECT FROM statuses WHERE id = given.status_id AND in_reply_to_account_id = a.id) AS mentioned,
            ARRAY(SELECT kind FROM interaction_requests WHERE status_id = given.status_id AND account_id = a.id
              AND state = 'rejected' AND kind <> 'reply') AS refused
          FROM unnest(${asking.map(({ account }) => account)}::bigint[], ${
          asking.map(({ target }) => target.id)
        }::bigint[], ${
          asking.map(({ target }) => target.accountId)
        }::bigint[]) AS given (account_id, status_id, author_id)
          JOIN accounts a ON a.id = given.account_id`)
      const verdictOf = (row: typeof StandingRow.Type, target: PolicyTarget, kind: RequestKind): Verdict => {
        const standing = {
          ...row,
          isAuthor: target.accountId === row.accountId,
          uri: row.uri ?? Urls.actor(config, row.username)
        }
        const said = decide(policyOf(target, interactionOf[kind]), standing)
        // What was refused once is not asked again.
        return said !== "automatic" && row.refused.includes(kind) ? "denied" : said
      }
      const keyOf = (account: bigint, statusId: bigint) => `${account} ${statusId}`

      return PolicyVerdicts.of({
        of: traced("PolicyVerdicts.of")((account, target, kind) =>
          Effect.map(Effect.map(standings([{ account, target }]), only), (row) => ({
            verdict: verdictOf(row, target, kind),
            mentioned: row.mentioned,
            local: row.uri === null
          }))
        ),
        ofReaders: traced("PolicyVerdicts.ofReaders")(function*(asking) {
          const targets = new Map(asking.map(({ target }) => [target.id, target]))
          const rows = yield* standings(asking)
          return new Map(rows.flatMap((row): ReadonlyArray<[string, Verdicts]> => {
            const target = targets.get(row.statusId)
            if (target === undefined) return []
            const verdict = (kind: RequestKind) => verdictOf(row, target, kind)
            return [[keyOf(row.accountId, row.statusId), {
              favourite: verdict("favourite"),
              // Whom a status names may always answer it.
              reply: row.mentioned ? "automatic" : verdict("reply"),
              reblog: verdict("reblog")
            }]]
          }))
        }),
        isReply: traced("PolicyVerdicts.isReply")((statusId, parentId, account) =>
          Effect.map(
            sql`SELECT FROM statuses WHERE id = ${statusId} AND in_reply_to_id = ${parentId} AND account_id = ${account}
              AND deleted_at IS NULL`,
            (rows) => rows.length > 0
          )
        ),
        isSeparate: traced("PolicyVerdicts.isSeparate")((account, author) =>
          Effect.map(
            sql`SELECT WHERE ${isSeparate(sql, sql`${author}::bigint`, sql`${account}::bigint`)}`,
            (rows) => rows.length > 0
          )
        ),
        isAt: traced("PolicyVerdicts.isAt")((account, address) =>
          Effect.map(
            uriRows(sql`SELECT uri FROM accounts WHERE id = ${account} AND uri IS NOT NULL`),
            ([row]) => row !== undefined && URL.parse(row.uri)?.origin === URL.parse(address)?.origin
          )
        )
      })
    })
  )
}
