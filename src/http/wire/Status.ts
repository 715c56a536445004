import { Schema, Struct } from "effect"
import { Visibility } from "../../services/statuses/Visibility.ts"
import type { WrittenFacts, WrittenTexts } from "../../services/statuses/Written.ts"
import { Account } from "./Account.ts"
import { Collection } from "./Collection.ts"
import { Count, Html, Id, Timestamp, Url } from "./Common.ts"
import { CustomEmoji } from "./CustomEmoji.ts"
import { FilterResult } from "./Filter.ts"
import type { WireKey } from "./Keys.ts"
import { MediaAttachment } from "./MediaAttachment.ts"
import { InteractionPolicy } from "./PolicyRules.ts"
import { Poll } from "./Poll.ts"
import { PreviewCard } from "./PreviewCard.ts"
import { ShallowTag } from "./Tag.ts"

export const Mention = Schema.Struct({ id: Id, username: Schema.String, url: Url, acct: Schema.String })
  .annotate({ identifier: "Mention" })

const StatusApplication = Schema.Struct({ name: Schema.String, website: Schema.NullOr(Url) })

const Audiences = Schema.Array(Schema.Literals(["public", "followers", "following", "unsupported_policy"]))

/** Accounts that may quote a status. */
export const QuoteApproval = Schema.Struct({
  automatic: Audiences,
  manual: Audiences,
  current_user: Schema.Literals(["automatic", "manual", "denied", "unknown"])
}).annotate({ identifier: "QuoteApproval" })
export type QuoteApproval = typeof QuoteApproval.Type

const QuoteState = Schema.Literals([
  "pending",
  "accepted",
  "rejected",
  "revoked",
  "deleted",
  "unauthorized",
  "blocked_account",
  "blocked_domain",
  "muted_account"
])

/** Quote inside a quoted status. */
export const ShallowQuote = Schema.Struct({ state: QuoteState, quoted_status_id: Schema.NullOr(Id) })
  .annotate({ identifier: "ShallowQuote" })
export type ShallowQuote = typeof ShallowQuote.Type

/** The author's texts besides the content; blank for viewers who may not read them. */
export const texts = {
  spoiler_text: Schema.String
} satisfies { readonly [Field in keyof WrittenTexts as WireKey<Field>]: typeof Schema.String }
/** Other fields that the author sets. */
export const facts = {
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String)
} satisfies { readonly [Field in keyof WrittenFacts as WireKey<Field>]: Schema.Constraint }
export const written = { ...texts, ...facts }

/** The part of a status that is the same for all viewers and changes only with an edit. */
export const StatusBody = Schema.Struct({
  id: Id,
  created_at: Timestamp,
  in_reply_to_id: Schema.NullOr(Id),
  in_reply_to_account_id: Schema.NullOr(Id),
  ...written,
  visibility: Visibility,
  /** Beyond Mastodon: true if it is local-only, otherwise absent. */
  local_only: Schema.optionalKey(Schema.Literal(true)),
  uri: Schema.String,
  url: Schema.NullOr(Url),
  edited_at: Schema.NullOr(Timestamp),
  content: Html,
  media_attachments: Schema.Array(MediaAttachment),
  mentions: Schema.Array(Mention),
  tags: Schema.Array(ShallowTag),
  emojis: Schema.Array(CustomEmoji)
})
export type StatusBody = typeof StatusBody.Type

/** Beyond Mastodon: an emoji reaction to a status; `name@domain` is an emoji of another server. */
export const StatusReaction = Schema.Struct({
  name: Schema.String,
  count: Count,
  me: Schema.Boolean,
  url: Schema.NullOr(Url),
  static_url: Schema.NullOr(Url)
}).annotate({ identifier: "StatusReaction" })
export type StatusReaction = typeof StatusReaction.Type

/** A reaction with some of its accounts, the earliest first. */
export const StatusReactionAccounts = Schema.Struct({ ...StatusReaction.fields, accounts: Schema.Array(Account) })
  .annotate({ identifier: "StatusReactionAccounts" })
export type StatusReactionAccounts = typeof StatusReactionAccounts.Type

