import { makeByteLimit } from "../html/ByteLimit.ts"
import { exceedsTold } from "../html/Text.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import type { MediaRecord } from "../media/MediaRecord.ts"
import { textsBy, textsOf, type WrittenTexts } from "./Written.ts"

/** The texts of a status, or of a version of it. */
interface StatusTexts extends WrittenTexts {
  readonly html: string
  readonly tags: ReadonlyArray<string>
  readonly media: ReadonlyArray<MediaRecord>
}

/**
 * Texts that were stored before they were measured, cut to `statusBytesMax` together with the options of its poll; undefined where
 * they fit.
 */
export const shortened = (
  status: StatusTexts,
  options: ReadonlyArray<string>
): (StatusTexts & { readonly options: ReadonlyArray<string> }) | undefined => {
  const { html, media, tags } = status
  const all = [html, ...textsOf(status), ...options, ...tags, ...media.map(({ description }) => description ?? "")]
  if (!exceedsTold(all, statusBytesMax)) return undefined
  const room = makeByteLimit(statusBytesMax)
  return {
    options: room.members(options, (option) => [option]),
    ...textsBy((field) => room.text(status[field])),
    html: room.html(html),
    tags: room.members(tags, (tag) => [tag]),
    media: media.map((one) =>
      Object.assign({}, one, { description: one.description === null ? null : room.text(one.description) })
    )
  }
}
