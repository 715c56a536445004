import { Schema } from "effect"
import { Account } from "./Account.ts"
import { Id, Timestamp } from "./Common.ts"
import { pageFields, pageKeys } from "./PageQuery.ts"
import { Flag, hash, list, Text } from "./Params.ts"
import { InteractionPolicy } from "./PolicyRules.ts"
import { Status } from "./Status.ts"

/* Who may reply to a post, favourite and reblog it, in the words of GoToSocial; and what others asked to do. */

const audience = Schema.optionalKey(list(Text))
/** The last two are of earlier versions. */
const RulesGiven = hash(
  Schema.Struct({ automaticApproval: audience, manualApproval: audience, always: audience, withApproval: audience })
    .pipe(Schema.encodeKeys({
      automaticApproval: "automatic_approval",
      manualApproval: "manual_approval",
      withApproval: "with_approval"
    }))
)

/** A policy as clients send it. */
export const PolicyGiven = hash(
  Schema.Struct({
    canFavourite: Schema.optionalKey(RulesGiven),
    canReply: Schema.optionalKey(RulesGiven),
    canReblog: Schema.optionalKey(RulesGiven)
  }).pipe(Schema.encodeKeys({ canFavourite: "can_favourite", canReply: "can_reply", canReblog: "can_reblog" }))
)
export type PolicyGiven = typeof PolicyGiven.Type

/** `PATCH /api/v1/interaction_policies/defaults` */
export const DefaultsChange = Schema.Struct({
  public: Schema.optionalKey(PolicyGiven),
  unlisted: Schema.optionalKey(PolicyGiven),
  private: Schema.optionalKey(PolicyGiven),
  direct: Schema.optionalKey(PolicyGiven)
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
  reblogs: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ ...pageKeys, statusId: "status_id" }))

/** What links to further pages keep of it. */
export const requestsFilters = ["status_id", "favourites", "replies", "reblogs"]

/** What somebody asked to do with a status of its reader. */
export const InteractionRequest = Schema.Struct({
  id: Id,
  type: Schema.Literals(["favourite", "reply", "reblog"]),
  created_at: Timestamp,
  account: Account,
  status: Schema.NullOr(Status),
  reply: Schema.optionalKey(Status),
  accepted_at: Schema.optionalKey(Timestamp),
  rejected_at: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "InteractionRequest" })
export type InteractionRequest = typeof InteractionRequest.Type
