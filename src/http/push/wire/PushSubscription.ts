import { Schema } from "effect"
import { notificationTypes } from "../../../services/notifications/NotificationTypes.ts"
import { PushPolicy } from "../../../services/push/PushSubscriptions.ts"
import { IdNumber, Url } from "../../wire/Common.ts"
import { Flag, hash, Text } from "../../wire/Params.ts"

/** Push subscription of a token. Apps read its id as a 32-bit number. */
export const WebPushSubscription = Schema.Struct({
  id: IdNumber,
  endpoint: Url,
  standard: Schema.Boolean,
  alerts: Schema.Record(Schema.String, Schema.Boolean),
  server_key: Schema.String,
  policy: PushPolicy
}).annotate({ identifier: "WebPushSubscription" })
export type WebPushSubscription = typeof WebPushSubscription.Type

const Alerts = Schema.Record(Schema.Literals(notificationTypes), Schema.optionalKey(Flag))
const changeFields = {
  data: Schema.optionalKey(hash(Schema.Struct({
    policy: Schema.optionalKey(Schema.NullOr(Text)),
    alerts: Schema.optionalKey(hash(Alerts))
  })))
}

/** `PUT /api/v1/push/subscription` */
export const PushSubscriptionChange = Schema.Struct(changeFields)
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
  ...changeFields
})
