import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"
import {
  ClaimedConsent,
  DecidedRequest,
  KnownRequest,
  type NewRequest,
  type RequestKind,
  RequestState
} from "./InteractionRequest.ts"
import { separatedMax } from "./Interactions.ts"

const decidedRows = rowsOf(DecidedRequest)
const knownRows = rowsOf(KnownRequest)
const claimRows = rowsOf(ClaimedConsent)
const WrittenRow = Schema.Struct({ id: Schema.BigInt, state: RequestState, isNew: Schema.Boolean })
const writtenRows = rowsOf(WrittenRow)

/** Interaction requests and their decisions; written in transactions of actors. */
export class InteractionRequests extends Context.Service<InteractionRequests, {
  /**
   * Writes a request. Favourites and boosts have one for each status and account: an existing one is returned, and only
   * consent changes its state.
   */
  readonly write: (request: NewRequest) => Effect.Effect<typeof WrittenRow.Type, SqlError>
  /**
   * Moves a request that `target` decides from one of the states `from` to another; undefined if no request matches.
   */
  readonly decide: (
    id: bigint,
    target: bigint,
    from: ReadonlyArray<RequestState>,
    to: RequestState,
    authorizationUri?: string
  ) => Effect.Effect<DecidedRequest | undefined, SqlError>
  /** Decides a pending request whose account claims consent of a remote author. */
  readonly settle: (
    id: bigint,
    account: bigint,
    to: RequestState
  ) => Effect.Effect<DecidedRequest | undefined, SqlError>
  /** Returns the claim to check; undefined if it is no longer pending. */
  readonly claim: (id: bigint) => Effect.Effect<ClaimedConsent | undefined, SqlError>
  /** Rejects a pending request if `account` is one of the two parties. */
  readonly expire: (id: bigint, account: bigint) => Effect.Effect<DecidedRequest | undefined, SqlError>
  /** Returns the request of a reply or boost. */
  readonly ofInteraction: (interactionId: bigint) => Effect.Effect<KnownRequest | undefined, SqlError>
  /** Rejects the accepted requests of replies that were removed from their threads. */
  readonly revoke: (interactionIds: ReadonlyArray<bigint>) => Effect.Effect<void, SqlError>
  /** Returns pending requests of one account about statuses of another, `separatedMax` at most. */
  readonly between: (target: bigint, account: bigint) => Effect.Effect<ReadonlyArray<KnownRequest>, SqlError>
  /** Returns requests with this authorization by the author. */
  readonly byAuthorization: (author: bigint, uri: string) => Effect.Effect<ReadonlyArray<KnownRequest>, SqlError>
  /** Returns and locks an account's request about a status, unless rejected. */
  readonly standing: (
    kind: RequestKind,
    account: bigint,
    statusId: bigint
  ) => Effect.Effect<KnownRequest | undefined, SqlError>
  /** Returns and locks the request that a remote account made under this id. */
  readonly byRequest: (account: bigint, requestUri: string) => Effect.Effect<KnownRequest | undefined, SqlError>
  readonly remove: (id: bigint) => Effect.Effect<void, SqlError>
  /** Deletes the pending request of a reply or boost; returns it, if any. */
  readonly forget: (interactionId: bigint) => Effect.Effect<KnownRequest | undefined, SqlError>
}>()("murmuration/services/statuses/InteractionRequests") {
  static readonly layer = Layer.effect(
    InteractionRequests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const columns = sql.literal(
        "r.id, r.kind, r.account_id, r.target_account_id, r.status_id, r.interaction_id, r.visibility, r.mentioned, r.readers, r.state, (SELECT a.domain IS NULL FROM accounts a WHERE a.id = r.account_id) AS local"
      )

      const write = traced("InteractionRequests.write")(function*(request: NewRequest) {
        const {
          accountId,
          authorizationUri = null,
          interactionId,
          kind,
          requestUri = null,
          state,
          target,
          uri = null
        } = request
        const millis = yield* Clock.currentTimeMillis
        const at = new Date(millis)
        return singleRow(
          yield* writtenRows(
            tracked("status", interactionId === null ? [target.id] : [target.id, interactionId])(
              sql`INSERT INTO interaction_requests AS r (id, kind, account_id, target_account_id, status_id,
            interaction_id, uri, request_uri, authorization_uri, state, created_at, decided_at)
          VALUES (next_id(${millis}), ${kind}, ${accountId}, ${target.accountId}, ${target.id}, ${interactionId}, ${uri},
            ${requestUri}, ${authorizationUri}, ${state}, ${at}, ${state === "pending" ? null : at})
          ON CONFLICT (status_id, account_id, kind) WHERE kind <> 'reply' DO UPDATE SET
            interaction_id = coalesce(excluded.interaction_id, r.interaction_id), uri = coalesce(excluded.uri, r.uri),
            request_uri = coalesce(excluded.request_uri, r.request_uri),
            state = CASE WHEN excluded.state = 'accepted' THEN 'accepted' ELSE r.state END,
            decided_at = CASE WHEN excluded.state = 'accepted' THEN coalesce(r.decided_at, excluded.decided_at) ELSE r.decided_at END
          RETURNING r.id, r.state, r.xmax = 0 AS is_new`
            )
          )
        )
      })

      const decided = Effect.fnUntraced(
        function*(found: Fragment, to: RequestState, authorizationUri?: string) {
          const at = new Date(yield* Clock.currentTimeMillis)
          const [row] = yield* tracked(
            "status",
            (rows: ReadonlyArray<KnownRequest>) =>
              rows.flatMap(({ interactionId, statusId }) =>
                interactionId === null ? [statusId] : [statusId, interactionId]
              )
          )(decidedRows(sql`
            WITH before AS MATERIALIZED (SELECT id, state FROM interaction_requests WHERE ${found} FOR UPDATE)
            UPDATE interaction_requests r SET state = ${to}, decided_at = ${at},
              authorization_uri = coalesce(${authorizationUri ?? null}, r.authorization_uri)
            FROM before WHERE r.id = before.id RETURNING ${columns}, before.state AS before`))
          return row
        }
      )

      return InteractionRequests.of({
        write,
        decide: traced("InteractionRequests.decide")((id, target, from, to, authorizationUri) =>
          decided(
            sql`id = ${id} AND target_account_id = ${target} AND state = ANY (${from}::text[])`,
            to,
            authorizationUri
          )
        ),
        settle: traced("InteractionRequests.settle")((id, account, to) =>
          decided(
            sql`id = ${id} AND account_id = ${account} AND state = 'pending' AND authorization_uri IS NOT NULL`,
            to
          )
        ),
        expire: traced("InteractionRequests.expire")((id, account) =>
          decided(
            sql`id = ${id} AND state = 'pending' AND ${account} IN (account_id, target_account_id)`,
            "rejected"
          )
        ),
        claim: traced("InteractionRequests.claim")((id) =>
          Effect.map(
            claimRows(sql`SELECT r.kind, r.account_id, r.uri, r.authorization_uri, s.uri AS target, a.uri AS author
              FROM interaction_requests r JOIN statuses s ON s.id = r.status_id JOIN accounts a ON a.id = s.account_id
              WHERE r.id = ${id} AND r.state = 'pending' AND r.uri IS NOT NULL AND r.authorization_uri IS NOT NULL
                AND s.uri IS NOT NULL AND s.deleted_at IS NULL`),
            ([row]) => row
          )
        ),
        ofInteraction: traced("InteractionRequests.ofInteraction")((interactionId) =>
          Effect.map(
            knownRows(sql`SELECT ${columns} FROM interaction_requests r WHERE r.interaction_id = ${interactionId}`),
            ([row]) => row
          )
        ),
        revoke: traced("InteractionRequests.revoke")((interactionIds) =>
          Effect.asVoid(
            tracked("status", interactionIds)(sql`UPDATE interaction_requests SET state = 'rejected'
            WHERE interaction_id = ANY (${interactionIds}::bigint[]) AND state = 'accepted'`)
          )
        ),
        between: traced("InteractionRequests.between")((target, account) =>
          knownRows(sql`SELECT ${columns} FROM interaction_requests r WHERE r.account_id = ${account}
            AND r.target_account_id = ${target} AND r.state = 'pending' ORDER BY r.id
            LIMIT ${rowsMax(sql, separatedMax)}`)
        ),
        byAuthorization: traced("InteractionRequests.byAuthorization")((author, uri) =>
          knownRows(sql`SELECT ${columns} FROM interaction_requests r WHERE r.authorization_uri = ${uri}
            AND r.target_account_id = ${author} ORDER BY r.id LIMIT 100`)
        ),
        standing: traced("InteractionRequests.standing")((kind, account, statusId) =>
          Effect.map(
            knownRows(sql`SELECT ${columns} FROM interaction_requests r WHERE r.status_id = ${statusId}
              AND r.account_id = ${account} AND r.kind = ${kind} AND r.state <> 'rejected' FOR UPDATE OF r`),
            ([row]) => row
          )
        ),
        byRequest: traced("InteractionRequests.byRequest")((account, requestUri) =>
          Effect.map(
            knownRows(sql`SELECT ${columns} FROM interaction_requests r WHERE r.request_uri = ${requestUri}
              AND r.account_id = ${account} ORDER BY r.id DESC LIMIT 1 FOR UPDATE OF r`),
            ([row]) => row
          )
        ),
        remove: traced("InteractionRequests.remove")((id) =>
          Effect.asVoid(sql`DELETE FROM interaction_requests WHERE id = ${id}`)
        ),
        forget: traced("InteractionRequests.forget")((interactionId) =>
          Effect.map(
            knownRows(
              tracked("status", [interactionId])(
                sql`DELETE FROM interaction_requests r WHERE r.interaction_id = ${interactionId}
              AND r.state = 'pending' RETURNING ${columns}`
              )
            ),
            ([row]) => row
          )
        )
      })
    })
  )
}
