import type { Marker as MarkerRecord } from "../../services/feeds/Markers.ts"
import type { RuleRecord } from "../../services/instance/Instance.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { ListRecord } from "../../services/social/OwnedLists.ts"
import type { RelationshipRecord } from "../../services/social/Relationships.ts"
import type { DayOfUse, TagRecord } from "../../services/statuses/Tags.ts"
import type { DraftRecord, ScheduledRecord, UnpublishedPost } from "../../services/statuses/UnpublishedPosts.ts"
import { id, timestamp, timestampOrNull } from "../wire/Common.ts"
import type { Draft } from "../wire/Draft.ts"
import type { Rule } from "../wire/Instance.ts"
import type { Values } from "../wire/Keys.ts"
import type { List } from "../wire/List.ts"
import type { Marker } from "../wire/Marker.ts"
import type { Relationship } from "../wire/Relationship.ts"
import type { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import type { Tag } from "../wire/Tag.ts"
import { mediaValues } from "./MediaValues.ts"
import { policyValues } from "./PolicyValues.ts"

/*
 * One-to-one conversions of records to API values.
 */

export const relationshipValues = (record: RelationshipRecord): Values<Relationship> => ({
  ...record,
  id: id(record.id),
  mutingExpiresAt: timestampOrNull(record.mutingExpiresAt)
})

export const markerValues = ({ lastReadId, updatedAt, version }: MarkerRecord): Values<Marker> => ({
  lastReadId: id(lastReadId),
  version,
  updatedAt: timestamp(updatedAt)
})

export const ruleValues = ({ hint, text, translations, ...rule }: RuleRecord): Values<Rule> => ({
  id: id(rule.id),
  text,
  hint,
  translations
})

export const listValues = (list: ListRecord): Values<List> => ({ ...list, id: id(list.id) })

/** Returns a hashtag's values; `relation` is absent for callers without a user. */
export const tagValues = (
  config: ServerConfig["Service"],
  { history, name, ...tag }: TagRecord,
  relation?: { readonly following: boolean; readonly featuring: boolean }
): Values<Tag> => ({
  id: tag.id === undefined ? "" : id(tag.id),
  name,
  url: Urls.tag(config, name),
  history: historyValues(history),
  ...relation
})

export const historyValues = (history: ReadonlyArray<DayOfUse>): Values<Tag["history"]> =>
  history.map(({ accounts, midnight, uses }) => ({
    day: String(midnight),
    uses: String(uses),
    accounts: String(accounts)
  }))

export const scheduledValues = (
  config: ServerConfig["Service"],
  { scheduledAt, ...waiting }: ScheduledRecord
): Values<ScheduledStatus> => ({ ...waitingValues(config, waiting), scheduledAt: timestamp(scheduledAt) })

export const draftValues = (
  config: ServerConfig["Service"],
  { createdAt, updatedAt, ...waiting }: DraftRecord
): Values<Draft> => ({
  ...waitingValues(config, waiting),
  createdAt: timestamp(createdAt),
  updatedAt: timestamp(updatedAt)
})

const waitingValues = (
  config: ServerConfig["Service"],
  { media, post: { contentType, localOnly, ...post }, ...waiting }: UnpublishedPost
) => ({
  id: id(waiting.id),
  params: {
    ...post,
    ...(contentType !== null && { contentType }),
    ...(localOnly === true && { localOnly }),
    mediaIds: post.mediaIds?.map(id) ?? null,
    spoilerText: post.spoilerText === "" ? null : post.spoilerText,
    poll: post.poll === null ? null : {
      options: post.poll.options,
      expiresIn: String(post.poll.seconds),
      multiple: post.poll.multiple,
      hideTotals: post.poll.hideTotals
    },
    scheduledAt: null,
    idempotency: null,
    withRateLimit: false,
    allowedMentions: post.allowedMentions?.map(id) ?? null,
    quotedStatusId: post.quotedStatusId === null ? null : id(post.quotedStatusId),
    quoteApprovalPolicy: post.quoteApprovalPolicy ?? "nobody",
    interactionPolicy: post.interactionPolicy === null ? null : policyValues(post.interactionPolicy)
  },
  mediaAttachments: media.map((one) => mediaValues(config, one))
})
