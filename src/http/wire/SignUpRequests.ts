import { Schema } from "effect"
import { Url } from "./Common.ts"
import { Flag, Text } from "./Params.ts"

const OptionalText = Schema.optionalKey(Schema.NullOr(Text))

/** `POST /api/v1/accounts` */
export const SignUp = Schema.Struct({
  username: OptionalText,
  email: OptionalText,
  password: OptionalText,
  agreement: Schema.optionalKey(Flag),
  locale: OptionalText,
  reason: OptionalText,
  timeZone: OptionalText,
  inviteCode: OptionalText,
  dateOfBirth: OptionalText
}).pipe(Schema.encodeKeys({ timeZone: "time_zone", inviteCode: "invite_code", dateOfBirth: "date_of_birth" }))

/** `POST /api/v1/emails/confirmations`; `email` replaces the address given at sign-up. */
export const Confirmation = Schema.Struct({ email: OptionalText })

/** `GET /invite/:code`, for apps that offer sign-up. */
export const Invite = Schema.Struct({ invite_code: Schema.String, instance_api_url: Url })
export type Invite = typeof Invite.Type
