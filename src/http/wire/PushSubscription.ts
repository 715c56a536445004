import { Schema } from "effect"
import { PushPolicy } from "../../services/push/PushSubscriptions.ts"
import { IdNumber, Url } from "./Common.ts"
import { Flag, hash, Text } from "./Params.ts"

/** Where notifications of one token are pushed to. Apps read its id as a number of 32 bits. */
export const WebPushSubscription = Schema.Struct({
  id: IdNumber,
  endpoint: Url,
  standard: Schema.Boolean,
  alerts: Schema.Record(Schema.String, Schema.Boolean),
  server_key: Schema.String,
  policy: PushPolicy
}).annotate({ identifier: "WebPushSubscription" })
export type WebPushSubscription = typeof WebPushSubscription.Type

/** Types that apps may ask to be told of (entities.md), those that nobody here gets among them. */
const alertTypes = [
  "mention",
  "status",
  "reblog",
  "follow",
  "follow_request",
  "favourite",
  "pleroma:emoji_reaction",
  "poll",
  "update",
  "quote",
  "quoted_update",
  "severed_relationships",
  "moderation_warning",
  "annual_report",
  "added_to_collection",
  "collection_update",
  "admin.sign_up",
  "admin.report"
] as const

const Alerts = Schema.Record(Schema.Literals(alertTypes), Schema.optionalKey(Flag))
const wanted = {
  data: Schema.optionalKey(hash(Schema.Struct({
    policy: Schema.optionalKey(Schema.NullOr(Text)),
    alerts: Schema.optionalKey(hash(Alerts))
  })))
}

/** `PUT /api/v1/push/subscription` */
export const PushSubscriptionChange = Schema.Struct(wanted)
export type PushSubscriptionChange = typeof PushSubscriptionChange.Type

/** `POST /api/v1/push/subscription` */
export const NewPushSubscription = Schema.Struct({
  subscription: Schema.optionalKey(hash(Schema.Struct({
    endpoint: Schema.optionalKey(Schema.NullOr(Text)),
    standard: Schema.optionalKey(Flag),
    keys: Schema.optionalKey(hash(Schema.Struct({
      p256dh: Schema.optionalKey(Schema.NullOr(Text)),
      auth: Schema.optionalKey(Schema.NullOr(Text))
    })))
  }))),
  ...wanted
})
