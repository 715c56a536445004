import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import { type ClientError, RecordNotFound, UnexpectedMentions, validationFailed } from "../../services/Errors.ts"
import { Notices } from "../../services/feeds/Notices.ts"
import { statusCharactersMax, tooLong } from "../../services/html/Text.ts"
import { Fanouts } from "../../services/intents/Fanouts.ts"
import { Attachings } from "../../services/media/Attachings.ts"
import { Authors } from "../../services/statuses/Authors.ts"
import { Drafts } from "../../services/statuses/Drafts.ts"
import { Publications, type Visibility } from "../../services/statuses/Publications.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import type { Ownership } from "./Ownership.ts"
import type { Command, Post } from "./Protocol.ts"
import { onStatus } from "./Verbs.ts"

type Of<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

/** Writes, edits and deletes statuses; all inside the transaction of a command. */
export const make = Effect.fnUntraced(function*({ accountId, nextMillis }: Ownership) {
  const sql = yield* SqlClient.SqlClient
  const authors = yield* Authors
  const drafts = yield* Drafts
  const attachings = yield* Attachings
  const publications = yield* Publications
  const targets = yield* Targets
  const fanouts = yield* Fanouts
  const notices = yield* Notices
  const broadcast = yield* Broadcast

  /** What is stored of a text and its content warning; a content warning alone is the text. */
  const prepare = Effect.fnUntraced(
    function*(source: { readonly text: string; readonly spoilerText: string }, files: number) {
      const [body, warning] = [source.text.trim(), source.spoilerText.trim()]
      const [text, spoilerText] = body === "" ? [warning, ""] : [body, warning]
      if (text === "" && files === 0) return yield* validationFailed("Text can't be blank")
      if (tooLong(text, spoilerText)) {
        return yield* validationFailed(`Text character limit of ${statusCharactersMax} exceeded`)
      }
      return { text, spoilerText, draft: yield* drafts.compose(text) }
    }
  )

  /** What can be said against a post before it is stored; scheduling checks it, too. */
  const check = Effect.fnUntraced(function*(post: Post) {
    const parent = post.inReplyToId === null ? undefined : yield* targets.parent(accountId, post.inReplyToId)
    const mediaIds = [...new Set(post.mediaIds)]
    const prepared = yield* prepare(post, mediaIds.length)
    yield* attachings.check(accountId, mediaIds, null)
    if (post.allowedMentions !== null) {
      const allowed = new Set<bigint>([...post.allowedMentions, accountId])
      const unexpected = prepared.draft.mentionIds.filter((id) => !allowed.has(id))
      if (unexpected.length > 0) return yield* new UnexpectedMentions({ accountIds: unexpected.map(String) })
    }
    return { parent, mediaIds, ...prepared }
  })

  const publish = Effect.fnUntraced(function*(post: Post): Effect.fn.Return<bigint, ClientError | SqlError> {
    const { draft, mediaIds, parent, spoilerText, text } = yield* check(post)
    const author = yield* authors.settings(accountId)
    const wanted: Visibility = post.visibility ?? author.visibility
    const id = yield* publications.insert({
      millis: yield* nextMillis,
      accountId,
      text,
      spoilerText,
      sensitive: (post.sensitive ?? author.sensitive) || post.spoilerText.trim() !== "",
      visibility: wanted === "public" && author.silenced ? "unlisted" : wanted,
      language: post.language ?? author.language,
      applicationId: post.applicationId,
      parent,
      draft,
      mediaIds
    })
    yield* attachings.give(mediaIds, { statusId: id })
    yield* fanouts.add(accountId, "publish", id)
    yield* sql.afterCommit(changed(parent === undefined ? [] : [parent.id]))
    return id
  })

  const changed = (statuses: ReadonlyArray<bigint>) =>
    broadcast.publish({ _tag: "Changed", kind: "account", ids: [accountId] }).pipe(
      Effect.andThen(
        statuses.length === 0 ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids: statuses })
      )
    )

  const verbs = {
    Publish: Effect.fnUntraced(function*({ post }: Of<"Publish">) {
      return onStatus(yield* publish(post))
    }),
    Edit: Effect.fnUntraced(function*(command: Of<"Edit">) {
      const old = yield* targets.own(accountId, command.statusId)
      if (old.reblogOfId !== null) return yield* new RecordNotFound()
      const mediaIds = command.mediaIds === undefined ? old.mediaIds : [...new Set(command.mediaIds)]
      const { draft, spoilerText, text } = yield* prepare(command, mediaIds.length)
      if (command.mediaIds !== undefined) yield* attachings.check(accountId, mediaIds, command.statusId)
      const sensitive = (command.sensitive ?? old.sensitive) || spoilerText !== ""
      const language = command.language ?? old.language
      const same = old.text === text && old.spoilerText === spoilerText && old.sensitive === sensitive &&
        old.language === language && String(old.mediaIds) === String(mediaIds)
      const words = command.media ?? []
      if (same && !(yield* attachings.differ(command.statusId, words))) return onStatus(command.statusId)
      const millis = yield* nextMillis
      yield* publications.preserve(command.statusId, millis)
      yield* attachings.give(mediaIds, { statusId: command.statusId })
      yield* attachings.revise(command.statusId, words)
      yield* publications.revise(command.statusId, accountId, {
        millis,
        text,
        spoilerText,
        sensitive,
        language,
        draft,
        mediaIds
      })
      yield* fanouts.add(accountId, "edit", command.statusId)
      yield* sql.afterCommit(changed([command.statusId]))
      return onStatus(command.statusId)
    }),
    Delete: Effect.fnUntraced(function*({ deleteMedia = false, statusId }: Of<"Delete">) {
      yield* targets.own(accountId, statusId)
      const counted = yield* publications.remove(statusId, accountId, yield* nextMillis)
      yield* attachings.free(statusId, !deleteMedia)
      yield* notices.retract([statusId])
      yield* fanouts.add(accountId, "delete", statusId)
      yield* sql.afterCommit(changed([statusId, ...counted]))
      return onStatus(statusId)
    })
  }

  return { check, publish, verbs }
})
