import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { traced } from "../runtime/Traced.ts"
import { isBlockedEitherWay } from "../visibility/HiddenAccounts.ts"
import { decide, policyOf, type Verdict } from "./InteractionPolicy.ts"
import { interactionOf, type PolicyTarget, RequestKind } from "./InteractionRequest.ts"

const StandingRow = Schema.Struct({
  accountId: Schema.BigInt,
  statusId: Schema.BigInt,
  actorPath: Urls.ActorPath,
  uri: Schema.NullOr(Schema.String),
  follows: Schema.Boolean,
  followed: Schema.Boolean,
  mentioned: Schema.Boolean,
  /** Kinds of requests that were rejected before; replies are excluded, as each is a new request. */
  refused: Schema.Array(RequestKind)
})
const standingRows = rowsOf(StandingRow)
const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/**
 * Condition: a reply that arrived before its parent needs no consent, for rows under aliases. Everyone may reply, or
 * the replier is the author or a mentioned account, even if that mention is not resolved yet.
 */
export const mayReply = (sql: SqlClient.SqlClient, reply: string, parent: string): Fragment =>
  sql.literal(`(${parent}.interaction_policy IS NULL OR NOT ${parent}.interaction_policy @> '{canReply}'
    OR ${parent}.interaction_policy @> '{canReply:automatic:public}' OR ${reply}.account_id = ${parent}.account_id
    OR EXISTS (SELECT FROM mentions named WHERE named.status_id = ${parent}.id AND named.account_id = ${reply}.account_id
      AND NOT named.silent AND NOT named.quiet)
    OR EXISTS (SELECT FROM unknown_mentions named JOIN accounts replier ON replier.uri = named.uri
      WHERE named.status_id = ${parent}.id AND replier.id = ${reply}.account_id AND named.addressed))`)

/** An account that may see a status. */
interface Asking {
  readonly account: bigint
  readonly target: PolicyTarget
}

/** Verdicts of a policy on an account, by kind. */
export type Verdicts = { readonly [Kind in RequestKind]: Verdict }

/** Verdicts of policies on accounts. */
export class PolicyVerdicts extends Context.Service<PolicyVerdicts, {
  /** Returns the verdict on an account that may see the status; also if it is mentioned, and if it is local. */
  readonly of: (
    account: bigint,
    target: PolicyTarget,
    kind: RequestKind
  ) => Effect.Effect<
    { readonly verdict: Verdict; readonly mentioned: boolean; readonly local: boolean },
    SqlError
  >
  /** Returns the verdicts on readers, by `account status`; one query. */
  readonly ofReaders: (asking: ReadonlyArray<Asking>) => Effect.Effect<ReadonlyMap<string, Verdicts>, SqlError>
  /** Returns true if a status is this account's reply to the other one. */
  readonly isReply: (statusId: bigint, parentId: bigint, account: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns true if a block separates the two accounts; it overrides every policy. */
  readonly isSeparate: (account: bigint, author: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns true if a URL is on the account's own server. */
  readonly isAt: (account: bigint, address: string) => Effect.Effect<boolean, SqlError>
}>()("murmuration/services/statuses/PolicyVerdicts") {
  static readonly layer = Layer.effect(
    PolicyVerdicts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const standings = (asking: ReadonlyArray<Asking>) =>
        standingRows(sql`
          SELECT a.id AS account_id, given.status_id, a.actor_path, a.uri,
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
          uri: row.uri ?? Urls.actor(config, row.actorPath)
        }
        const verdict = decide(policyOf(target, interactionOf[kind]), standing)
        // A rejected request is not asked again.
        return verdict !== "automatic" && row.refused.includes(kind) ? "denied" : verdict
      }
      const keyOf = (account: bigint, statusId: bigint) => `${account} ${statusId}`

      return PolicyVerdicts.of({
        of: traced("PolicyVerdicts.of")((account, target, kind) =>
          Effect.map(Effect.map(standings([{ account, target }]), singleRow), (row) => ({
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
              // Mentioned accounts may always reply.
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
            sql`SELECT WHERE ${isBlockedEitherWay(sql, sql`${author}::bigint`, sql`${account}::bigint`)}`,
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
