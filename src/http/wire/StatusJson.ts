import { Record, Struct } from "effect"
import { momentOf } from "../../services/Moments.ts"
import type { ViewerState } from "../../services/statuses/ViewerState.ts"
import type { Account } from "./Account.ts"
import type { Collection } from "./Collection.ts"
import type { FilterResult } from "./Filter.ts"
import { encode, json, none, type Ready, ready, type ReadyAs, type Values } from "./Keys.ts"
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
 * A status' JSON put together from parts that are ready: the body, which is the same for everybody, the account, the
 * counters and the viewer's marks. A test decodes it with the schema of `Status`.
 */

/** The JSON of a body, left open at its end. */
export const openBody = (body: Values<StatusBody>): string => json<StatusBody>(body).slice(0, -1)

/** The JSON of a poll for nobody in particular, left open at its end. */
export const openPoll = (poll: Values<Poll>): string => json<Poll>(poll).slice(0, -1)

/** What changes with the viewer and with the account that a card names. */
type CardBody = Omit<PreviewCard, "authors" | "missing_attribution">

/** The JSON of a card without its authors, left open at its end. */
export const openCard = (card: Values<CardBody>): string => json<CardBody>(card).slice(0, -1)

/** A card whose author, where it has one, is `account` as clients see it. */
export const assembleCard = (
  body: string,
  author: Values<Pick<PreviewCard["authors"][number], "name" | "url">> | undefined,
  account: Ready<Account> | Ready<null>,
  missingAttribution: boolean | undefined
): Ready<PreviewCard> =>
  ready(
    `${body},"authors":[${
      author === undefined ? "" : `${JSON.stringify(author).slice(0, -1)},"account":${account}}`
    }]` + (missingAttribution === undefined ? "}" : `,"missing_attribution":${missingAttribution}}`)
  )

/** Who may quote a status, left open for what it says to its reader. Few of these differ from one another. */
export const openApproval = (approval: Omit<Values<QuoteApproval>, "currentUser">): string =>
  json<Omit<QuoteApproval, "current_user">>(approval).slice(0, -1)

/** A quote whose status is ready. */
export const assembleQuote = (state: Quote["state"], status: Ready<Status> | Ready<null>): Ready<Quote> =>
  ready(`{"state":"${state}","quoted_status":${status}}`)

/** A reblog stands with counters of its own, which nobody sees, and with the marks of what it repeats. */
export const noFigures = { repliesCount: 0, reblogsCount: 0, favouritesCount: 0, quotesCount: 0 }

interface StatusParts {
  /** From `openBody`. */
  readonly body: string
  readonly reactions: Ready<ReadonlyArray<StatusReaction>> | undefined
  readonly account: Ready<Account>
  readonly reblog: Ready<Status> | Ready<null>
  /** Absent where the viewer does not see it. */
  readonly application: ReadyAs<NonNullable<Status["application"]> | null> | undefined
  /** From `openPoll`; absent where there is no poll. */
  readonly poll: string | undefined
  /** Absent where there is none to show. */
  readonly card: Ready<PreviewCard> | undefined
  readonly quote: Ready<Quote> | Ready<ShallowQuote> | Ready<null>
  /** Those that it links to. */
  readonly collections: Ready<ReadonlyArray<Collection>>
  /** From `openApproval`. */
  readonly approval: string
  readonly quoting: QuoteApproval["current_user"]
  readonly figures: typeof noFigures
  /** Absent for callers without a user. */
  readonly marks: ViewerState | undefined
  /** The viewer's own status, which it could pin. */
  readonly pinnable: boolean
  /** The viewer asks what the poll asks, and so has no vote. */
  readonly asks: boolean
  /** Absent where everybody may do all. */
  readonly policy: Ready<InteractionPolicy> | undefined
  /** The viewer's filters that it matches. */
  readonly filtered: Ready<ReadonlyArray<FilterResult>>
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
): Ready<Status> =>
  ready(
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

/** When a status was edited, in milliseconds since 1970; undefined for one that was not. */
export const editedAtOf = (status: string): number | undefined => {
  const { edited_at: editedAt }: Status = JSON.parse(status)
  return momentOf(editedAt)
}

/** What people read of a status, from `openBody` and `openPoll`; the content as HTML. */
export const textsOf = (body: string, poll: string | undefined) => {
  const said: StatusBody = JSON.parse(`${body}}`)
  const asked: Poll | undefined = poll === undefined ? undefined : JSON.parse(`${poll}}`)
  return {
    html: said.content,
    plain: [
      ...Struct.keys(texts).map((name) => said[name]),
      ...asked?.options.map(({ title }) => title) ?? [],
      ...said.media_attachments.flatMap(({ description }) => description ?? [])
    ]
  }
}

/** What is no part of what somebody said: all else of a body is blank where its reader may not read it. */
const unsaid = [
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

/** The body of a status that its reader may not read any more. */
export const withoutText = (body: string): string => {
  const said: StatusBody = JSON.parse(`${body}}`)
  const blank: StatusBody = {
    ...Struct.pick(said, unsaid),
    ...Record.map(texts, () => ""),
    content: "",
    mentions: [],
    tags: [],
    emojis: [],
    media_attachments: []
  }
  return JSON.stringify(blank).slice(0, -1)
}

/** What a status quotes, as its reader was just given it; undefined where it quotes nothing. */
export const quoteOf = (status: string): Quote | undefined => {
  const { quote }: Status = JSON.parse(status)
  return quote ?? undefined
}

/**
 * A status as the answer to its deletion; `repeated` is the text of what it reblogs, `quoted` what it quotes, whether that
 * is agreed to or not. Of what was written elsewhere the HTML is all that there is.
 */
export const forRedraft = (
  status: string,
  { contentType, text }: { readonly text: string; readonly contentType: string },
  repeated: string,
  quoted: string | undefined
): Ready<DeletedStatus> => {
  const { content: _content, quote, reblog, ...rest }: Status = JSON.parse(status)
  const shown = reblog === null ? null : { ...reblog, text: repeated || reblog.content }
  const whole: Status | undefined = quoted === undefined ? undefined : JSON.parse(quoted)
  return encode<DeletedStatus>({
    ...rest,
    quote: quote && whole
      ? { ...quote, quoted_status: { ...whole, reblog: null, quote: quote.quoted_status?.quote ?? null } }
      : quote,
    reblog: shown,
    text,
    ...(contentType === "text/plain" ? undefined : { content_type: contentType })
  })
}
