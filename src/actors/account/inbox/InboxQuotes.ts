import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../../services/database/Rows.ts"
import * as RowChanges from "../../../services/events/RowChanges.ts"
import { activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import {
  asForeign,
  type Foreign,
  idOf,
  idsOf,
  typeOf,
  urlReader
} from "../../../services/federation/documents/ForeignValues.ts"
import { NeedsFetch } from "../../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteQuotes, requestedBy } from "../../../services/federation/inbox/RemoteQuotes.ts"
import { QuoteActivities } from "../../../services/federation/outbox/QuoteActivities.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { isHeldPost } from "../../../services/statuses/HeldStatuses.ts"
import { Quotes } from "../../../services/statuses/Quotes.ts"
import { QuoteState } from "../../../services/statuses/QuoteWrites.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { done, ignored, type Outcome } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"
import type * as Quoting from "../verbs/Quoting.ts"
import { type make as makePosts } from "./InboxPosts.ts"

/** Maximum length of a stored id, in characters. */
const uriCharactersMax = 2_000
const stateRows = rowsOf(Schema.Struct({ state: QuoteState, held: Schema.Boolean }))
const undecided: ReadonlyArray<QuoteState> = ["pending", "accepted"]

/**
 * Handles a remote account's requests to quote local posts, and its replies to local requests (FEP-044f); inside a
 * transaction of its actor.
 */
export const make = Effect.fnUntraced(function*(
  posts: Pick<Effect.Success<ReturnType<typeof makePosts>>, "create">,
  quoting: Pick<Effect.Success<typeof Quoting.make>, "askQuotedAuthor" | "publishDecision">
) {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const { outboundAllow, publicUrl } = yield* ServerConfig
  const activities = yield* QuoteActivities
  const intend = yield* IntentWriter.make
  const knownUris = yield* KnownUris
  const quotes = yield* Quotes
  const remote = yield* RemoteQuotes
  const send = yield* Sending.make
  const readUrl = urlReader(outboundAllow)

  /** Returns the id of the quoting post. A copy that its author embeds is trusted (row 9). */
  const instrumentOf = Effect.fnUntraced(
    function*(own: Ownership, self: InboundSender, instrument: unknown, uri: string, now: number) {
      const known = yield* knownUris.status(uri)
      if (known !== undefined) return known
      const embedded = asForeign(instrument)
      if (!idsOf(embedded?.["attributedTo"]).includes(self.uri)) {
        return yield* new NeedsFetch({ originCheck: { kind: "post", uri } })
      }
      yield* posts.create(own, self, embedded, now, true)
      return yield* knownUris.status(uri)
    }
  )

  const request = (own: Ownership, self: InboundSender, activity: Foreign, now: number): Outcome =>
    Effect.gen(function*() {
      const id = idOf(activity) ?? ""
      const [object, instrument] = [idOf(activity["object"]) ?? "", idOf(activity["instrument"]) ?? ""]
      const origin = URL.parse(self.uri)?.origin
      if (id.length > uriCharactersMax || readUrl(id)?.origin !== origin || readUrl(instrument)?.origin !== origin) {
        return yield* ignored("an id of another server")
      }
      const [target] = yield* knownUris.localStatuses([object])
      if (target === undefined) return yield* ignored("an unknown post")
      const asked = { id, requester: self.uri, object, instrument }
      const refuse = Effect.andThen(
        send(activities.refuse(target.accountId, own.accountId, asked)),
        ignored("the request is refused")
      )
      const quoted = yield* Effect.option(quotes.quotable(own.accountId, target.id))
      if (Option.isNone(quoted) || quoted.value.id !== target.id) return yield* refuse
      const statusId = yield* instrumentOf(own, self, activity["instrument"], instrument, now)
      const ownQuote = statusId === undefined
        ? []
        : yield* stateRows(
          tracked("status", [statusId])(sql`UPDATE quotes SET request_uri = ${id}, legacy = false
            WHERE status_id = ${statusId} AND account_id = ${own.accountId} AND quoted_status_id = ${target.id}
              AND state = ANY (${undecided}::text[])
            RETURNING state, (SELECT ${isHeldPost(sql, "s")} FROM statuses s WHERE s.id = quotes.status_id) AS held`)
        )
      // A new request does not restore a revoked consent.
      if (statusId === undefined || ownQuote.length === 0) return yield* refuse
      // A decision of the author stands, whatever the policy is now.
      if (quoted.value.verdict !== "automatic" && ownQuote[0]?.state === "pending") {
        // While the post is held, nobody is told of it; the author is asked when it is published.
        if (!ownQuote[0].held) yield* quoting.askQuotedAuthor(own, target.accountId, statusId)
        return done
      }
      const quote = yield* quotes.decide(statusId, target.accountId, undecided, "accepted")
      if (quote === undefined) return yield* refuse
      if (quote.before !== "accepted" && !quote.held) {
        yield* intend(own, { _tag: "notify", type: "quote", to: target.accountId, statusId })
        yield* quoting.publishDecision(quote)
      }
      yield* send(activities.respond("Accept", statusId))
      return done
    })

  /** Returns the id of the local quoting post that a reply to a request is about. */
  const asked = Effect.fnUntraced(function*(object: unknown) {
    const byId = requestedBy(publicUrl, idOf(object) ?? "")
    if (byId !== undefined) return byId
    const [named] = yield* knownUris.localStatuses([idOf(asForeign(object)?.["instrument"]) ?? ""])
    return named?.id
  })

  const isSettlement = (object: unknown): boolean =>
    typeOf(asForeign(object) ?? {}, "QuoteRequest") !== undefined ||
    requestedBy(publicUrl, idOf(object) ?? "") !== undefined

  const accepted = (own: Ownership, self: InboundSender, activity: Foreign): Outcome =>
    Effect.gen(function*() {
      const statusId = yield* asked(activity["object"])
      const stamp = idOf(activity["result"]) ?? ""
      if (statusId === undefined) return yield* ignored("no pending request of this server")
      if (stamp.length > uriCharactersMax || readUrl(stamp)?.origin !== URL.parse(self.uri)?.origin) {
        return yield* ignored("an id of another server")
      }
      // Only the quoted author decides: that author is the sender.
      const quote = yield* quotes.decide(statusId, own.accountId, ["pending"], "accepted", stamp)
      if (quote === undefined) return yield* ignored("no pending request of this server")
      yield* quoting.publishDecision(quote)
      return done
    })

  const rejected = (own: Ownership, activity: Foreign): Outcome =>
    Effect.gen(function*() {
      const statusId = yield* asked(activity["object"])
      if (statusId === undefined) return yield* ignored("no pending request of this server")
      const quote = (yield* quotes.decide(statusId, own.accountId, ["pending"], "rejected")) ??
        (yield* quotes.decide(statusId, own.accountId, ["accepted"], "revoked"))
      if (quote === undefined) return yield* ignored("no pending request of this server")
      yield* quoting.publishDecision(quote)
      return done
    })

  /** Revokes the consent with this id; undefined if the id is unknown. */
  const revoked = Effect.fnUntraced(function*(own: Ownership, uri: string) {
    const ids = yield* remote.byAuthorization(own.accountId, uri)
    for (const statusId of ids) {
      const quote = yield* quotes.decide(statusId, own.accountId, undecided, "revoked")
      if (quote !== undefined) yield* quoting.publishDecision(quote)
    }
    return ids.length === 0 ? undefined : done
  })

  const settled = (own: Ownership, self: InboundSender, activity: Foreign): Outcome =>
    activityTypeOf(activity) !== "Accept" ? rejected(own, activity) : accepted(own, self, activity)

  return { request, isSettlement, settled, revoked }
})
