import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isBlockedEitherWay, isHidden } from "../visibility/HiddenAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { waitsForOthers } from "./HeldStatuses.ts"
import { decide, policyOf, type Verdict } from "./InteractionPolicy.ts"
import { separatedMax } from "./Interactions.ts"
import * as QuoteWrites from "./QuoteWrites.ts"
import { type Decided, decidedRows, type NewQuote, QuoteState } from "./QuoteWrites.ts"
import { StoredStatus } from "./StoredStatus.ts"
import { visibleTo } from "./Visibility.ts"

const Quotable = Schema.Struct({
  id: Schema.BigInt,
  accountId: Schema.BigInt,
  local: Schema.Boolean,
  visibility: StoredStatus.fields.visibility,
  localOnly: Schema.Boolean,
  interactionPolicy: StoredStatus.fields.interactionPolicy,
  follows: Schema.Boolean,
  followed: Schema.Boolean
})
const quotableRows = rowsOf(Quotable)

/** A status to be quoted, and its policy's verdict. */
export interface Quoted extends Pick<typeof Quotable.Type, "id" | "accountId" | "local" | "localOnly" | "visibility"> {
  readonly verdict: Verdict
}

const authorRows = rowsOf(Schema.Struct({ quotedAccountId: Schema.BigInt }))
const localRows = rowsOf(Schema.Struct({ quotedAccountId: Schema.BigInt, state: QuoteState }))

/** Error for a quote of a post that does not exist or is not visible to the account. */
export const quotedNotFound = new RecordNotFound({
  text: "The post you are trying to quote does not appear to exist."
})

