import { Effect } from "effect"
import { validationFailed } from "../../services/Errors.ts"
import { exceedsTold, statusCharactersMax, tooLong } from "../../services/html/Text.ts"
import { statusBytesMax } from "../../services/instance/ContentLimits.ts"
import type { Draft } from "../../services/statuses/Drafts.ts"
import type { Post } from "../../services/statuses/Post.ts"

const tooLongText = validationFailed(`Text character limit of ${statusCharactersMax} exceeded`)

/** The files that a post names, each once. */
export const filesOf = ({ mediaIds }: Post) => [...new Set(mediaIds)]

/** Refuses what takes too many bytes as it is stored; few characters of a text may become many of HTML. */
export const size = ({ html }: Draft, spoilerText: string) =>
  exceedsTold([html, spoilerText], statusBytesMax) ? Effect.fail(tooLongText) : Effect.void

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
