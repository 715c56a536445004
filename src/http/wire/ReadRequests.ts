import { Schema } from "effect"
import { AccountIdFromString, IdFromString, StatusIdFromString } from "../../services/database/Ids.ts"
import { Cursor, IdInBody, pageFields, pageKeys } from "./PageQuery.ts"
import { Flag, hash, Integer, list, Text } from "./Params.ts"

/*
 * Queries of reading requests.
 */

const flag = Schema.optionalKey(Flag)
// A query has strings only. A type that also accepts numbers would parse `007` and ids beyond 2^53 as numbers.
const text = Schema.optionalKey(Schema.String)
const texts = Schema.optionalKey(list(Schema.String))

/** Ids as clients list them; invalid ones match nothing. */
export const Ids = Schema.Struct({ id: texts })

export const IdPath = { id: IdFromString }
export const GroupKeyPath = { groupKey: Schema.String }
export const ListIdPath = { listId: IdFromString }
export const AccountIdPath = { id: AccountIdFromString }
export const StatusIdPath = { id: StatusIdFromString }
export const ReplyPath = { ...StatusIdPath, replyId: StatusIdFromString }
export const QuotePath = { ...StatusIdPath, quotingId: StatusIdFromString }

/** `GET /api/v1/accounts/:id/statuses` */
export const AccountStatusesQuery = Schema.Struct({
  ...pageFields,
  onlyMedia: flag,
  excludeReplies: flag,
  excludeReblogs: flag,
  excludeDirect: flag,
  pinned: flag,
  tagged: text
}).pipe(Schema.encodeKeys({
  ...pageKeys,
  onlyMedia: "only_media",
  excludeReplies: "exclude_replies",
  excludeReblogs: "exclude_reblogs",
  excludeDirect: "exclude_direct"
}))

/** Parameters that links to further pages keep. */
export const accountStatusesFilters = [
  "only_media",
  "exclude_replies",
  "exclude_reblogs",
  "exclude_direct",
  "tagged"
]

/** `GET /api/v1/accounts/lookup` */
export const LookupQuery = Schema.Struct({ acct: text })

/** `GET /api/v1/accounts/search` */
export const AccountSearchQuery = Schema.Struct({
  q: text,
  limit: Schema.optionalKey(Integer),
  offset: Schema.optionalKey(Integer),
  resolve: flag,
  following: flag
})

/** `GET /api/v1/accounts/relationships` */
export const RelationshipsQuery = Schema.Struct({ ...Ids.fields, withSuspended: flag }).pipe(
  Schema.encodeKeys({ withSuspended: "with_suspended" })
)

/** `POST /api/v1/accounts/:id/note` */
export const NewNote = Schema.Struct({ comment: Schema.optionalKey(Schema.NullOr(Text)) })

const publicFields = { ...pageFields, local: flag, remote: flag, onlyMedia: flag }
const publicKeys = { ...pageKeys, onlyMedia: "only_media" } as const

/** `GET /api/v1/timelines/public` */
export const PublicQuery = Schema.Struct(publicFields).pipe(Schema.encodeKeys(publicKeys))

/** Parameters of `GET /api/v1/timelines/home` beyond Mastodon's, which the instance document lists. */
export const homeExtensions = ["exclude_replies", "exclude_reblogs"] as const

/** `GET /api/v1/timelines/home`; `local` is only kept in links. */
export const HomeQuery = Schema.Struct({ ...pageFields, local: flag, excludeReplies: flag, excludeReblogs: flag }).pipe(
  Schema.encodeKeys({ ...pageKeys, excludeReplies: homeExtensions[0], excludeReblogs: homeExtensions[1] })
)

/** `GET /api/v1/timelines/catchup`; `since` is a date, or seconds since 1970. */
export const CatchupQuery = Schema.Struct({
  since: text,
  limit: Schema.optionalKey(Integer),
  offset: Schema.optionalKey(Integer)
})

/** `GET /api/v1/timelines/tag/:hashtag` */
export const TagQuery = Schema.Struct({ ...publicFields, any: texts, all: texts, none: texts }).pipe(
  Schema.encodeKeys(publicKeys)
)

