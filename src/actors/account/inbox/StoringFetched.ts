import { Clock, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { idAt } from "../../../services/database/Ids.ts"
import { idRows } from "../../../services/database/Rows.ts"
import { asForeign, type Foreign, idOf } from "../../../services/federation/documents/ForeignValues.ts"
import { findSender, type InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { RemoteQuotes } from "../../../services/federation/inbox/RemoteQuotes.ts"
import { UnknownMentions } from "../../../services/federation/inbox/UnknownMentions.ts"
import { InboundPolicies } from "../../../services/federation/policies/InboundPolicies.ts"
import { foreignPinsMax } from "../../../services/instance/ForeignLimits.ts"
import * as BoundedJson from "../../../services/outbound/BoundedJson.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { ConversationWriter } from "../../../services/statuses/ConversationWriter.ts"
import { Favourites } from "../../../services/statuses/Favourites.ts"
import { InteractionRequests } from "../../../services/statuses/InteractionRequests.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount, onStatus, type Verbs } from "../core/Verbs.ts"
import * as StreamPublishing from "../fanout/StreamPublishing.ts"
import * as Controlling from "../verbs/Controlling.ts"
import * as FeaturedChanges from "../verbs/FeaturedChanges.ts"
import * as InboxFeatures from "./InboxFeatures.ts"
import * as InboxPosts from "./InboxPosts.ts"

/**
 * Stores a remote account's post that was fetched from its origin, as if the account had sent it. A stored older
 * version is edited. A deleted post stays deleted.
 */
export const make = Effect.fnUntraced(function*(verbs: Verbs<"Delete">) {
  const sql = yield* SqlClient.SqlClient
  const favourites = yield* Favourites
  const featured = yield* FeaturedChanges.make
  const features = yield* InboxFeatures.make
  const control = yield* Controlling.make
  const requests = yield* InteractionRequests
  const posts = yield* InboxPosts.make(verbs)
  const policies = yield* InboundPolicies

  /** Applies the inbound policies to a post, as if its author had sent it. */
  const judged = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, post: Foreign | undefined) {
    const activity = { type: "Create", actor: self.uri, object: post }
    const judgement = yield* policies.inTransaction({ ...self, accountId: own.accountId }, activity)
    return judgement.passes
      ? asForeign(judgement.activity["object"])
      : yield* new Unprocessable({ text: judgement.reason })
  })
  const tellings = yield* StreamPublishing.make
  const conversations = yield* ConversationWriter
  const unknown = yield* UnknownMentions
  const intend = yield* IntentWriter.make
  const quotes = yield* RemoteQuotes

  return {
    verbs: {
      KeepCollections: Effect.fnUntraced(function*(own: Ownership, { documents }: Commands["KeepCollections"]) {
        const self = yield* findSender(sql, own.accountId)
        if (self === undefined || self.suspended) return yield* new RecordNotFound()
        for (const document of documents) {
          yield* features.store(own, self, Result.getOrElse(BoundedJson.parse(document), () => undefined))
        }
        return onAccount(own.accountId)
      }),
      Import: Effect.fnUntraced(function*(own: Ownership, { asked, document }: Commands["Import"]) {
        const self = yield* findSender(sql, own.accountId)
        if (self === undefined) return yield* new RecordNotFound()
        const sent = asForeign(Result.getOrElse(BoundedJson.parse(document), () => undefined))
        const post = yield* judged(own, self, sent)
        const stored = idRows(sql`SELECT id FROM statuses
          WHERE uri = ${idOf(post) ?? ""} AND account_id = ${own.accountId} AND deleted_at IS NULL`)
        const now = yield* Clock.currentTimeMillis
        const [known] = yield* stored
        const outcome = yield* known === undefined
          ? posts.create(own, self, post, now, asked)
          : posts.edit(own, self, post, now)
        const [status] = known === undefined ? yield* stored : [known]
        return status === undefined ? yield* new Unprocessable({ text: outcome }) : onStatus(status.id)
      }),
      Feature: Effect.fnUntraced(
        function*({ accountId }: Ownership, { changes, readAt, statusIds }: Commands["Feature"]) {
          yield* featured.unchanged(accountId, changes)
          const own = yield* idRows(sql`SELECT s.id FROM statuses s JOIN accounts a ON a.id = s.account_id
          WHERE s.id = ANY (${statusIds}::bigint[]) AND s.account_id = ${accountId} AND s.deleted_at IS NULL
            AND s.reblog_of_id IS NULL AND s.visibility <> 'direct' AND a.domain IS NOT NULL`)
          const pinnable = new Set(own.map(({ id }) => id))
          const pinnedIds = statusIds.filter((id) => pinnable.has(id)).slice(0, foreignPinsMax)
          const before = yield* favourites.pinned(accountId)
          for (const id of before) yield* favourites.unpin(accountId, id)
          // The last one pinned is shown first. A pin that is announced later comes before all of these, whenever its
          // post arrives.
          let place = idAt(readAt - 1)
          for (const id of pinnedIds.toReversed()) yield* favourites.pin(accountId, id, place++)
          return onAccount(accountId)
        }
      ),
      MentionKnown: Effect.fnUntraced(function*({ accountId }: Ownership, { statusId }: Commands["MentionKnown"]) {
        // Conversations are keyed by their members, so the post moves to the conversation of all of them.
        const before = yield* conversations.erase(statusId)
        const mentioned = yield* unknown.settle(statusId, accountId)
        const after = before.length === 0 ? [] : yield* conversations.record(statusId)
        if (!mentioned) return onStatus(statusId)
        yield* tellings.conversationsChanged(after)
        return onStatus(statusId)
      }),
      QuoteKnown: Effect.fnUntraced(function*(own: Ownership, command: Commands["QuoteKnown"]) {
        const { authorization, statusId } = command
        const verdict = authorization && { authorization: authorization.uri, holds: authorization.holds }
        const accepted = yield* quotes.settle(own.accountId, statusId, verdict)
        // Publishes the quote that was hidden so far.
        if (accepted) yield* intend(own, { _tag: "card", statusId })
        return onStatus(statusId)
      }),
      InteractionKnown: Effect.fnUntraced(
        function*(own: Ownership, { holds, requestId }: Commands["InteractionKnown"]) {
          const state = holds ? "accepted" : "rejected"
          const request = yield* requests.settle(requestId, own.accountId, state)
          if (request !== undefined) yield* holds ? control.accepted(request) : control.rejected(request)
          return onAccount(own.accountId)
        }
      ),
      Withdraw: Effect.fnUntraced(function*(own: Ownership, { uri }: Commands["Withdraw"]) {
        const self = yield* findSender(sql, own.accountId)
        if (self === undefined) return yield* new RecordNotFound()
        yield* posts.remove(own, self, uri)
        return onAccount(own.accountId)
      })
    }
  }
})
