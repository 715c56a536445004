import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { only, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { decide, policyOf, type Verdict } from "./InteractionPolicy.ts"
import { interactionOf, type PolicyTarget, type RequestKind, RequestState } from "./InteractionRequest.ts"

const StandingRow = Schema.Struct({
  username: Schema.String,
  uri: Schema.NullOr(Schema.String),
  follows: Schema.Boolean,
  followed: Schema.Boolean,
  mentioned: Schema.Boolean,
  /** What became of the same request before. */
  before: Schema.NullOr(RequestState)
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
  /** Whether a status is a reply of an account to another. */
  readonly isReply: (statusId: bigint, parentId: bigint, account: bigint) => Effect.Effect<boolean, SqlError>
  /** Whether an address is of an account's own server. */
  readonly isAt: (account: bigint, address: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/PolicyVerdicts") {
  static readonly layer = Layer.effect(
    PolicyVerdicts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const verdict = traced("PolicyVerdicts.of")(
        function*(account: bigint, target: PolicyTarget, kind: RequestKind) {
          const { accountId, id } = target
          const row = only(
            yield* standingRows(sql`
            SELECT a.username, a.uri,
              EXISTS (SELECT FROM follows WHERE account_id = a.id AND target_account_id = ${accountId}) AS follows,
              EXISTS (SELECT FROM follows WHERE account_id = ${accountId} AND target_account_id = a.id) AS followed,
              EXISTS (SELECT FROM mentions WHERE status_id = ${id} AND account_id = a.id AND NOT silent AND NOT quiet)
                OR EXISTS (SELECT FROM unknown_mentions WHERE status_id = ${id} AND uri = a.uri AND addressed)
                OR EXISTS (SELECT FROM statuses WHERE id = ${id} AND in_reply_to_account_id = a.id) AS mentioned,
              (SELECT state FROM interaction_requests WHERE status_id = ${id} AND account_id = a.id AND kind = ${kind}
                AND kind <> 'reply') AS before
            FROM accounts a WHERE a.id = ${account}`)
          )
          const standing = {
            ...row,
            isAuthor: accountId === account,
            uri: row.uri ?? Urls.actor(config, row.username)
          }
          const said = decide(policyOf(target, interactionOf[kind]), standing)
          return {
            // What was refused once is not asked again.
            verdict: said !== "automatic" && row.before === "rejected" ? "denied" as const : said,
            mentioned: row.mentioned,
            local: row.uri === null
          }
        }
      )

      return PolicyVerdicts.of({
        of: verdict,
        isReply: traced("PolicyVerdicts.isReply")((statusId, parentId, account) =>
          Effect.map(
            sql`SELECT FROM statuses WHERE id = ${statusId} AND in_reply_to_id = ${parentId} AND account_id = ${account}
              AND deleted_at IS NULL`,
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
