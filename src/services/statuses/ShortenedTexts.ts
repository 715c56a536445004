import { makeByteLimit } from "../html/ByteLimit.ts"
import { exceedsJsonBytes } from "../html/Text.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import type { MediaRecord } from "../media/MediaRecord.ts"
import { textsBy, textsOf, type WrittenTexts } from "./Written.ts"

/** Texts of a status or of a revision. */
interface StatusTexts extends WrittenTexts {
  readonly html: string
  readonly tags: ReadonlyArray<string>
  readonly media: ReadonlyArray<MediaRecord>
}

/**
 * Cuts texts that were stored without a bound to `statusBytesMax`, together with the poll's options; undefined if they
 * fit.
 */
export const shortened = (
  status: StatusTexts,
  options: ReadonlyArray<string>
): (StatusTexts & { readonly options: ReadonlyArray<string> }) | undefined => {
  const { html, media, tags } = status
  const all = [html, ...textsOf(status), ...options, ...tags, ...media.map(({ description }) => description ?? "")]
  if (!exceedsJsonBytes(all, statusBytesMax)) return undefined
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
