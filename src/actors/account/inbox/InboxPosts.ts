import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../../services/database/Columns.ts"
import { StatusId } from "../../../services/database/Ids.ts"
import { rowsOf } from "../../../services/database/Rows.ts"
import { transaction } from "../../../services/database/Transactions.ts"
import * as RowChanges from "../../../services/events/RowChanges.ts"
import { type ForeignNote, foreignNote } from "../../../services/federation/documents/ForeignNote.ts"
import { asForeign, idOf, urlReader } from "../../../services/federation/documents/ForeignValues.ts"
import { OriginChecks } from "../../../services/federation/fetching/OriginChecks.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteQuotes } from "../../../services/federation/inbox/RemoteQuotes.ts"
import { RemoteStatuses } from "../../../services/federation/inbox/RemoteStatuses.ts"
import { Tombstones } from "../../../services/federation/inbox/Tombstones.ts"
import { UnknownMentions } from "../../../services/federation/inbox/UnknownMentions.ts"
import { editMillis, isCurrent, Version } from "../../../services/federation/inbox/Versions.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { isHeldPost } from "../../../services/statuses/HeldStatuses.ts"
import { StatusWriter } from "../../../services/statuses/StatusWriter.ts"
import { TagFollows } from "../../../services/statuses/TagFollows.ts"
import { isPublicOrUnlisted } from "../../../services/statuses/Visibility.ts"
import { written } from "../../../services/statuses/Written.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import type { Verbs } from "../core/Verbs.ts"
import type * as Controlling from "../verbs/Controlling.ts"
import * as Linking from "../verbs/Linking.ts"
import * as Screening from "../verbs/Screening.ts"
import * as InboxMentions from "./InboxMentions.ts"
import * as InboxPolls from "./InboxPolls.ts"
import * as InboxReplies from "./InboxReplies.ts"

/** `held`: hidden until it is approved. */
const versionRows = rowsOf(Schema.Struct({ ...Version.fields, held: Schema.Boolean }))
const version = columnsOf(Version.mapFields(Struct.omit(["changedAt"])))

/** Maximum age of an unknown post that an edit creates, in milliseconds (federation.md section 8). */
const unknownMillisMax = 86_400_000

/** Maximum age of a fetched post that is published to homes, streams and notifications, in milliseconds. */
const newsMillisMax = 6 * 3_600_000

