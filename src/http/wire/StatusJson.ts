import type { Standing } from "../../services/statuses/Standings.ts"
import { json, type Values } from "./Keys.ts"
import type { DeletedStatus, Status, StatusBody } from "./Status.ts"

/*
 * A status' JSON put together from parts that are ready: the body, which is the same for everybody, the account, the
 * counters and the viewer's marks. A test decodes it with the schema of `Status`.
 */

/** The JSON of a body, left open at its end. */
export const openBody = (body: Values<StatusBody>): string => json<StatusBody>(body).slice(0, -1)

/** A reblog stands with counters of its own, which nobody sees, and with the marks of what it repeats. */
export const noFigures = { repliesCount: 0, reblogsCount: 0, favouritesCount: 0 }

export interface StatusParts {
  /** From `openBody`. */
  readonly body: string
  readonly account: string
  /** The original's JSON, or "null". */
  readonly reblog: string
  /** Absent where the viewer does not see it. */
  readonly application: string | undefined
  readonly figures: Pick<Standing, "repliesCount" | "reblogsCount" | "favouritesCount">
  /** Absent for callers without a user. */
  readonly marks: Standing | undefined
  /** The viewer's own status, which it could pin. */
  readonly pinnable: boolean
}

export const assemble = ({ account, application, body, figures, marks, pinnable, reblog }: StatusParts): string =>
  `${body},"replies_count":${figures.repliesCount},"reblogs_count":${figures.reblogsCount}` +
  `,"favourites_count":${figures.favouritesCount},"account":${account},"reblog":${reblog}` +
  (application === undefined ? "" : `,"application":${application}`) +
  (marks === undefined
    ? "}"
    : `,"favourited":${marks.favourited},"reblogged":${marks.reblogged},"muted":${marks.muted}` +
      `,"bookmarked":${marks.bookmarked}${pinnable ? `,"pinned":${marks.pinned}` : ""},"filtered":[]}`)

/** The body of a status that its reader may not read any more. */
export const withoutText = (body: string): string => {
  const { content: _content, ...rest }: StatusBody = JSON.parse(`${body}}`)
  const blank: StatusBody = {
    ...rest,
    content: "",
    spoiler_text: "",
    mentions: [],
    tags: [],
    emojis: [],
    media_attachments: [],
    card: null,
    poll: null
  }
  return JSON.stringify(blank).slice(0, -1)
}

/** A status as the answer to its deletion. */
export const forRedraft = (status: string, text: string): string => {
  const { content: _content, ...rest }: Status = JSON.parse(status)
  return JSON.stringify({ ...rest, text } satisfies DeletedStatus)
}
