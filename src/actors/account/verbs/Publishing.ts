import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"
import type { CommandResponse } from "../../../services/intents/Commands.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import { AttachmentWriter } from "../../../services/media/AttachmentWriter.ts"
import { type ClientError, UnexpectedMentions } from "../../../services/runtime/Errors.ts"
import { Authors } from "../../../services/statuses/Authors.ts"
import { defaultFor } from "../../../services/statuses/DefaultPolicies.ts"
import { type Draft, Drafts } from "../../../services/statuses/Drafts.ts"
import { newPolicy } from "../../../services/statuses/InteractionPolicy.ts"
import { Polls } from "../../../services/statuses/Polls.ts"
import { type Post, withDefaults } from "../../../services/statuses/Post.ts"
import type { Quoted } from "../../../services/statuses/Quotes.ts"
import { defaultColumns } from "../../../services/statuses/StatusRows.ts"
import { type Parent, StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import { StatusWriter } from "../../../services/statuses/StatusWriter.ts"
import { written, writtenDefaults } from "../../../services/statuses/Written.ts"
import { DigestPosts } from "../../../services/subscriptions/DigestPosts.ts"
import * as Backlog from "../core/Backlog.ts"
import * as Gates from "../core/Gates.ts"
import { nextMillis, type Ownership, type RecordStatement } from "../core/Ownership.ts"
import { type Commands, onRefused, onStatus } from "../core/Verbs.ts"
import * as Controlling from "./Controlling.ts"
import * as Linking from "./Linking.ts"
import { checkDraft, disallowedIn, filesOf, isTextOnly, otherTexts, textsToStore } from "./PostTexts.ts"
import * as Quoting from "./Quoting.ts"
import * as Screening from "./Screening.ts"

/** The statuses that a post refers to. */
interface About {
  readonly parent?: Parent | undefined
  readonly quoted?: Quoted | undefined
}

/** Writes new statuses, inside the transaction of a command or as its one statement. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const authors = yield* Authors
  const disallowedTags = disallowedIn(sql)
  const digests = yield* DigestPosts
  const drafts = yield* Drafts
  const fanouts = yield* Fanouts
  const attachments = yield* AttachmentWriter
  const agenda = yield* AgendaEntries
  const polls = yield* Polls
  const statusWriter = yield* StatusWriter
  const statusTargets = yield* StatusTargets
  const linking = yield* Linking.make
  const quoting = yield* Quoting.make
  const control = yield* Controlling.make
  const gates = yield* Gates.make
  const screening = yield* Screening.make

  /** Checks the files, the poll and the mentions of a post before it is stored; scheduling uses it, too. */
  const check = Effect.fnUntraced(function*(accountId: AccountId, post: Post, draft: Draft) {
    yield* attachments.check(accountId, filesOf(post), null)
    if (post.poll !== null) yield* polls.check(post.poll)
    if (post.allowedMentions === null) return
    const allowed = new Set<bigint>([...post.allowedMentions, accountId])
    const unexpected = draft.mentionIds.filter((id) => !allowed.has(id))
    if (unexpected.length > 0) return yield* new UnexpectedMentions({ accountIds: unexpected.map(String) })
  })

  /** Builds the row of a new status with its mentions, links, spam verdict and whether it is sent by e-mail. */
  const compose = Effect.fnUntraced(function*(own: Ownership, post: Post, { parent, quoted }: About) {
    const [{ accountId }, mediaIds] = [own, filesOf(post)]
    const { text, ...texts } = yield* textsToStore(post, mediaIds.length > 0 || quoted !== undefined)
    const contentType = post.contentType ?? "text/plain"
    const names = drafts.names(text, contentType)
    const { author, disallowed, named } = yield* authors.writing(accountId, names)
    const draft = drafts.write(text, names, named, contentType)
    yield* checkDraft(draft, otherTexts(post), disallowed)
    yield* check(accountId, post, draft)
    const { html, mentionIds } = draft
    const verdict = yield* screening.judge(own, { ...texts, html, mentionIds, domain: null })
    const requestedVisibility = yield* quoting.readersOf(accountId, post.visibility ?? author.visibility, quoted, draft)
    const visibility = requestedVisibility === "public" && (author.silenced || verdict.limits)
      ? "unlisted"
      : requestedVisibility
    const filled = withDefaults(post, { ...writtenDefaults, ...author })
    const row = {
      ...defaultColumns,
      ...written(filled),
      ...texts,
      accountId,
      text,
      contentType,
      html,
      sensitive: filled.sensitive || filled.spoilerText.trim() !== "",
      visibility,
      // Replies to local-only posts are local-only, and so are quotes of them.
      localOnly: post.localOnly === true || parent?.localOnly === true || quoted?.localOnly === true,
      interactionPolicy: newPolicy(
        post.interactionPolicy ?? defaultFor(author.defaultPolicies, visibility),
        post.quoteApprovalPolicy ?? null,
        author.quotePolicy
      ),
      inReplyToId: parent?.id ?? null,
      inReplyToAccountId: parent?.repliedToId ?? null,
      conversationId: parent?.conversationId ?? null,
      applicationId: post.applicationId,
      mediaIds,
      createdAt: new Date(yield* nextMillis(own))
    }
    const byEmail = author.emailSubscriptions && visibility === "public" &&
      (parent?.repliedToId ?? accountId) === accountId
    return { draft, row, verdict, byEmail, links: linking.ofDraft(draft, mediaIds.length > 0) }
  })

  /** Returns the parent of a reply with its author's agreement. */
  const parentOf = Effect.fnUntraced(function*(accountId: AccountId, { inReplyToId }: Post) {
    if (inReplyToId === null) return undefined
    const parent = yield* statusTargets.parent(accountId, inReplyToId)
    return { ...parent, agreement: yield* gates.checkPolicy(accountId, parent, "reply") }
  })

  /**
   * Fails where `publish` would, except for author permissions that may change until the post is due. Returns the ids
   * of its files.
   */
  const checkPublishable = Effect.fnUntraced(function*(accountId: AccountId, post: Post) {
    const mediaIds = filesOf(post)
    yield* parentOf(accountId, post)
    const quoted = yield* quoting.find(accountId, post)
    const { text } = yield* textsToStore(post, mediaIds.length > 0 || quoted !== undefined)
    const draft = yield* drafts.compose(text, post.contentType ?? "text/plain")
    yield* checkDraft(draft, otherTexts(post), yield* disallowedTags(draft))
    yield* check(accountId, post, draft)
    yield* quoting.readersOf(accountId, post.visibility ?? "public", quoted, draft)
    return mediaIds
  })

  const publish = Effect.fnUntraced(
    function*(own: Ownership, post: Post): Effect.fn.Return<CommandResponse, ClientError | SqlError> {
      const { accountId } = own
      const parent = yield* parentOf(accountId, post)
      const quoted = yield* quoting.find(accountId, post)
      const composed = yield* compose(own, post, { parent, quoted })
      const { links, row, verdict } = composed
      if (verdict.end === "drop") {
        yield* screening.settle(own, verdict, undefined)
        return onRefused(verdict.hits.at(-1)?.id ?? 0n)
      }
      const fanout = yield* statusWriter.insert(composed)
      const { statusId } = fanout.intent
      yield* attachments.attach(row.mediaIds, { statusId })
      yield* linking.attach(statusId, links)
      const asks = parent?.agreement === "asks"
      const waits = asks || verdict.end === "hold"
      if (composed.byEmail && !waits) yield* digests.enqueue(accountId, statusId, row.createdAt)
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
      else Backlog.addWritten(own.backlog, fanout)
      return onStatus(statusId)
    }
  )

  /**
   * Publishes a post that is only its texts, as most are, in one statement. Undefined if the post needs a transaction.
   */
  const publishAsStatement = Effect.fnUntraced(
    function*(own: Ownership, { post }: Commands["Publish"], record: RecordStatement): Effect.fn.Return<
      CommandResponse | undefined,
      ClientError | SqlError
    > {
      if (!isTextOnly(post)) return undefined
      const composed = yield* compose(own, post, {})
      if (composed.byEmail || composed.verdict.hits.length > 0 || Linking.isAny(composed.links)) return undefined
      const fanout = yield* record("status", (recording) => statusWriter.insertAlone(composed, recording))
      if (fanout === undefined) return undefined
      Backlog.addWritten(own.backlog, fanout)
      return { ...onStatus(fanout.intent.statusId), isNew: true }
    }
  )

  const verbs = {
    Publish: (own: Ownership, { post }: Commands["Publish"]) => publish(own, post)
  }

  return { checkPublishable, publish, verbs, asStatement: { Publish: publishAsStatement } }
})

export type Publishing = Effect.Success<typeof make>
