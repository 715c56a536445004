import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../database/Ids.ts"
import { idRows, rowsOf } from "../../database/Rows.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { Jobs } from "../../intents/Jobs.ts"
import { traced } from "../../runtime/Traced.ts"
import { decide, policyOf } from "../../statuses/InteractionPolicy.ts"
import { Quotes } from "../../statuses/Quotes.ts"
import { StoredStatus } from "../../statuses/StoredStatus.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"
import { KnownUris } from "./KnownUris.ts"

/** Maximum depth to which quotes of quotes are fetched (row 51). */
const depthMax = 2

const quotedRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  local: Schema.Boolean,
  visibility: StoredStatus.fields.visibility,
  interactionPolicy: StoredStatus.fields.interactionPolicy,
  reblogOfId: Schema.NullOr(Schema.BigInt)
}))
const Waiting = Schema.Struct({
  /** Quoting account, and the id of its post. */
  author: AccountId,
  uri: Schema.String,
  /** Id of the quoted post, if it is not stored. */
  missing: Schema.NullOr(Schema.String),
  /** Ids of the quoted post and its author, if they are remote and stored. */
  quoted: Schema.NullOr(Schema.String),
  quotedAuthor: Schema.NullOr(Schema.String),
  /** Claimed consent, if it must be checked. */
  authorization: Schema.NullOr(Schema.String),
  /** Depth: length of the chain of posts that quote it. */
  depth: Schema.Int
})
const waitingRows = rowsOf(Waiting)
const knownRows = rowsOf(Schema.Struct({
  quotedStatusId: Schema.NullOr(Schema.BigInt),
  quotedUri: Schema.NullOr(Schema.String),
  authorizationUri: Schema.NullOr(Schema.String),
  state: Schema.String,
  legacy: Schema.Boolean
}))
const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/** Quotes in remote posts; use only in the transaction of the author's actor, except `waiting`. */
export class RemoteQuotes extends Context.Service<RemoteQuotes, {
  /**
   * Stores a post's quote; enqueues a job if something must be fetched. Returns the local account to notify, if any.
   */
  readonly store: (
    account: AccountId,
    statusId: bigint,
    quote: NonNullable<ForeignNote["quote"]>
  ) => Effect.Effect<bigint | undefined, SqlError>
  /** Returns the facts that must be fetched for a quote. */
  readonly waiting: (statusId: bigint) => Effect.Effect<typeof Waiting.Type | undefined, SqlError>
  /**
   * Applies fetched facts: the quoted post, and whether its author's server has the consent `authorization`. Returns
   * true if the quote is accepted by this.
   */
  readonly settle: (
    account: AccountId,
    statusId: bigint,
    verdict: { readonly authorization: string; readonly holds: boolean } | undefined
  ) => Effect.Effect<boolean, SqlError>
  /** Returns quotes that are accepted by this consent of the author. */
  readonly byAuthorization: (author: AccountId, uri: string) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/federation/inbox/RemoteQuotes") {
  static readonly layerNoDeps = Layer.effect(
    RemoteQuotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const config = yield* ServerConfig
      const jobs = yield* Jobs
      const knownUris = yield* KnownUris
      const quotes = yield* Quotes

      const find = Effect.fnUntraced(function*(uri: string) {
        const id = yield* knownUris.status(uri)
        if (id === undefined) return undefined
        const [found] = yield* quotedRows(sql`SELECT id, account_id, local, visibility, interaction_policy, reblog_of_id
          FROM statuses WHERE id = ${id}`)
        return found
      })
      type Found = NonNullable<Effect.Success<ReturnType<typeof find>>>

      /**
       * Returns true if no proof of consent is needed: for the author's own post, and for one that everyone may quote
       * if the quoting server's format has no consent.
       */
      const isFree = (account: AccountId, quoted: Found, legacy: boolean) =>
        quoted.accountId === account || (legacy && decide(policyOf(quoted, "canQuote"), {
              isAuthor: false,
              follows: false,
              followed: false,
              mentioned: false
            }) === "automatic")

      const ours = new URL(config.publicUrl).origin
      const isOurs = (uri: string) => URL.parse(uri)?.origin === ours

      const note = traced("RemoteQuotes.store")(
        function*(account: AccountId, statusId: bigint, quote: NonNullable<ForeignNote["quote"]>) {
          const quoted = yield* find(quote.uri)
          if (quoted !== undefined && quoted.reblogOfId !== null) return undefined
          if (quoted === undefined && isOurs(quote.uri)) return undefined
          const authorizationUri = quoted?.local === true ? null : quote.authorization ?? null
          const [before] = yield* knownRows(sql`SELECT quoted_status_id, quoted_uri, authorization_uri, state, legacy
            FROM quotes WHERE status_id = ${statusId} AND account_id = ${account}`)
          if (before === undefined) {
            const accepted = quoted !== undefined && isFree(account, quoted, quote.legacy)
            const allowed = yield* quotes.insert({
              statusId,
              accountId: account,
              quotedStatusId: quoted?.id ?? null,
              quotedAccountId: quoted?.accountId ?? null,
              quotedUri: quoted === undefined ? quote.uri : null,
              state: accepted ? "accepted" : "pending",
              legacy: quote.legacy,
              authorizationUri
            })
            if (!allowed) return undefined
            if (quoted === undefined || (!accepted && authorizationUri !== null)) yield* jobs.enqueue("quote", statusId)
            return accepted && quoted?.local === true && quoted.accountId !== account ? quoted.accountId : undefined
          }
          // A consent that arrived later.
          const isNew = authorizationUri !== null && authorizationUri !== before.authorizationUri
          if (before.state === "accepted" || before.state === "revoked" || !isNew) return undefined
          yield* tracked("status", [statusId])(
            sql`UPDATE quotes SET authorization_uri = ${authorizationUri}, state = 'pending', legacy = ${quote.legacy}
            WHERE status_id = ${statusId} AND account_id = ${account}`
          )
          yield* jobs.enqueue("quote", statusId)
          return undefined
        }
      )

      const waiting = traced("RemoteQuotes.waiting")(function*(statusId: bigint) {
        const [row] = yield* waitingRows(sql`
          WITH RECURSIVE above (status_id, depth) AS (SELECT ${statusId}::bigint, 0
            UNION ALL SELECT q.status_id, above.depth + 1 FROM above JOIN quotes q ON q.quoted_status_id = above.status_id
            WHERE above.depth <= ${depthMax})
          SELECT q.account_id AS author, s.uri, q.quoted_uri AS missing, t.uri AS quoted, a.uri AS quoted_author,
            CASE WHEN q.state = 'pending' THEN q.authorization_uri END AS authorization,
            (SELECT max(depth)::int FROM above) AS depth
          FROM quotes q JOIN statuses s ON s.id = q.status_id LEFT JOIN statuses t ON t.id = q.quoted_status_id
          LEFT JOIN accounts a ON a.id = t.account_id
          WHERE q.status_id = ${statusId} AND s.uri IS NOT NULL AND s.deleted_at IS NULL`)
        return row === undefined || row.depth <= depthMax ? row : { ...row, missing: null }
      })

      const settle: RemoteQuotes["Service"]["settle"] = traced("RemoteQuotes.settle")(
        function*(account, statusId, verdict) {
          const [before] = yield* knownRows(sql`SELECT quoted_status_id, quoted_uri, authorization_uri, state, legacy
            FROM quotes WHERE status_id = ${statusId} AND account_id = ${account}`)
          if (before === undefined) return false
          const [named] = before.quotedUri === null
            ? yield* uriRows(sql`SELECT uri FROM statuses WHERE id = ${before.quotedStatusId} AND uri IS NOT NULL`)
            : [{ uri: before.quotedUri }]
          const quoted = named === undefined ? undefined : yield* find(named.uri)
          if (quoted === undefined || quoted.reblogOfId !== null) return false
          yield* tracked("status", [statusId])(
            sql`UPDATE quotes SET quoted_status_id = ${quoted.id}, quoted_account_id = ${quoted.accountId},
            quoted_uri = NULL WHERE status_id = ${statusId} AND quoted_status_id IS NULL`
          )
          const isNow = verdict !== undefined && verdict.authorization === before.authorizationUri
          const to = isFree(account, quoted, before.legacy) || (isNow && verdict.holds)
            ? "accepted"
            : isNow
            ? "rejected"
            : undefined
          if (to === undefined) return false
          return (yield* quotes.decide(statusId, quoted.accountId, ["pending"], to)) !== undefined && to === "accepted"
        }
      )

      return RemoteQuotes.of({
        store: note,
        waiting,
        settle,
        byAuthorization: traced("RemoteQuotes.byAuthorization")((author, uri) =>
          Effect.map(
            idRows(
              sql`SELECT status_id AS id FROM quotes WHERE authorization_uri = ${uri} AND quoted_account_id = ${author}
              ORDER BY status_id LIMIT 100`
            ),
            (rows) => rows.map(({ id }) => id)
          )
        )
      })
    })
  )
  static readonly layer = RemoteQuotes.layerNoDeps.pipe(Layer.provide([KnownUris.layer, Quotes.layer]))
}

/** Returns the local quote whose request has this id; undefined for other ids. */
export const requestedBy = (actorBase: string, id: string): bigint | undefined => {
  const [, digits] = id.startsWith(`${actorBase}/`) ? /#quote_requests\/([0-9]{1,18})$/.exec(id) ?? [] : []
  return digits === undefined ? undefined : BigInt(digits)
}
