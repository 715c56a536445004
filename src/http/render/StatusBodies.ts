import { withoutInlineQuote } from "../../services/html/InlineQuote.ts"
import type { Emoji } from "../../services/instance/Emoji.ts"
import { type EmojiSource, textNodes } from "../../services/instance/ForeignEmojis.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { policyOf } from "../../services/statuses/InteractionPolicy.ts"
import type { MentionRecord, StatusRecord } from "../../services/statuses/Statuses.ts"
import type { StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import { textsOf, written } from "../../services/statuses/Written.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type { Account } from "../wire/Account.ts"
import { id, idOrNull, timestamp, timestampOrNull } from "../wire/Common.ts"
import type { FilterResult } from "../wire/Filter.ts"
import { json, type JsonOf, list, none, type Values } from "../wire/Keys.ts"
import type { InteractionPolicy } from "../wire/PolicyRules.ts"
import type { Quote, ShallowQuote, Status, StatusBody, StatusReaction } from "../wire/Status.ts"
import { noFigures, openBody, openPoll } from "../wire/StatusJson.ts"
import { emojiValues } from "./AccountValues.ts"
import { composeCard, creatorOf, prepareCard, type PreparedCard } from "./CardValues.ts"
import type { CollectionTexts } from "./CollectionViews.ts"
import type { ComposedStatuses } from "./ComposedStatuses.ts"
import { mediaValues } from "./MediaValues.ts"
import { isControlled, policyValues } from "./PolicyValues.ts"
import { pollValues } from "./PollValues.ts"
import { approvalOf, type PreparedQuote, prepareQuote } from "./QuoteValues.ts"

/** A status as it is cached: its key, its body as open JSON, and its application's JSON. */
export interface PreparedStatus {
  readonly key: StatusKey
  readonly body: string
  /** The status's poll, from `openPoll`. */
  readonly poll: string | undefined
  readonly card: PreparedCard | undefined
  readonly quote: PreparedQuote | undefined
  /** Collections of accounts that the post links to. */
  readonly collections: ReadonlyArray<bigint>
  /** The status's quote policy, from `openApproval`. */
  readonly approval: string
  readonly application: JsonOf<NonNullable<Status["application"]>> | undefined
  /** True if viewers other than the author may see the application. */
  readonly showApplication: boolean
}

/**
 * Maximum bytes of a status in JSON, without its accounts and its reblogged status: its texts (`statusBytesMax`) and
 * URLs.
 */
const bodyBytesMax = 98_304

/** Returns the body, unless it is larger than any legitimate one; such a row is left out of the page. */
const measured = (body: string): string => {
  // A character takes three bytes at most.
  if (body.length * 3 > bodyBytesMax && Buffer.byteLength(body) > bodyBytesMax) {
    throw new RangeError(`The status takes more than ${bodyBytesMax} bytes`)
  }
  return body
}

/** Returns the size in memory: two bytes per character, and the object itself. */
export const bytesOf = ({ application, body, card, poll }: PreparedStatus): number =>
  (body.length + (application?.length ?? 0) + (poll?.length ?? 0) + (card?.body?.length ?? 0)) * 2 + 512

/** Builds the cached form of a record at `now` (milliseconds since 1970); `original` is the reblogged record. */
export const prepare = (
  config: ServerConfig["Service"],
  record: StatusRecord,
  original: StatusRecord | undefined,
  named: (source: EmojiSource) => ReadonlyArray<Emoji>,
  now: number
): PreparedStatus => ({
  key: keyOf(record, original === undefined ? undefined : keyOf(original, undefined)),
  body: measured(openBody(bodyValues(config, record, named(sourceOf(record))))),
  poll: record.poll === null
    ? undefined
    : openPoll(pollValues(record.id, record.poll, named({ ...sourceOf(record), texts: record.poll.options }), now)),
  card: record.card === null ? undefined : prepareCard(config, record.card),
  quote: prepareQuote(record.quote),
  collections: record.collections.map(({ id }) => BigInt(id)),
  approval: approvalOf(original ?? record),
  application: record.applicationName === null
    ? undefined
    : json<NonNullable<Status["application"]>>({ name: record.applicationName, website: record.applicationWebsite }),
  showApplication: record.local && record.showApplication
})

/** Returns the texts of a record that may contain emoji, its poll's options included. */
export const sourceOf = (record: StatusRecord): EmojiSource => ({
  uri: record.uri,
  local: record.local,
  texts: [textNodes(record.html), ...textsOf(record), ...record.poll?.options ?? []]
})

/** Returns the key of a record; `original` is that of the reblogged one. */
export const keyOf = (record: StatusRecord, original: StatusKey | undefined): StatusKey => ({
  id: record.id,
  accountId: record.accountId,
  visibility: record.visibility,
  conversationId: record.conversationId,
  local: record.local,
  localOnly: record.localOnly,
  poll: record.poll !== null,
  ...(isControlled(record.interactionPolicy) && { control: record.interactionPolicy }),
  quoting: policyOf(record, "canQuote"),
  original
})

const bodyValues = (
  config: ServerConfig["Service"],
  record: StatusRecord,
  emojis: ReadonlyArray<Emoji>
): Values<StatusBody> => {
  const note = Urls.note(config, record.actorPath, record.id)
  const activity = `${note}/activity`
  const reblog = record.reblogOfId !== null
  return {
    id: id(record.id),
    createdAt: timestamp(record.createdAt),
    inReplyToId: idOrNull(record.inReplyToId),
    inReplyToAccountId: idOrNull(record.inReplyToAccountId),
    ...written(record),
    visibility: record.limited ? "private" : record.visibility,
    ...(record.localOnly && { localOnly: true as const }),
    uri: record.uri ?? (reblog ? activity : note),
    url: record.url ?? (record.local ? (reblog ? activity : Urls.status(config, record.username, record.id)) : null),
    editedAt: timestampOrNull(record.editedAt),
    // If the quote is shown, the text needs no link to it.
    content: record.quote?.state === "accepted" ? withoutInlineQuote(record.html) : record.html,
    mediaAttachments: record.media.map((media) => mediaValues(config, media)),
    mentions: record.mentions.map((mention) => mentionValues(config, mention)),
    tags: record.tags.map((name) => ({ name, url: Urls.tag(config, name) })),
    emojis: emojis.map(emojiValues)
  }
}

const mentionValues = (config: ServerConfig["Service"], mention: MentionRecord) => ({
  id: mention.id,
  username: mention.username,
  url: mention.url ?? Urls.profile(config, mention.username),
  acct: Urls.acct(mention)
})

/** Parts from which a viewer's statuses are composed. */
export interface StatusParts {
  readonly viewer: Viewer
  readonly bodies: ReadonlyMap<bigint, PreparedStatus>
  readonly accounts: ReadonlyMap<bigint, JsonOf<Account>>
  /** Renders the quote of a status. */
  readonly quote: (key: StatusKey) => JsonOf<Quote> | JsonOf<ShallowQuote> | JsonOf<null>
  /** Assembles the parts of a status. */
  readonly assemble: ComposedStatuses["compose"]
  /** Linked collections that the viewer may see. */
  readonly collections: CollectionTexts
}

/** Composes a status for a viewer who may see it; undefined if a part is missing. */
export const compose = (
  parts: StatusParts,
  key: StatusKey,
  state: ViewerState,
  filtered: JsonOf<ReadonlyArray<FilterResult>>
): JsonOf<Status> | undefined => {
  const { accounts, bodies, collections, viewer } = parts
  const status = bodies.get(key.id)
  const account = accounts.get(key.accountId)
  const reblog = key.original === undefined
    ? none
    : compose(parts, key.original, state, filtered)
  if (status === undefined || account === undefined || reblog === undefined) return undefined
  const own = viewer === key.accountId
  return parts.assemble(key.id, {
    body: status.body,
    account,
    reblog,
    application: own || status.showApplication ? status.application ?? none : undefined,
    poll: status.poll,
    card: composeCard(viewer, status.card, accounts),
    quote: parts.quote(key),
    collections: list(status.collections.flatMap((one) => collections.get(one) ?? [])),
    approval: status.approval,
    quoting: state.quoting,
    figures: key.original === undefined ? state : noFigures,
    reactions: key.original === undefined && state.reactions.length > 0
      ? list(state.reactions.map((reaction) => json<StatusReaction>(reaction)))
      : undefined,
    marks: viewer === undefined ? undefined : state,
    pinnable: own && key.original === undefined && key.visibility !== "direct",
    asks: own,
    filtered,
    policy: status.key.control === undefined
      ? undefined
      : json<InteractionPolicy>(policyValues(status.key.control, state.may))
  })
}

/** Returns true if any card credits an account, which few do; cheaper than looking up each status. */
const hasCreators = (bodies: ReadonlyMap<bigint, PreparedStatus>): boolean => {
  for (const { card } of bodies.values()) if (card?.creatorId !== undefined) return true
  return false
}

/** Returns the accounts that statuses show: their authors, those of reblogged statuses, and those of linked pages. */
export const authorsOf = (
  keys: Iterable<StatusKey>,
  bodies: ReadonlyMap<bigint, PreparedStatus>
): ReadonlySet<bigint> => {
  const authors = new Set<bigint>()
  const credits = hasCreators(bodies)
  for (const key of keys) {
    authors.add(key.accountId)
    if (key.original !== undefined) authors.add(key.original.accountId)
    const creator = credits ? creatorOf(bodies.get((key.original ?? key).id)?.card) : undefined
    if (creator !== undefined) authors.add(creator)
  }
  return authors
}

/** Returns the key that is queried in place of a missing status. */
export const missingKey = (id: bigint): StatusKey => ({
  id,
  accountId: 0n,
  visibility: "direct",
  conversationId: id,
  local: true,
  localOnly: false,
  poll: false,
  quoting: { automatic: [], manual: [] },
  original: undefined
})
