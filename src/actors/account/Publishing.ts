import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import { type ClientError, RecordNotFound } from "../../services/Errors.ts"
import { NotificationWriter } from "../../services/feeds/NotificationWriter.ts"
import type { AccountId } from "../../services/Ids.ts"
import { AgendaEntries } from "../../services/intents/AgendaEntries.ts"
import type { CommandAnswer } from "../../services/intents/Commands.ts"
import { Fanouts } from "../../services/intents/Fanouts.ts"
import { AttachmentWriter } from "../../services/media/AttachmentWriter.ts"
import { Drafts } from "../../services/statuses/Drafts.ts"
import { Polls } from "../../services/statuses/Polls.ts"
import { type NewPoll, type Post, saidOr } from "../../services/statuses/Post.ts"
import { StatusTargets } from "../../services/statuses/StatusTargets.ts"
import { StatusWriter } from "../../services/statuses/StatusWriter.ts"
import { written } from "../../services/statuses/Written.ts"
import { DigestPosts } from "../../services/subscriptions/DigestPosts.ts"
import * as Backlog from "./Backlog.ts"
import * as Composing from "./Composing.ts"
import * as Controlling from "./Controlling.ts"
import * as Gates from "./Gates.ts"
import * as Intents from "./Intents.ts"
import * as Linking from "./Linking.ts"
import { nextMillis, type Ownership, type RecordAlone } from "./Ownership.ts"
import { beside, disallowedIn, filesOf, fitting, isSame, isTextAlone, readsAlike, words } from "./PostTexts.ts"
import * as Quoting from "./Quoting.ts"
import * as Screening from "./Screening.ts"
import { type Commands, onRefused, onStatus } from "./Verbs.ts"

