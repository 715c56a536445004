import { Schema } from "effect"

const audience = Schema.Array(Schema.String)

const PolicyRules = Schema.Struct({
  automatic_approval: audience,
  manual_approval: audience,
  /** The words of earlier versions. */
  always: audience,
  with_approval: audience
}).annotate({ identifier: "InteractionPolicyRules" })

/** Who may do what with a post: words (`public`, `followers`, `following`, `mutuals`, `mentioned`, `author`, and `me` for its reader), or ids of accounts. */
export const InteractionPolicy = Schema.Struct({
  can_favourite: PolicyRules,
  can_reply: PolicyRules,
  can_reblog: PolicyRules
}).annotate({ identifier: "InteractionPolicy" })
export type InteractionPolicy = typeof InteractionPolicy.Type
