import { Schema } from "effect"
import { Figure, Timestamp } from "../../wire/Common.ts"
import { IdInBody } from "../../wire/PageQuery.ts"
import { Flag, hash, Integer, list, Text } from "../../wire/Params.ts"

export const AdminMeasure = Schema.Struct({
  key: Schema.String,
  unit: Schema.NullOr(Schema.String),
  total: Figure,
  human_value: Schema.optionalKey(Schema.String),
  previous_total: Schema.optionalKey(Figure),
  data: Schema.Array(Schema.Struct({ date: Timestamp, value: Figure }))
}).annotate({ identifier: "Admin::Measure" })
export type AdminMeasure = typeof AdminMeasure.Type

export const AdminDimension = Schema.Struct({
  key: Schema.String,
  data: Schema.Array(Schema.Struct({
    key: Schema.String,
    human_key: Schema.String,
    value: Schema.String,
    unit: Schema.optionalKey(Schema.String),
    human_value: Schema.optionalKey(Schema.String)
  }))
}).annotate({ identifier: "Admin::Dimension" })
export type AdminDimension = typeof AdminDimension.Type

export const AdminCohort = Schema.Struct({
  period: Timestamp,
  frequency: Schema.Literals(["day", "month"]),
  data: Schema.Array(Schema.Struct({ date: Timestamp, rate: Schema.Number, value: Figure }))
}).annotate({ identifier: "Admin::Cohort" })
export type AdminCohort = typeof AdminCohort.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const ofTag = Schema.optionalKey(hash(Schema.Struct({ id: Schema.optionalKey(IdInBody) })))
const ofServer = Schema.optionalKey(hash(
  Schema.Struct({ domain: text, includeSubdomains: Schema.optionalKey(Flag) })
    .pipe(Schema.encodeKeys({ includeSubdomains: "include_subdomains" }))
))

/** The tag or server of a key is sent under the key's own name. */
export const MetricsQuery = Schema.Struct({
  keys: Schema.optionalKey(list(Text)),
  startAt: text,
  endAt: text,
  limit: Schema.optionalKey(Integer),
  tag_accounts: ofTag,
  tag_uses: ofTag,
  tag_servers: ofTag,
  tag_languages: ofTag,
  instance_accounts: ofServer,
  instance_media_attachments: ofServer,
  instance_reports: ofServer,
  instance_statuses: ofServer,
  instance_follows: ofServer,
  instance_followers: ofServer,
  instance_languages: ofServer
}).pipe(Schema.encodeKeys({ startAt: "start_at", endAt: "end_at" }))
export type MetricsQuery = typeof MetricsQuery.Type

/** `POST /api/v1/admin/retention` */
export const RetentionQuery = Schema.Struct({ startAt: text, endAt: text, frequency: text })
  .pipe(Schema.encodeKeys({ startAt: "start_at", endAt: "end_at" }))

const isTagKey = Schema.is(Schema.Literals(["tag_accounts", "tag_uses", "tag_servers", "tag_languages"]))
const isServerKey = Schema.is(Schema.Literals([
  "instance_accounts",
  "instance_media_attachments",
  "instance_reports",
  "instance_statuses",
  "instance_follows",
  "instance_followers",
  "instance_languages"
]))

/** Returns the subject of a key. */
export const subjectOf = (query: MetricsQuery, key: string) => {
  const server = isServerKey(key) ? query[key] : undefined
  return {
    tagId: isTagKey(key) ? query[key]?.id : undefined,
    domain: server?.domain ?? undefined,
    includeSubdomains: server?.includeSubdomains
  }
}
