import { makeByteLimit } from "../html/ByteLimit.ts"
import { sanitise } from "../html/Sanitise.ts"
import { exceedsTold } from "../html/Text.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import type { MediaRecord } from "../media/MediaRecord.ts"

/** The texts of a status, or of a version of it. */
interface StatusTexts {
  readonly html: string
  readonly spoilerText: string
  /** Of its poll. */
  readonly options: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly media: ReadonlyArray<MediaRecord>
}

/** Texts that were stored before they were measured, cut to `statusBytesMax` together; undefined where they fit. */
export const shortened = ({ html, media, options, spoilerText, tags }: StatusTexts): StatusTexts | undefined => {
  const all = [html, spoilerText, ...options, ...tags, ...media.map(({ description }) => description ?? "")]
  if (!exceedsTold(all, statusBytesMax)) return undefined
  const room = makeByteLimit(statusBytesMax)
  return {
    options: room.members(options, (option) => [option]),
    spoilerText: room.text(spoilerText),
    html: room.html(html, sanitise),
    tags: room.members(tags, (tag) => [tag]),
    media: media.map((one) => ({ ...one, description: one.description === null ? null : room.text(one.description) }))
  }
}