export const publicFilters = ["local", "remote", "only_media"]
export const tagFilters = [...publicFilters, "any", "all", "none"]
export const homeFilters = ["local", ...homeExtensions]
export const linkFilters = ["url"]

const notificationFields = {
  types: texts,
  /** Earlier name of `types`, from Pleroma. */
  includeTypes: texts,
  excludeTypes: texts,
  accountId: text,
  includeFiltered: flag,
  supportedTypes: texts
}
const notificationKeys = {
  includeTypes: "include_types",
  excludeTypes: "exclude_types",
  accountId: "account_id",
  includeFiltered: "include_filtered",
  supportedTypes: "supported_types"
} as const

/** `GET /api/v1/notifications` */
export const NotificationsQuery = Schema.Struct({ ...pageFields, ...notificationFields }).pipe(
  Schema.encodeKeys({ ...pageKeys, ...notificationKeys })
)

export const notificationFilters = [
  "types",
  "include_types",
  "exclude_types",
  "account_id",
  "include_filtered",
  "supported_types"
]
export const groupFilters = [...notificationFilters, "grouped_types", "expand_accounts"]

/** `GET /api/v1/notifications/:id` */
export const NotificationQuery = Schema.Struct({ supportedTypes: texts }).pipe(
  Schema.encodeKeys({ supportedTypes: "supported_types" })
)

/** `GET /api/v1/notifications/unread_count`, and its counterpart for groups. */
export const UnreadQuery = Schema.Struct({
  ...notificationFields,
  limit: Schema.optionalKey(Integer),
  groupedTypes: texts
}).pipe(Schema.encodeKeys({ ...notificationKeys, groupedTypes: "grouped_types" }))

/** Path of an emoji among a status's reactions. */
export const ReactionPath = { ...StatusIdPath, emoji: Schema.String }

/** `GET /api/v2/notifications` */
export const GroupsQuery = Schema.Struct({
  ...pageFields,
  ...notificationFields,
  groupedTypes: texts,
  expandAccounts: text
}).pipe(Schema.encodeKeys({
  ...pageKeys,
  ...notificationKeys,
  groupedTypes: "grouped_types",
  expandAccounts: "expand_accounts"
}))

/** `GET /api/v1/markers` */
export const MarkersQuery = Schema.Struct({ timeline: texts })

const Position = Schema.Struct({ lastReadId: Schema.optionalKey(IdInBody) }).pipe(
  Schema.encodeKeys({ lastReadId: "last_read_id" })
)
/** `POST /api/v1/markers` */
export const NewMarkers = Schema.Struct({
  home: Schema.optionalKey(hash(Position)),
  notifications: Schema.optionalKey(hash(Position))
})

/** `GET /api/v2/search` */
export const SearchQuery = Schema.Struct({
  q: text,
  type: text,
  limit: Schema.optionalKey(Integer),
  offset: Schema.optionalKey(Integer),
  resolve: flag,
  following: flag,
  excludeUnreviewed: flag,
  accountId: text,
  maxId: Schema.optionalKey(Cursor),
  minId: Schema.optionalKey(Cursor)
}).pipe(Schema.encodeKeys({
  excludeUnreviewed: "exclude_unreviewed",
  accountId: "account_id",
  maxId: "max_id",
  minId: "min_id"
}))

/** Parameters of a list that is paged by offset and takes no others. */
export const StretchQuery = Schema.Struct({
  limit: Schema.optionalKey(Integer),
  offset: Schema.optionalKey(Integer)
})

/** Parameters of trends; `lang` is the language whose posts and links come first. */
export const TrendsQuery = Schema.Struct({ ...StretchQuery.fields, lang: text })

/** `GET /api/v1/directory` */
export const DirectoryQuery = Schema.Struct({ ...StretchQuery.fields, order: text, local: flag })

/** `GET /api/v1/timelines/link` */
export const LinkQuery = Schema.Struct({ ...pageFields, url: text }).pipe(Schema.encodeKeys(pageKeys))

/** `GET /api/v1/peers/search` */
export const PeersQuery = Schema.Struct({ q: text })
