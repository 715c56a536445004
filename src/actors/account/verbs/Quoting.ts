import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId } from "../../../services/database/Ids.ts"
import * as RowChanges from "../../../services/events/RowChanges.ts"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import { QuoteActivities } from "../../../services/federation/outbox/QuoteActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import type { Draft } from "../../../services/statuses/Drafts.ts"
import { type QuotePolicy, withControl, withQuotePolicy } from "../../../services/statuses/InteractionPolicy.ts"
import type { Post } from "../../../services/statuses/Post.ts"
import { type Quoted, quotedNotFound, Quotes } from "../../../services/statuses/Quotes.ts"
import type { Decided, QuoteState } from "../../../services/statuses/QuoteWrites.ts"
import { update } from "../../../services/statuses/StatusRows.ts"
import { type StatusTarget, StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { isPublicOrUnlisted, type Visibility } from "../../../services/statuses/Visibility.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onStatus } from "../core/Verbs.ts"
import * as Sending from "../fanout/Sending.ts"
import * as WaitingEnds from "./WaitingEnds.ts"

/** New interaction policies of a status; an absent one is unchanged. */
interface SaidPolicy {
  readonly quoteApprovalPolicy?: QuotePolicy | null
  readonly interactionPolicy?: ReadonlyArray<string> | null
}

const standing: ReadonlyArray<QuoteState> = ["pending", "accepted"]

/** Quotes of statuses, and who may quote them; inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const activities = yield* QuoteActivities
  const tracked = yield* RowChanges.make
  const deliveryExpansion = yield* DeliveryExpansion
  const fanouts = yield* Fanouts
  const ends = yield* WaitingEnds.make
  const intend = yield* IntentWriter.make
  const notificationWriter = yield* NotificationWriter
  const quotes = yield* Quotes
  const send = yield* Sending.make
  const statusTargets = yield* StatusTargets

  /** Returns the status that a post quotes; undefined if it quotes none. */
  const find = (accountId: AccountId, { quotedStatusId }: Post): Effect.Effect<
    Quoted | undefined,
    RecordNotFound | SqlError
  > => quotedStatusId === null ? Effect.succeed(undefined) : quotes.quotable(accountId, quotedStatusId)

  /** Returns true if a status without text is a quote, which may be posted without text. */
  const isQuoting = (statusId: bigint, { spoilerText, text }: Pick<Post, "text" | "spoilerText">) =>
    text.trim() !== "" || (spoilerText ?? "").trim() !== "" ? Effect.succeed(false) : quotes.isQuoting(statusId)

  /** Returns the visibility of a quoting post. A direct quote must mention the quoted author. */
  const readersOf = Effect.fnUntraced(
    function*(accountId: AccountId, requested: Visibility, quoted: Quoted | undefined, draft: Draft) {
      if (quoted === undefined) return requested
      if (requested === "direct") {
        return quoted.accountId === accountId || draft.mentionIds.includes(quoted.accountId)
          ? requested
          : yield* validationFailed("Cannot quote a non-mentioned user in a Private Mention post.")
      }
      return isPublicOrUnlisted(requested) && !isPublicOrUnlisted(quoted.visibility) ? "private" : requested
    }
  )

  const notifyQuotedAuthor = (own: Ownership, to: bigint, statusId: bigint) =>
    intend(own, { _tag: "notify", type: "quote", to, statusId })
  /** Asks a local author to decide about a quote. */
  const askQuotedAuthor = Effect.fnUntraced(function*(own: Ownership, to: bigint, statusId: bigint) {
    yield* ends.begin(to, statusId)
    yield* intend(own, { _tag: "notify", type: "pending.quote", to, statusId })
  })

  /**
   * Stores the quote of a new status. It is accepted at once if the quoted author is local and accepts it in advance.
   * For a status that waits for other approval (`waits`) no one is told yet.
   */
  const attach = Effect.fnUntraced(
    function*(own: Ownership, statusId: bigint, quoted: Quoted, visibility: Visibility, waits: boolean) {
      const isOwn = quoted.accountId === own.accountId
      const accepted = isOwn || (quoted.local && quoted.verdict === "automatic")
      const allowed = yield* quotes.insert({
        statusId,
        accountId: own.accountId,
        quotedStatusId: quoted.id,
        quotedAccountId: quoted.accountId,
        quotedUri: null,
        state: accepted ? "accepted" : "pending",
        legacy: false,
        authorizationUri: null
      })
      // A block was added after the post was read.
      if (!allowed) return yield* quotedNotFound
      // The quoted author may always see the quoting post.
      if (!isOwn && !isPublicOrUnlisted(visibility)) yield* quotes.grantRead(statusId, quoted.accountId)
      if (waits) return
      if (!quoted.local) yield* send(activities.request(statusId))
      else if (!isOwn) {
        yield* accepted
          ? notifyQuotedAuthor(own, quoted.accountId, statusId)
          : askQuotedAuthor(own, quoted.accountId, statusId)
      }
    }
  )

  /** Tells everyone who has the status that its quote is now shown, or no longer is. */
  const publishDecision = Effect.fnUntraced(function*({ accountId, local, statusId }: Decided) {
    if (local) yield* deliveryExpansion.enqueueChange(accountId, statusId, "Update")
    yield* fanouts.enqueue(AccountId.make(accountId), { _tag: "card", statusId })
  })

  /** Clears the pending state of a decided quote. */
  const clearPending = ({ accountId, statusId }: Decided) =>
    Effect.andThen(ends.cancel(statusId), notificationWriter.retractOne("pending.quote", accountId, statusId))

  /** Decides a pending quote request to the account; false if it does not exist. */
  const decide = Effect.fnUntraced(function*(own: Ownership, statusId: bigint, to: "accepted" | "rejected") {
    if (!(yield* quotes.isRequested(statusId, own.accountId))) return false
    const quote = yield* quotes.decide(statusId, own.accountId, ["pending"], to)
    if (quote === undefined) return false
    yield* clearPending(quote)
    yield* send(activities.respond(to === "accepted" ? "Accept" : "Reject", statusId))
    yield* publishDecision(quote)
    return true
  })

  /** Withdraws a quote request of another server. Returns its former state; undefined if the id is unknown. */
  const withdrawRequest = Effect.fnUntraced(function*(own: Ownership, requestUri: string) {
    const quote = yield* quotes.withdrawRequest(own.accountId, requestUri)
    if (quote?.before === "pending") yield* clearPending(quote)
    return quote?.before
  })

  /** Revokes a pending or accepted quote; undefined if it does not exist. */
  const revoke = Effect.fnUntraced(function*(own: Ownership, quotingId: bigint) {
    const quote = yield* quotes.decide(quotingId, own.accountId, standing, "revoked")
    if (quote === undefined) return undefined
    yield* notificationWriter.retractOne("quote", quote.accountId, quotingId)
    yield* clearPending(quote)
    yield* send(activities.withdraw(quotingId))
    yield* publishDecision(quote)
    return quote
  })

  /**
   * Changes the interaction policy of the account's status. Returns true if it changed. The quote policy of a status
   * that is not open is not changed.
   */
  const govern = Effect.fnUntraced(function*(own: Ownership, status: StatusTarget, change: SaidPolicy) {
    const control = change.interactionPolicy ?? undefined
    const controlled = control === undefined
      ? status.interactionPolicy
      : withControl(status.interactionPolicy, control)
    const interactionPolicy = change.quoteApprovalPolicy && isPublicOrUnlisted(status.visibility)
      ? withQuotePolicy(controlled, change.quoteApprovalPolicy)
      : controlled
    if (String(interactionPolicy) === String(status.interactionPolicy)) return false
    yield* tracked("status", [status.id])(
      sql`${update(sql, { interactionPolicy })} WHERE id = ${status.id} AND account_id = ${own.accountId}`
    )
    return true
  })
  const governed = Effect.fnUntraced(function*(own: Ownership, statusId: bigint) {
    yield* deliveryExpansion.enqueueChange(own.accountId, statusId, "Update")
    yield* intend(own, { _tag: "card", statusId })
  })

  const verbs = {
    RevokeQuote: Effect.fnUntraced(function*(own: Ownership, { quotingId, statusId }: Commands["RevokeQuote"]) {
      const { id } = yield* statusTargets.own(own.accountId, statusId)
      if (!(yield* quotes.isQuoted(id, quotingId))) return yield* new RecordNotFound()
      yield* revoke(own, quotingId)
      return onStatus(quotingId)
    }),
    QuoteEnded: Effect.fnUntraced(function*(own: Ownership, { authorization, statusId }: Commands["QuoteEnded"]) {
      const quote = yield* quotes.end(statusId, own.accountId, authorization)
      if (quote !== undefined) yield* publishDecision(quote)
      return onStatus(statusId)
    }),
    SetQuotePolicy: Effect.fnUntraced(function*(own: Ownership, { policy, statusId }: Commands["SetQuotePolicy"]) {
      const status = yield* statusTargets.own(own.accountId, statusId)
      if (status.reblogOfId !== null) return yield* new RecordNotFound()
      if (yield* govern(own, status, { quoteApprovalPolicy: policy })) yield* governed(own, statusId)
      return onStatus(statusId)
    })
  }

  return {
    find,
    isQuoting,
    readersOf,
    attach,
    askQuotedAuthor,
    decide,
    govern,
    governed,
    revoke,
    publishDecision,
    withdrawRequest,
    verbs
  }
})
