import { Effect } from "effect"
import { UnexpectedMentions } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import { AttachmentWriter } from "../../services/media/AttachmentWriter.ts"
import { Authors } from "../../services/statuses/Authors.ts"
import { defaultFor } from "../../services/statuses/DefaultPolicies.ts"
import { type Draft, Drafts } from "../../services/statuses/Drafts.ts"
import { newPolicy } from "../../services/statuses/InteractionPolicy.ts"
import { Polls } from "../../services/statuses/Polls.ts"
import { type Post, saidOr } from "../../services/statuses/Post.ts"
import type { Quoted } from "../../services/statuses/Quotes.ts"
import { blank } from "../../services/statuses/StatusRows.ts"
import type { Parent } from "../../services/statuses/StatusTargets.ts"
import { unwritten, written } from "../../services/statuses/Written.ts"
import * as Linking from "./Linking.ts"
import { nextMillis, type Ownership } from "./Ownership.ts"
import { beside, filesOf, fitting, words } from "./PostTexts.ts"
import * as Quoting from "./Quoting.ts"
import * as Screening from "./Screening.ts"

/** What a post is about. */
interface About {
  readonly parent?: Parent | undefined
  readonly quoted?: Quoted | undefined
}

/** Makes statuses of posts, without writing any. */
export const make = Effect.gen(function*() {
  const authors = yield* Authors
  const drafts = yield* Drafts
  const attachments = yield* AttachmentWriter
  const polls = yield* Polls
  const linking = yield* Linking.make
  const quoting = yield* Quoting.make
  const screening = yield* Screening.make

  /**
   * What speaks against the files, the poll and the mentions of a post before it is stored; scheduling checks it, too.
   */
  const check = Effect.fnUntraced(function*(accountId: AccountId, post: Post, draft: Draft) {
    yield* attachments.check(accountId, filesOf(post), null)
    if (post.poll !== null) yield* polls.check(post.poll)
    if (post.allowedMentions === null) return
    const allowed = new Set<bigint>([...post.allowedMentions, accountId])
    const unexpected = draft.mentionIds.filter((id) => !allowed.has(id))
    if (unexpected.length > 0) return yield* new UnexpectedMentions({ accountIds: unexpected.map(String) })
  })

  /** The row of a new status, what its text names and links to, what rules against spam say, and whether it goes out by e-mail. */
  const compose = Effect.fnUntraced(function*(own: Ownership, post: Post, { parent, quoted }: About) {
    const [{ accountId }, mediaIds] = [own, filesOf(post)]
    const { text, ...texts } = yield* words(post, mediaIds.length > 0 || quoted !== undefined)
    const contentType = post.contentType ?? "text/plain"
    const names = drafts.names(text, contentType)
    const { author, disallowed, named } = yield* authors.writing(accountId, names)
    const draft = drafts.write(text, names, named, contentType)
    yield* fitting(draft, beside(post), disallowed)
    yield* check(accountId, post, draft)
    const { html, mentionIds } = draft
    const verdict = yield* screening.judge(own, { ...texts, html, mentionIds, domain: null })
    const wanted = yield* quoting.readersOf(accountId, post.visibility ?? author.visibility, quoted, draft)
    const visibility = wanted === "public" && (author.silenced || verdict.limits) ? "unlisted" : wanted
    const said = saidOr(post, { ...unwritten, ...author })
    const row = {
      ...blank,
      ...written(said),
      ...texts,
      accountId,
      text,
      contentType,
      html,
      sensitive: said.sensitive || said.spoilerText.trim() !== "",
      visibility,
      // An answer stays where that is which it answers, and so does what quotes.
      localOnly: post.localOnly === true || parent?.localOnly === true || quoted?.localOnly === true,
      interactionPolicy: newPolicy(
        post.interactionPolicy ?? defaultFor(author.defaultPolicies, visibility),
        post.quoteApprovalPolicy ?? null,
        author.quotePolicy
      ),
      inReplyToId: parent?.id ?? null,
      inReplyToAccountId: parent?.answeredId ?? null,
      conversationId: parent?.conversationId ?? null,
      applicationId: post.applicationId,
      mediaIds,
      createdAt: new Date(yield* nextMillis(own))
    }
    const byEmail = author.emailSubscriptions && visibility === "public" &&
      (parent?.answeredId ?? accountId) === accountId
    return { draft, row, verdict, byEmail, links: linking.ofDraft(draft, mediaIds.length > 0) }
  })

  return { check, compose }
})
