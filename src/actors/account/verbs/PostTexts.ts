import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf } from "../../../services/database/Rows.ts"
import { exceedsJsonBytes, statusCharactersMax, tooLong } from "../../../services/html/Text.ts"
import { statusBytesMax } from "../../../services/instance/ContentLimits.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import type { Draft } from "../../../services/statuses/Drafts.ts"
import type { Post } from "../../../services/statuses/Post.ts"
import { Revised } from "../../../services/statuses/StoredStatus.ts"
import * as Tagging from "../../../services/statuses/Tagging.ts"
import { textFields, textsBy, textsOf, type WrittenTexts } from "../../../services/statuses/Written.ts"

const tooLongText = validationFailed(`Text character limit of ${statusCharactersMax} exceeded`)

/** Returns the ids of a post's files, without duplicates. */
export const filesOf = ({ mediaIds }: Post) => [...new Set(mediaIds)]

/** Returns true if a post is only its texts: no link (which gets a card), files, poll, quote or parent. */
export const isTextOnly = (post: Post): boolean =>
  !post.text.includes("://") && post.inReplyToId === null && post.quotedStatusId === null && post.poll === null &&
  filesOf(post).length === 0

/** Returns true if an edit changes nothing; HTML is ignored because it follows from the text. */
export const isSame = Schema.toEquivalence(Revised.mapFields(Struct.omit(["html"])))
/** Returns true if both versions read the same to people. */
export const isSameText = Schema.toEquivalence(Revised.mapFields(Struct.pick(["html", ...textFields])))

/** Refuses texts that are too large when stored; a few characters of text may become much HTML. */
const size = ({ html }: Draft, texts: WrittenTexts) =>
  exceedsJsonBytes([html, ...textsOf(texts)], statusBytesMax) ? Effect.fail(tooLongText) : Effect.void

const tagRows = rowsOf(Schema.Struct({ displayName: Schema.String }))

/** Returns the display names of a draft's hashtags that posts may not carry. */
export const disallowedIn = (sql: SqlClient) => ({ tags }: Draft) =>
  tags.length === 0
    ? Effect.succeed([])
    : Effect.map(tagRows(Tagging.disallowed(sql, tags)), (rows) => rows.map(({ displayName }) => displayName))

/** Refuses a draft that is too long or carries a disallowed hashtag (S-233). */
export const checkDraft = Effect.fnUntraced(
  function*(draft: Draft, texts: WrittenTexts, disallowed: ReadonlyArray<string>) {
    yield* size(draft, texts)
    if (disallowed.length === 0) return
    return yield* validationFailed(`Text contained a disallowed hashtag: ${disallowed.join(", ")}`)
  }
)

/** Returns the texts besides the main text; "" for missing ones. */
export const otherTexts = (post: Pick<Post, keyof WrittenTexts>): WrittenTexts => textsBy((field) => post[field] ?? "")

/** Returns the texts to store; a content warning alone becomes the text. `hasMore`: the post has files or a quote. */
export const textsToStore = Effect.fnUntraced(
  function*(source: Pick<Post, "text" | keyof WrittenTexts>, hasMore: boolean) {
    const trimmed = { ...textsBy((field) => (source[field] ?? "").trim()), text: source.text.trim() }
    const texts = trimmed.text === "" ? { ...trimmed, text: trimmed.spoilerText, spoilerText: "" } : trimmed
    if (texts.text === "" && !hasMore) return yield* validationFailed("Text can't be blank")
    if (tooLong(texts.text, textsOf(texts).join(""))) return yield* tooLongText
    return texts
  }
)