/** Writes, edits and deletes statuses; all inside the transaction of a command. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const disallowedTags = disallowedIn(sql)
  const digests = yield* DigestPosts
  const drafts = yield* Drafts
  const fanouts = yield* Fanouts
  const attachments = yield* AttachmentWriter
  const agenda = yield* AgendaEntries
  const polls = yield* Polls
  const statusWriter = yield* StatusWriter
  const statusTargets = yield* StatusTargets
  const intend = yield* Intents.make
  const notificationWriter = yield* NotificationWriter
  const broadcast = yield* Broadcast
  const linking = yield* Linking.make
  const quoting = yield* Quoting.make
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const screening = yield* Screening.make
  const composing = yield* Composing.make

  /** What a post answers, and what its author says. */
  const parentOf = Effect.fnUntraced(function*(accountId: AccountId, { inReplyToId }: Post) {
    if (inReplyToId === null) return undefined
    const parent = yield* statusTargets.parent(accountId, inReplyToId)
    return { ...parent, agreement: yield* gates.gate(accountId, parent, "reply") }
  })

  /** Fails where `publish` would, but for what the author may by the time the post is due; answers the files that it is to have. */
  const rehearse = Effect.fnUntraced(function*(accountId: AccountId, post: Post) {
    const mediaIds = filesOf(post)
    yield* parentOf(accountId, post)
    const quoted = yield* quoting.find(accountId, post)
    const { text } = yield* words(post, mediaIds.length > 0 || quoted !== undefined)
    const draft = yield* drafts.compose(text, post.contentType ?? "text/plain")
    yield* fitting(draft, beside(post), yield* disallowedTags(draft))
    yield* composing.check(accountId, post, draft)
    yield* quoting.readersOf(accountId, post.visibility ?? "public", quoted, draft)
    return mediaIds
  })

  const publish = Effect.fnUntraced(
    function*(own: Ownership, post: Post): Effect.fn.Return<CommandAnswer, ClientError | SqlError> {
      const { accountId } = own
      const parent = yield* parentOf(accountId, post)
      const quoted = yield* quoting.find(accountId, post)
      const composed = yield* composing.compose(own, post, { parent, quoted })
      const { links, row, verdict } = composed
      if (verdict.end === "drop") {
        yield* screening.settle(own, verdict, undefined)
        return onRefused(verdict.hits.at(-1)?.id ?? 0n)
      }
      const fanout = yield* statusWriter.insert(composed)
      const { statusId } = fanout.intent
      yield* attachments.give(row.mediaIds, { statusId })
      yield* linking.attach(statusId, links)
      const asks = parent?.agreement === "asks"
      const waits = asks || verdict.end === "hold"
      if (composed.byEmail && !waits) yield* digests.gather(accountId, statusId, row.createdAt)
      if (quoted !== undefined) yield* quoting.attach(own, statusId, quoted, row.visibility, waits)
      if (post.poll !== null) {
        const endsAt = yield* polls.create(statusId, post.poll, row.createdAt.getTime())
        yield* agenda.enqueue("poll_end", statusId, accountId, endsAt)
      }
      if (parent !== undefined && parent.agreement !== "free") {
        yield* control.attach(own, parent, "reply", parent.agreement, statusId)
      }
      yield* screening.settle(own, verdict, statusId, asks)
      if (waits) yield* fanouts.cancel(fanout)
      else Backlog.wrote(own.backlog, fanout)
      yield* sql.afterCommit(changed(accountId, parent === undefined ? [] : [parent.id]))
      return onStatus(statusId)
    }
  )

  /** The same of a post that is its text and no more, as most are: all that its command does is one statement. */
  const publishAlone = Effect.fnUntraced(
    function*(own: Ownership, { post }: Commands["Publish"], record: RecordAlone): Effect.fn.Return<
      CommandAnswer | undefined,
      ClientError | SqlError
    > {
      if (!isTextAlone(post)) return undefined
      const composed = yield* composing.compose(own, post, {})
      if (composed.byEmail || composed.verdict.hits.length > 0 || Linking.isAny(composed.links)) return undefined
      const fanout = yield* record("status", (recording) => statusWriter.insertAlone(composed, recording))
      if (fanout === undefined) return undefined
      Backlog.wrote(own.backlog, fanout)
      yield* changed(own.accountId, [])
      return onStatus(fanout.intent.statusId)
    }
  )

  const changed = (accountId: AccountId, statuses: ReadonlyArray<bigint>) =>
    broadcast.publish({ _tag: "Changed", kind: "account", ids: [accountId] }).pipe(
      Effect.andThen(
        statuses.length === 0 ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids: statuses })
      )
    )

  /** Gives an edited status its poll, which ends so long after the edit. */
  const ask = Effect.fnUntraced(
    function*(accountId: AccountId, statusId: bigint, poll: NewPoll | null, millis: number) {
      const endsAt = yield* polls.revise(statusId, poll, millis)
      if (endsAt === undefined) yield* agenda.cancel("poll_end", statusId)
      else yield* agenda.enqueue("poll_end", statusId, accountId, endsAt)
      yield* sql.afterCommit(changed(accountId, [statusId]))
    }
  )

  const verbs = {
    Publish: (own: Ownership, { post }: Commands["Publish"]) => publish(own, post),
    Edit: Effect.fnUntraced(function*(own: Ownership, command: Commands["Edit"]) {
      const { accountId } = own
      const old = yield* statusTargets.own(accountId, command.statusId)
      if (old.reblogOfId !== null) return yield* new RecordNotFound()
      if (old.visibility === "direct") yield* control.settled(old.id)
      const mediaIds = command.mediaIds === undefined ? old.mediaIds : [...new Set(command.mediaIds)]
      // Without a content warning an edit takes it away.
      const said = saidOr(command, { ...written(old), spoilerText: "" })
      const { text, ...texts } = yield* words(
        { ...said, text: command.text },
        mediaIds.length > 0 || (yield* quoting.isQuoting(old.id, command))
      )
      const contentType = command.contentType ?? old.contentType
      const draft = yield* drafts.compose(text, contentType)
      yield* fitting(draft, texts, yield* disallowedTags(draft))
      const { html, mentionIds } = draft
      const isNew = !readsAlike(old, { ...texts, html })
      const edited = { ...texts, html, mentionIds, domain: null }
      if (isNew && !(yield* screening.edits(own, old.id, edited))) return onRefused(old.id)
      if (command.mediaIds !== undefined) yield* attachments.check(accountId, mediaIds, command.statusId)
      const row = {
        ...written(said),
        ...texts,
        text,
        contentType,
        html,
        sensitive: said.sensitive || texts.spoilerText !== "",
        mediaIds
      }
      const same = isSame(old, row)
      const described = command.media ?? []
      const { poll } = command
      if (poll) yield* polls.check(poll)
      const asks = poll !== undefined && (yield* polls.differs(command.statusId, poll))
      const millis = yield* nextMillis(own)
      const governed = yield* quoting.govern(own, old, command)
      if (same && !asks && !(yield* attachments.differ(command.statusId, described))) {
        if (poll !== undefined) yield* ask(accountId, command.statusId, poll, millis)
        if (governed) yield* quoting.governed(own, command.statusId)
        return onStatus(command.statusId)
      }
      yield* statusWriter.preserve(command.statusId, millis)
      yield* attachments.give(mediaIds, { statusId: command.statusId })
      yield* attachments.revise(command.statusId, described)
      if (poll !== undefined) yield* ask(accountId, command.statusId, poll, millis)
      yield* statusWriter.revise(command.statusId, accountId, { millis, row, draft })
      yield* linking.replace(command.statusId, linking.ofDraft(draft, mediaIds.length > 0))
      yield* intend(own, { _tag: "edit", statusId: command.statusId, editedAt: millis })
      yield* sql.afterCommit(changed(accountId, [command.statusId]))
      return onStatus(command.statusId)
    }),
    Delete: Effect.fnUntraced(function*(own: Ownership, { deleteMedia = false, statusId }: Commands["Delete"]) {
      const { accountId } = own
      const { visibility } = yield* statusTargets.own(accountId, statusId)
      if (visibility === "direct") yield* control.forget(accountId, statusId)
      const counted = yield* statusWriter.remove(statusId, accountId, yield* nextMillis(own))
      yield* attachments.free(statusId, !deleteMedia)
      yield* agenda.cancel("poll_end", statusId)
      yield* notificationWriter.retract([statusId])
      yield* intend(own, { _tag: "delete", statusId: statusId })
      yield* sql.afterCommit(changed(accountId, [statusId, ...counted]))
      return onStatus(statusId)
    })
  }

  return { rehearse, publish, verbs, alone: { Publish: publishAlone } }
})

export type Publishing = Effect.Success<typeof make>