/** Quotes and their consent. */
export class Quotes extends Context.Service<Quotes, {
  /** Returns the status that `account` wants to quote; fails with `RecordNotFound` if it may not see or quote it. */
  readonly quotable: (account: AccountId, id: bigint) => Effect.Effect<Quoted, RecordNotFound | SqlError>
  /**
   * Stores the quote of a new status in the current transaction, once. Returns false, and stores it as rejected, if a
   * block separates the two accounts.
   */
  readonly insert: (quote: NewQuote) => Effect.Effect<boolean, SqlError>
  /**
   * Moves a quote from one of the states `from` to another, and counts it. Returns the quote; undefined if none
   * matches. `quotedAuthor` is the account that consents.
   */
  readonly decide: (
    statusId: bigint,
    quotedAuthor: bigint,
    from: ReadonlyArray<QuoteState>,
    to: QuoteState,
    authorizationUri?: string
  ) => Effect.Effect<Decided | undefined, SqlError>
  /** Revokes an account's quote that is based on this remote authorization. */
  readonly end: (
    statusId: bigint,
    account: bigint,
    authorizationUri: string
  ) => Effect.Effect<Decided | undefined, SqlError>
  /** Lets the quoted author read the status, whatever its audience is. */
  readonly grantRead: (statusId: bigint, accountId: bigint) => Effect.Effect<void, SqlError>
  /** Returns true if a status that is not deleted quotes the other, or did before its consent was revoked. */
  readonly isQuoted: (quoted: bigint, statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns true if the quoted author was asked: the quote is local, or its server sent a request. */
  readonly isRequested: (statusId: bigint, quotedAuthor: bigint) => Effect.Effect<boolean, SqlError>
  /** Withdraws an account's request with this id; returns the quote, with its unchanged state as `before`. */
  readonly withdrawRequest: (account: bigint, requestUri: string) => Effect.Effect<Decided | undefined, SqlError>
  /** Returns true if a status quotes anything. */
  readonly isQuoting: (statusId: bigint) => Effect.Effect<boolean, SqlError>
  /** Returns the local account that a status quotes, other than its author, and the quote's state. */
  readonly ofLocal: (
    statusId: bigint
  ) => Effect.Effect<{ readonly quotedAccountId: bigint; readonly state: QuoteState } | undefined, SqlError>
  /** Returns an account's pending and accepted quotes of a local author, `separatedMax` at most. */
  readonly between: (quotedAuthor: bigint, account: bigint) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  /** Returns accepted quotes of a status that the viewer may see, newest first. */
  readonly page: (viewer: Viewer, quoted: bigint, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/statuses/Quotes") {
  static readonly layer = Layer.effect(
    Quotes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const { decided, insert } = QuoteWrites.make({ sql, tracked })

      const quotable = traced("Quotes.quotable")(function*(account: AccountId, id: bigint) {
        const [row] = yield* quotableRows(sql`
          SELECT t.id, t.account_id, t.local, t.local_only, t.visibility, t.interaction_policy,
            EXISTS (SELECT FROM follows WHERE account_id = ${account} AND target_account_id = t.account_id) AS follows,
            EXISTS (SELECT FROM follows WHERE account_id = t.account_id AND target_account_id = ${account}) AS followed
          FROM statuses s JOIN statuses t ON t.id = coalesce(s.reblog_of_id, s.id)
          WHERE s.id = ${id} AND ${visibleTo(sql, account, "s")} AND NOT ${
          isBlockedEitherWay(sql, sql`t.account_id`, sql`${account}::bigint`)
        }`)
        const verdict = row === undefined
          ? "denied"
          : decide(policyOf(row, "canQuote"), { ...row, isAuthor: row.accountId === account, mentioned: false })
        if (row === undefined || verdict === "denied") {
          return yield* quotedNotFound
        }
        return { ...row, verdict }
      })

      const end = traced("Quotes.end")(function*(statusId: bigint, account: bigint, authorizationUri: string) {
        const [quote] = yield* authorRows(sql`SELECT quoted_account_id FROM quotes WHERE status_id = ${statusId}
          AND account_id = ${account} AND authorization_uri = ${authorizationUri} AND quoted_account_id IS NOT NULL`)
        return quote && (yield* decided(statusId, quote.quotedAccountId, ["accepted"], "revoked"))
      })

      const page = traced("Quotes.page")(function*(viewer: Viewer, quoted: bigint, page: Page) {
        if (page.limit === 0) return []
        const now = new Date(yield* Clock.currentTimeMillis)
        const { tail, where } = clauses(sql, "s.id", page)
        const rows = yield* idRows(sql`
          SELECT s.id FROM quotes q JOIN statuses s ON s.id = q.status_id
          WHERE q.quoted_status_id = ${quoted} AND q.state = 'accepted' AND ${where} AND ${visibleTo(sql, viewer, "s")}
            AND ${
          viewer === undefined ? sql`true` : sql`NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`s.account_id`, now)}`
        }
          ${tail}`)
        return newestFirst(page, rows).map(({ id }) => id)
      }, Effect.orDie)

      return Quotes.of({
        grantRead: traced("Quotes.grantRead")((statusId, accountId) =>
          Effect.asVoid(
            tracked("status", [statusId])(
              sql`INSERT INTO mentions (status_id, account_id, quiet) VALUES (${statusId}, ${accountId}, true)
            ON CONFLICT (status_id, account_id) DO NOTHING`
            )
          )
        ),
        isQuoted: traced("Quotes.isQuoted")((quoted, statusId) =>
          Effect.map(
            sql`SELECT FROM quotes q JOIN statuses s ON s.id = q.status_id
              WHERE q.status_id = ${statusId} AND q.quoted_status_id = ${quoted} AND q.state <> 'rejected' AND s.deleted_at IS NULL`,
            (rows) => rows.length > 0
          )
        ),
        isRequested: traced("Quotes.isRequested")((statusId, quotedAuthor) =>
          Effect.map(
            sql`SELECT FROM quotes q JOIN statuses s ON s.id = q.status_id
              WHERE q.status_id = ${statusId} AND q.quoted_account_id = ${quotedAuthor}
                AND (s.local OR q.request_uri IS NOT NULL) AND NOT ${waitsForOthers(sql, quotedAuthor, "s")}`,
            (rows) => rows.length > 0
          )
        ),
        withdrawRequest: traced("Quotes.withdrawRequest")((account, requestUri) =>
          Effect.map(
            tracked("status", (rows: ReadonlyArray<{ readonly statusId: bigint }>) =>
              rows.map(({ statusId }) => statusId))(decidedRows(sql`
              WITH before AS MATERIALIZED (SELECT status_id, state FROM quotes
                WHERE request_uri = ${requestUri} AND account_id = ${account} FOR UPDATE)
              UPDATE quotes q SET request_uri = CASE WHEN q.state <> 'pending' THEN q.request_uri END FROM before
              WHERE q.status_id = before.status_id
              RETURNING q.status_id, q.account_id, q.quoted_status_id, q.quoted_account_id, before.state AS before, false AS local, false AS held`)),
            ([row]) =>
              row
          )
        ),
        isQuoting: traced("Quotes.isQuoting")((statusId) =>
          Effect.map(sql`SELECT FROM quotes WHERE status_id = ${statusId}`, (rows) => rows.length > 0)
        ),
        end,
        ofLocal: traced("Quotes.ofLocal")((statusId) =>
          Effect.map(
            localRows(
              sql`SELECT q.quoted_account_id, q.state FROM quotes q JOIN accounts a ON a.id = q.quoted_account_id
              WHERE q.status_id = ${statusId} AND a.domain IS NULL AND a.id <> q.account_id`
            ),
            ([row]) => row
          )
        ),
        quotable,
        insert,
        decide: decided,
        page,
        between: traced("Quotes.between")((quotedAuthor, account) =>
          Effect.map(
            idRows(sql`SELECT status_id AS id FROM quotes WHERE quoted_account_id = ${quotedAuthor}
              AND EXISTS (SELECT FROM accounts WHERE id = ${quotedAuthor} AND domain IS NULL)
              AND account_id = ${account} AND state IN ('pending', 'accepted') ORDER BY status_id
              LIMIT ${rowsMax(sql, separatedMax)}`),
            (rows) => rows.map(({ id }) => id)
          )
        )
      })
    })
  )
}
