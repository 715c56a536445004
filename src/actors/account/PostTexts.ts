import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { validationFailed } from "../../services/Errors.ts"
import { exceedsTold, statusCharactersMax, tooLong } from "../../services/html/Text.ts"
import { statusBytesMax } from "../../services/instance/ContentLimits.ts"
import { rowsOf } from "../../services/Rows.ts"
import type { Draft } from "../../services/statuses/Drafts.ts"
import type { Post } from "../../services/statuses/Post.ts"

const tooLongText = validationFailed(`Text character limit of ${statusCharactersMax} exceeded`)

/** The files that a post names, each once. */
export const filesOf = ({ mediaIds }: Post) => [...new Set(mediaIds)]

/** Refuses what takes too many bytes as it is stored; few characters of a text may become many of HTML. */
const size = ({ html }: Draft, spoilerText: string) =>
  exceedsTold([html, spoilerText], statusBytesMax) ? Effect.fail(tooLongText) : Effect.void

const tagRows = rowsOf(Schema.Struct({ displayName: Schema.String }))

/** Refuses hashtags that staff do not let posts carry (S-233). */
const tagged = (sql: SqlClient) =>
  Effect.fnUntraced(function*({ tags }: Draft) {
    if (tags.length === 0) return
    const found = yield* tagRows(sql`SELECT display_name FROM tags
      WHERE name = ANY (${tags.map(({ name }) => name)}::text[]) AND NOT usable ORDER BY name`)
    if (found.length === 0) return
    const names = found.map(({ displayName }) => displayName).join(", ")
    return yield* validationFailed(`Text contained a disallowed hashtag: ${names}`)
  })

/** Refuses what is too long, or carries what it may not. */
export const fitting = (sql: SqlClient) => {
  const allowed = tagged(sql)
  return (draft: Draft, spoilerText: string) => Effect.andThen(size(draft, spoilerText), allowed(draft))
}

/** The text and content warning to store; a content warning alone becomes the text. `hasMore`: files, or a quote. */
export const words = Effect.fnUntraced(
  function*(source: Pick<Post, "text" | "spoilerText">, hasMore: boolean) {
    const [body, warning] = [source.text.trim(), (source.spoilerText ?? "").trim()]
    const [text, spoilerText] = body === "" ? [warning, ""] : [body, warning]
    if (text === "" && !hasMore) return yield* validationFailed("Text can't be blank")
    if (tooLong(text, spoilerText)) return yield* tooLongText
    return { text, spoilerText }
  }
)
