import { Record, Struct } from "effect"
import { momentOf } from "../../services/runtime/Moments.ts"
import type { ViewerState } from "../../services/statuses/ViewerState.ts"
import type { Account } from "./Account.ts"
import type { Collection } from "./Collection.ts"
import type { FilterResult } from "./Filter.ts"
import { asJsonOf, encode, json, type JsonOf, type JsonOfAny, none, type Values } from "./Keys.ts"
import type { InteractionPolicy } from "./PolicyRules.ts"
import type { Poll } from "./Poll.ts"
import type { PreviewCard } from "./PreviewCard.ts"
import {
  type DeletedStatus,
  facts,
  type Quote,
  type QuoteApproval,
  type ShallowQuote,
  type Status,
  type StatusBody,
  type StatusReaction,
  texts
} from "./Status.ts"

/*
 * JSON of a status, assembled from serialised parts: the body, which is the same for all viewers, the account, the
 * counters and the viewer's marks. A test decodes it with the schema of `Status`.
 */

/** Serialises a body without its closing brace. */
export const openBody = (body: Values<StatusBody>): string => json<StatusBody>(body).slice(0, -1)

/** Serialises a poll without viewer-specific fields and without its closing brace. */
export const openPoll = (poll: Values<Poll>): string => json<Poll>(poll).slice(0, -1)

/** Fields of a card that do not depend on the viewer or on the credited account. */
type CardBody = Omit<PreviewCard, "authors" | "missing_attribution">

/** Serialises a card without its authors and without its closing brace. */
export const openCard = (card: Values<CardBody>): string => json<CardBody>(card).slice(0, -1)

/** Assembles a card; `account` is the account of its author, if it names one. */
export const assembleCard = (
  body: string,
  author: Values<Pick<PreviewCard["authors"][number], "name" | "url">> | undefined,
  account: JsonOf<Account> | JsonOf<null>,
  missingAttribution: boolean | undefined
): JsonOf<PreviewCard> =>
  asJsonOf(
    `${body},"authors":[${
      author === undefined ? "" : `${JSON.stringify(author).slice(0, -1)},"account":${account}}`
    }]` + (missingAttribution === undefined ? "}" : `,"missing_attribution":${missingAttribution}}`)
  )

/** Serialises a quote policy without its viewer-specific field and its closing brace. Few of these differ. */
export const openApproval = (approval: Omit<Values<QuoteApproval>, "currentUser">): string =>
  json<Omit<QuoteApproval, "current_user">>(approval).slice(0, -1)

/** Assembles a quote from a serialised status. */
export const assembleQuote = (state: Quote["state"], status: JsonOf<Status> | JsonOf<null>): JsonOf<Quote> =>
  asJsonOf(`{"state":"${state}","quoted_status":${status}}`)

/** Counters of a reblog, which are always zero; its marks are those of the original. */
export const noFigures = { repliesCount: 0, reblogsCount: 0, favouritesCount: 0, quotesCount: 0 }

/** Parts of a status's JSON. */
export interface StatusParts {
  /** Body from `openBody`. */
  readonly body: string
  readonly reactions: JsonOf<ReadonlyArray<StatusReaction>> | undefined
  readonly account: JsonOf<Account>
  readonly reblog: JsonOf<Status> | JsonOf<null>
  /** Absent if the viewer may not see it. */
  readonly application: JsonOfAny<NonNullable<Status["application"]> | null> | undefined
  /** Poll from `openPoll`; absent without a poll. */
  readonly poll: string | undefined
  /** Absent if there is nothing to show. */
  readonly card: JsonOf<PreviewCard> | undefined
  readonly quote: JsonOf<Quote> | JsonOf<ShallowQuote> | JsonOf<null>
  /** Collections that the post links to. */
  readonly collections: JsonOf<ReadonlyArray<Collection>>
  /** Quote policy from `openApproval`. */
  readonly approval: string
  readonly quoting: QuoteApproval["current_user"]
  readonly figures: typeof noFigures
  /** Absent for callers without a user. */
  readonly marks: ViewerState | undefined
  /** True for a status that the viewer could pin. */
  readonly pinnable: boolean
  /** True if the viewer is the poll's author, and so cannot vote. */
  readonly asks: boolean
  /** Absent if nothing is restricted. */
  readonly policy: JsonOf<InteractionPolicy> | undefined
  /** The viewer's filters that match. */
  readonly filtered: JsonOf<ReadonlyArray<FilterResult>>
}

