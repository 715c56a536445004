import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { validationFailed } from "../../services/Errors.ts"
import { exceedsTold, statusCharactersMax, tooLong } from "../../services/html/Text.ts"
import { statusBytesMax } from "../../services/instance/ContentLimits.ts"
import { rowsOf } from "../../services/Rows.ts"
import type { Draft } from "../../services/statuses/Drafts.ts"
import type { Post } from "../../services/statuses/Post.ts"
import { Revised } from "../../services/statuses/StoredStatus.ts"
import * as Tagging from "../../services/statuses/Tagging.ts"
import { textFields, textsBy, textsOf, type WrittenTexts } from "../../services/statuses/Written.ts"

const tooLongText = validationFailed(`Text character limit of ${statusCharactersMax} exceeded`)

/** The files that a post names, each once. */
export const filesOf = ({ mediaIds }: Post) => [...new Set(mediaIds)]

/** Whether a post is no more than its texts, without a link, which has a card. */
export const isTextAlone = (post: Post): boolean =>
  !post.text.includes("://") && post.inReplyToId === null && post.quotedStatusId === null && post.poll === null &&
  filesOf(post).length === 0

/** Whether an edit changes nothing; the HTML follows from the text. */
export const isSame = Schema.toEquivalence(Revised.mapFields(Struct.omit(["html"])))
/** Whether people would read the same. */
export const readsAlike = Schema.toEquivalence(Revised.mapFields(Struct.pick(["html", ...textFields])))

/** Refuses what takes too many bytes as it is stored; few characters of a text may become many of HTML. */
const size = ({ html }: Draft, texts: WrittenTexts) =>
  exceedsTold([html, ...textsOf(texts)], statusBytesMax) ? Effect.fail(tooLongText) : Effect.void

const tagRows = rowsOf(Schema.Struct({ displayName: Schema.String }))

/** Which hashtags of a draft no post may carry, as they are shown. */
export const disallowedIn = (sql: SqlClient) => ({ tags }: Draft) =>
  tags.length === 0
    ? Effect.succeed([])
    : Effect.map(tagRows(Tagging.disallowed(sql, tags)), (rows) => rows.map(({ displayName }) => displayName))

/** Refuses what is too long, or carries hashtags that it may not (S-233). */
export const fitting = Effect.fnUntraced(
  function*(draft: Draft, texts: WrittenTexts, disallowed: ReadonlyArray<string>) {
    yield* size(draft, texts)
    if (disallowed.length === 0) return
    return yield* validationFailed(`Text contained a disallowed hashtag: ${disallowed.join(", ")}`)
  }
)

/** The texts beside the text; "" where nothing is said. */
export const beside = (post: Pick<Post, keyof WrittenTexts>): WrittenTexts => textsBy((field) => post[field] ?? "")

/** The texts to store; a content warning alone becomes the text. `hasMore`: files, or a quote. */
export const words = Effect.fnUntraced(
  function*(source: Pick<Post, "text" | keyof WrittenTexts>, hasMore: boolean) {
    const trimmed = { ...textsBy((field) => (source[field] ?? "").trim()), text: source.text.trim() }
    const texts = trimmed.text === "" ? { ...trimmed, text: trimmed.spoilerText, spoilerText: "" } : trimmed
    if (texts.text === "" && !hasMore) return yield* validationFailed("Text can't be blank")
    if (tooLong(texts.text, textsOf(texts).join(""))) return yield* tooLongText
    return texts
  }
)
