import { Schema } from "effect"

const audience = Schema.Array(Schema.String)

const PolicyRules = Schema.Struct({
  automatic_approval: audience,
  manual_approval: audience,
  /** Names from earlier versions. */
  always: audience,
  with_approval: audience
}).annotate({ identifier: "InteractionPolicyRules" })

/**
 * Accounts that may interact with a post: words (`public`, `followers`, `following`, `mutuals`, `mentioned`, `author`,
 * and `me` for the reader) or account ids.
 */
export const InteractionPolicy = Schema.Struct({
  can_favourite: PolicyRules,
  can_reply: PolicyRules,
  can_reblog: PolicyRules
}).annotate({ identifier: "InteractionPolicy" })
export type InteractionPolicy = typeof InteractionPolicy.Type