/** Handles new, edited and deleted posts of a remote account; inside a transaction of its actor. */
export const make = Effect.fnUntraced(function*(verbs: Verbs<"Delete">) {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const linking = yield* Linking.make
  const tracked = yield* RowChanges.make
  const originChecks = yield* OriginChecks
  const intend = yield* IntentWriter.make
  const polls = yield* InboxPolls.make
  const statusWriter = yield* StatusWriter
  const knownUris = yield* KnownUris
  const mentionsOf = yield* InboxMentions.make
  const quotes = yield* RemoteQuotes
  const replies = yield* InboxReplies.make
  const screening = yield* Screening.make
  const statuses = yield* RemoteStatuses
  const tagFollows = yield* TagFollows
  const tombstones = yield* Tombstones
  const unknown = yield* UnknownMentions
  const readUrl = urlReader(config.outboundAllow)

  const adopt = (uri: string) =>
    transaction(sql)(statuses.adopt(uri)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("linking replies to their parent failed", cause))
    )

  /** Stores the quote of a post, and notifies a local author whose approval is not needed. */
  const quoted = Effect.fnUntraced(function*(own: Ownership, statusId: StatusId, { quote }: ForeignNote, held = false) {
    if (quote === undefined) return
    const to = yield* quotes.store(own.accountId, statusId, quote)
    if (to !== undefined && !held) yield* intend(own, { _tag: "notify", type: "quote", to, statusId })
  })

  /**
   * Stores a new post. `asked`: the post was fetched on request, so it is kept even if it concerns no local account.
   * `requested`: the post is the reply that its author asked to make.
   */
  const create = Effect.fnUntraced(function*(
    own: Ownership,
    self: InboundSender,
    object: unknown,
    now: number,
    asked: boolean,
    requested?: Controlling.SentInteraction
  ) {
    const document = asForeign(object) ?? {}
    const voted = yield* polls.vote(own, self, document)
    if (voted !== undefined) return voted
    const note = foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("not a post of the sender")
    const { buried, followed, listed } = yield* statuses.deliveryFacts(own.accountId, note.uri)
    if (buried) return yield* ignored("deleted")
    const parent = note.inReplyTo === undefined ? undefined : yield* knownUris.named(note.inReplyTo)
    const parentId = parent?.id
    const mentions = yield* mentionsOf(own, self, note)
    const concerns = (isPublicOrUnlisted(note.visibility) && (asked || listed)) || parentId !== undefined || followed
    // One more query for posts that would otherwise be dropped. An edit also addresses accounts that it no longer
    // mentions.
    const wanted = concerns || (yield* knownUris.localAccounts(note.addressed)).length > 0 ||
      (note.quote !== undefined && (yield* knownUris.localStatuses([note.quote.uri])).length > 0) ||
      (note.visibility === "public" && (yield* tagFollows.isAnyFollowed(note.tags)))
    if (!wanted) return yield* ignored("irrelevant to local accounts")
    const consent = yield* replies.consent(own, self, parent, note, requested)
    if (consent === undefined) return yield* ignored("no consent of the author")
    const mentionIds = mentions.map(({ id }) => id)
    const verdict = yield* screening.judge(own, { ...note, mentionIds, domain: self.domain })
    if (verdict.end === "drop") {
      yield* screening.settle(own, verdict, undefined)
      return yield* ignored("refused by a spam rule")
    }
    const stored = yield* statuses.insert(own.accountId, { note, parentId, mentions })
    if (stored === undefined) return yield* ignored("already stored")
    const { id } = stored
    yield* unknown.store(id, note)
    yield* quoted(own, StatusId.make(id), note, verdict.end === "hold")
    const asks = yield* replies.attach(own, parent, consent, id, { uri: note.uri, ...requested })
    yield* linking.attach(id, linking.ofNote(note))
    if (note.updatedMillis !== undefined && note.updatedMillis > note.publishedMillis) {
      // The post was edited before it arrived, or the edit arrived first.
      yield* statusWriter.preserve(id, note.publishedMillis)
      yield* statuses.markEdited(id, note.updatedMillis)
    }
    yield* screening.settle(own, verdict, id, asks)
    const waits = asks || verdict.end === "hold"
    // A post that is fetched long after it was written is not published.
    if (!waits && (!asked || now - note.publishedMillis < newsMillisMax)) {
      yield* intend(own, { _tag: "publish", statusId: id })
    }
    if (!asked) {
      yield* sql.afterCommit(
        originChecks.fetchThread(parentId === undefined ? document : { ...document, inReplyTo: undefined })
      )
    }
    // The parent may have arrived before this post was committed, and so not have found it.
    if (parentId === undefined && note.inReplyTo !== undefined) yield* sql.afterCommit(adopt(note.inReplyTo))
    return done
  })

  /**
   * Applies a newer version of a stored post of the account; the old version is kept as history. A version that is not
   * newer only updates the poll's results.
   */
  const edit = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, object: unknown, now: number) {
    const document = asForeign(object)
    const note = document === undefined ? undefined : foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("not a post of the sender")
    yield* statuses.updateFacts(own.accountId, note)
    const storedId = note.quote === undefined ? undefined : yield* knownUris.status(note.uri)
    if (storedId !== undefined) yield* quoted(own, storedId, note)
    if (note.updatedMillis === undefined && note.poll === undefined) {
      return storedId === undefined ? yield* ignored("not a newer post of the sender") : done
    }
    const [old] = yield* versionRows(sql`
      SELECT ${version.list(sql)}, coalesce(edited_at, created_at) AS changed_at,
        ${isHeldPost(sql, "statuses")} AS held FROM statuses
      WHERE uri = ${note.uri} AND account_id = ${own.accountId} AND deleted_at IS NULL`)
    if (old === undefined && !self.suspended && now - note.publishedMillis < unknownMillisMax) {
      return yield* create(own, self, object, now, false)
    }
    if (old === undefined) return yield* ignored("not newer than the stored version")
    const millis = editMillis(note, old)
    if (millis === undefined) {
      const counted = isCurrent(note, old) && note.poll !== undefined && (yield* polls.tally(own, old.id, note.poll))
      return counted ? done : yield* ignored("not newer than the stored version")
    }
    const mentions = yield* mentionsOf(own, self, note)
    const edit = { ...note, mentionIds: mentions.map(({ id }) => id), domain: self.domain }
    if (!(yield* screening.edits(own, old.id, edit))) return yield* ignored("refused by a spam rule")
    yield* statusWriter.preserve(old.id, millis)
    yield* polls.revise(own, old.id, note.poll)
    yield* statuses.keepEmojis(note)
    yield* statusWriter.revise(old.id, own.accountId, {
      millis,
      draft: {
        mentionIds: mentions.filter(({ addressed }) => addressed).map(({ id }) => id),
        tags: note.tags
      },
      row: {
        ...written(note),
        text: "",
        contentType: "text/plain",
        html: note.html,
        mediaIds: yield* statuses.attach(own.accountId, old.id, note.attachments, millis)
      }
    })
    yield* statuses.trimVersions(old.id)
    yield* statuses.silenceMentions(old.id, mentions)
    if (old.held) yield* replies.holdAgain(old.id)
    yield* unknown.store(old.id, note)
    yield* linking.replace(old.id, linking.ofNote(note))
    if (!old.held) yield* intend(own, { _tag: "edit", statusId: old.id, editedAt: millis })
    return done
  })

  const remove = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, object: unknown) {
    const uri = idOf(object) ?? ""
    const url = readUrl(uri)
    if (url?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an id of another server")
    const statusId = yield* knownUris.status(uri)
    const [ownPost] = statusId === undefined ? [] : yield* sql`SELECT FROM statuses
      WHERE id = ${statusId} AND account_id = ${own.accountId} AND deleted_at IS NULL`
    if (statusId !== undefined && ownPost === undefined) return yield* ignored("not the sender's post, or deleted")
    yield* tombstones.record(own.accountId, uri)
    if (statusId !== undefined) {
      // No redraft will reuse the files, so they are deleted at once (S-107).
      yield* tracked("status", [statusId])(sql`DELETE FROM media_attachments WHERE status_id = ${statusId}`)
      yield* verbs.Delete(own, { _tag: "Delete", statusId })
    }
    return done
  })

  return { create, edit, remove }
})