export const assemble = (
  {
    account,
    application,
    approval,
    asks,
    body,
    card,
    collections,
    figures,
    filtered,
    marks,
    pinnable,
    policy,
    poll,
    quote,
    quoting,
    reactions,
    reblog
  }: StatusParts
): JsonOf<Status> =>
  asJsonOf(
    `${body},"replies_count":${figures.repliesCount},"reblogs_count":${figures.reblogsCount}` +
      `,"favourites_count":${figures.favouritesCount},"quotes_count":${figures.quotesCount},"quote":${quote}` +
      `,"quote_approval":${approval},"current_user":"${quoting}"},"account":${account},"reblog":${reblog}` +
      `,"card":${card ?? none},"tagged_collections":${collections},"poll":` +
      (poll === undefined
        ? "null"
        : marks === undefined
        ? `${poll}}`
        : `${poll},"voted":${asks || marks.votes.length > 0},"own_votes":[${marks.votes.join(",")}]}`) +
      (application === undefined ? "" : `,"application":${application}`) +
      (policy === undefined ? "" : `,"interaction_policy":${policy}`) +
      (reactions === undefined ? "" : `,"emoji_reactions":${reactions},"pleroma":{"emoji_reactions":${reactions}}`) +
      (marks === undefined
        ? "}"
        : `,"favourited":${marks.favourited},"reblogged":${marks.reblogged},"muted":${marks.muted}` +
          `,"bookmarked":${marks.bookmarked}${pinnable ? `,"pinned":${marks.pinned}` : ""},"filtered":${filtered}}`)
  )

/** Returns the time of a status's last edit, in milliseconds since 1970; undefined if it was not edited. */
export const editedAtOf = (status: string): number | undefined => {
  const { edited_at: editedAt }: Status = JSON.parse(status)
  return momentOf(editedAt)
}

/** Returns the readable texts of a status, from `openBody` and `openPoll`; the content as HTML. */
export const textsOf = (body: string, poll: string | undefined) => {
  const statusBody: StatusBody = JSON.parse(`${body}}`)
  const asked: Poll | undefined = poll === undefined ? undefined : JSON.parse(`${poll}}`)
  return {
    html: statusBody.content,
    plain: [
      ...Struct.keys(texts).map((name) => statusBody[name]),
      ...asked?.options.map(({ title }) => title) ?? [],
      ...statusBody.media_attachments.flatMap(({ description }) => description ?? [])
    ]
  }
}

/** Fields that are kept when a status is redacted; all others are blanked. */
const keptFields = [
  "id",
  "created_at",
  "in_reply_to_id",
  "in_reply_to_account_id",
  ...Struct.keys(facts),
  "visibility",
  "local_only",
  "uri",
  "url",
  "edited_at"
] as const

/** Redacts the body of a status that its viewer may no longer read. */
export const withoutText = (body: string): string => {
  const statusBody: StatusBody = JSON.parse(`${body}}`)
  const blank: StatusBody = {
    ...Struct.pick(statusBody, keptFields),
    ...Record.map(texts, () => ""),
    content: "",
    mentions: [],
    tags: [],
    emojis: [],
    media_attachments: []
  }
  return JSON.stringify(blank).slice(0, -1)
}

/** Returns the quote in a serialised status; undefined without one. */
export const quoteOf = (status: string): Quote | undefined => {
  const { quote }: Status = JSON.parse(status)
  return quote ?? undefined
}

/**
 * Renders the response to a deletion. `repeated` is the source text of the reblogged status, `quoted` the quoted
 * status, accepted or not. Remote statuses have only HTML, no source text.
 */
export const forRedraft = (
  status: string,
  { contentType, text }: { readonly text: string; readonly contentType: string },
  repeated: string,
  quoted: string | undefined
): JsonOf<DeletedStatus> => {
  const { content: _content, quote, reblog, ...rest }: Status = JSON.parse(status)
  const shown = reblog === null ? null : { ...reblog, text: repeated || reblog.content }
  const quotedStatus: Status | undefined = quoted === undefined ? undefined : JSON.parse(quoted)
  return encode<DeletedStatus>({
    ...rest,
    quote: quote && quotedStatus
      ? { ...quote, quoted_status: { ...quotedStatus, reblog: null, quote: quote.quoted_status?.quote ?? null } }
      : quote,
    reblog: shown,
    text,
    ...(contentType === "text/plain" ? undefined : { content_type: contentType })
  })
}
