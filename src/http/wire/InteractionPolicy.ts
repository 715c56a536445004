import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Id, Timestamp } from "./Common.ts"
import { pageFields, pageKeys } from "./PageQuery.ts"
import { Flag, hash, list, Text } from "./Params.ts"
import { InteractionPolicy } from "./PolicyRules.ts"
import { Status } from "./Status.ts"

/*
 * Interaction policies in GoToSocial's format: who may reply to a post, favourite and reblog it; and interaction
 * requests.
 */

const audience = Schema.optionalKey(list(Text))
/** The last two fields are those of earlier versions of the API. */
const RulesGiven = hash(
  Schema.Struct({ automaticApproval: audience, manualApproval: audience, always: audience, withApproval: audience })
    .pipe(Schema.encodeKeys({
      automaticApproval: "automatic_approval",
      manualApproval: "manual_approval",
      withApproval: "with_approval"
    }))
)

const controlGiven = {
  canFavourite: Schema.optionalKey(RulesGiven),
  canReply: Schema.optionalKey(RulesGiven),
  canReblog: Schema.optionalKey(RulesGiven)
}
const controlKeys = { canFavourite: "can_favourite", canReply: "can_reply", canReblog: "can_reblog" } as const

/** A policy as clients send it. */
export const PolicyGiven = hash(
  Schema.Struct({ ...controlGiven, canQuote: Schema.optionalKey(RulesGiven) }).pipe(
    Schema.encodeKeys({ ...controlKeys, canQuote: "can_quote" })
  )
)
export type PolicyGiven = typeof PolicyGiven.Type
/** A default policy, without quotes: `source[quote_policy]` has those. */
const DefaultGiven = hash(Schema.Struct(controlGiven).pipe(Schema.encodeKeys(controlKeys)))

/** `PATCH /api/v1/interaction_policies/defaults` */
export const DefaultsChange = Schema.Struct({
  public: Schema.optionalKey(DefaultGiven),
  unlisted: Schema.optionalKey(DefaultGiven),
  private: Schema.optionalKey(DefaultGiven),
  direct: Schema.optionalKey(DefaultGiven)
})
export type DefaultsChange = typeof DefaultsChange.Type

export const DefaultPolicies = Schema.Struct({
  direct: InteractionPolicy,
  private: InteractionPolicy,
  unlisted: InteractionPolicy,
  public: InteractionPolicy
}).annotate({ identifier: "DefaultPolicies" })
export type DefaultPolicies = typeof DefaultPolicies.Type

/** `GET /api/v1/interaction_requests` */
export const RequestsQuery = Schema.Struct({
  ...pageFields,
  statusId: Schema.optionalKey(Schema.String),
  favourites: Schema.optionalKey(Flag),
  replies: Schema.optionalKey(Flag),
  reblogs: Schema.optionalKey(Flag),
  quotes: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ ...pageKeys, statusId: "status_id" }))

/** Parameters that links to further pages keep. */
export const requestsFilters = ["status_id", "favourites", "replies", "reblogs", "quotes"]

/** A request to interact with a status of its reader. */
export const InteractionRequest = Schema.Struct({
  id: Id,
  type: Schema.Literals(["favourite", "reply", "reblog", "quote"]),
  created_at: Timestamp,
  account: Account,
  status: Schema.NullOr(Status),
  reply: Schema.optionalKey(Status),
  /** The quoting post. */
  quote: Schema.optionalKey(Status),
  accepted_at: Schema.optionalKey(Timestamp),
  rejected_at: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "InteractionRequest" })
export type InteractionRequest = typeof InteractionRequest.Type