/** Reactions, in both places where clients look for them; absent if there are no reactions. */
const reactions = {
  emoji_reactions: Schema.optionalKey(Schema.Array(StatusReaction)),
  pleroma: Schema.optionalKey(Schema.Struct({ emoji_reactions: Schema.Array(StatusReaction) }))
}

/** Fields that change with every interaction. */
const figures = {
  replies_count: Count,
  reblogs_count: Count,
  favourites_count: Count,
  quotes_count: Count,
  quote_approval: QuoteApproval,
  poll: Schema.NullOr(Poll),
  card: Schema.NullOr(PreviewCard)
}

/** Fields for a user's token only. `pinned` is present on own posts that can be pinned. */
const marks = {
  favourited: Schema.optionalKey(Schema.Boolean),
  reblogged: Schema.optionalKey(Schema.Boolean),
  muted: Schema.optionalKey(Schema.Boolean),
  bookmarked: Schema.optionalKey(Schema.Boolean),
  pinned: Schema.optionalKey(Schema.Boolean),
  filtered: Schema.optionalKey(Schema.Array(FilterResult))
}

const flat = {
  ...StatusBody.fields,
  ...figures,
  ...reactions,
  ...marks,
  account: Account,
  tagged_collections: Schema.Array(Collection),
  application: Schema.optionalKey(Schema.NullOr(StatusApplication)),
  /** Beyond Mastodon: who may reply to it, favourite and reblog it; absent if everyone may. */
  interaction_policy: Schema.optionalKey(InteractionPolicy)
}

/** A quoted status; a quote inside it is only named. */
const QuotedStatus = Schema.Struct({ ...flat, quote: Schema.NullOr(ShallowQuote), reblog: Schema.Null })
  .annotate({ identifier: "QuotedStatus" })

/** Quote of a status, with the quoted status if it is accepted and the reader may see it. */
export const Quote = Schema.Struct({ state: QuoteState, quoted_status: Schema.NullOr(QuotedStatus) })
  .annotate({ identifier: "Quote" })
export type Quote = typeof Quote.Type

const statusFields = { ...flat, quote: Schema.NullOr(Quote) }

/** A reblogged status; it is not a reblog itself. */
const Original = Schema.Struct({ ...statusFields, reblog: Schema.Null }).annotate({ identifier: "OriginalStatus" })

export const Status = Schema.Struct({ ...statusFields, reblog: Schema.NullOr(Original) }).annotate({
  identifier: "Status"
})
export type Status = typeof Status.Type

const { content: _content, ...withoutContent } = Status.fields
/** Response to a deletion: the source text, so that a client can offer it for a redraft, and no HTML. */
export const DeletedStatus = Schema.Struct({
  ...withoutContent,
  text: Schema.String,
  /** Beyond Mastodon: markup of the text, unless it is plain. */
  content_type: Schema.optionalKey(Schema.String),
  reblog: Schema.NullOr(Schema.Struct({ ...Original.fields, text: Schema.String }))
})
  .annotate({ identifier: "DeletedStatus" })
export type DeletedStatus = typeof DeletedStatus.Type

export const StatusEdit = Schema.Struct({
  account: Account,
  content: Html,
  ...Struct.omit(written, ["language"]),
  created_at: Timestamp,
  media_attachments: Schema.Array(MediaAttachment),
  emojis: Schema.Array(CustomEmoji),
  /** The status's quote, if it has one. */
  quote: Schema.optionalKey(Quote),
  /** The status's poll, if it has one. */
  poll: Schema.optionalKey(Schema.Struct({ options: Schema.Array(Schema.Struct({ title: Schema.String })) }))
}).annotate({ identifier: "StatusEdit" })
export type StatusEdit = typeof StatusEdit.Type

export const StatusSource = Schema.Struct({
  id: Id,
  text: Schema.String,
  ...texts,
  /** Beyond Mastodon: markup of the text, unless it is plain. */
  content_type: Schema.optionalKey(Schema.String)
})
  .annotate({ identifier: "StatusSource" })
export type StatusSource = typeof StatusSource.Type

/** Ancestors are oldest first, descendants depth first. */
export const Context = Schema.Struct({ ancestors: Schema.Array(Status), descendants: Schema.Array(Status) })
  .annotate({ identifier: "Context" })
export type Context = typeof Context.Type
