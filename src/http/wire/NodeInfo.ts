import { Schema } from "effect"
import { Count } from "./Common.ts"

/** Location of the NodeInfo document (NodeInfo 2.0, section "Discovery"). */
export const NodeInfoLinks = Schema.Struct({
  links: Schema.Array(Schema.Struct({ rel: Schema.String, href: Schema.String }))
})
export type NodeInfoLinks = typeof NodeInfoLinks.Type

/** The NodeInfo document, schema version 2.0. */
export const NodeInfo = Schema.Struct({
  version: Schema.Literal("2.0"),
  software: Schema.Struct({ name: Schema.String.check(Schema.isPattern(/^[a-z0-9-]+$/)), version: Schema.String }),
  protocols: Schema.Array(
    Schema.Literals([
      "activitypub",
      "buddycloud",
      "dfrn",
      "diaspora",
      "libertree",
      "ostatus",
      "pumpio",
      "tent",
      "xmpp",
      "zot"
    ])
  ).check(Schema.isMinLength(1)),
  services: Schema.Struct({ inbound: Schema.Array(Schema.String), outbound: Schema.Array(Schema.String) }),
  openRegistrations: Schema.Boolean,
  usage: Schema.Struct({
    users: Schema.Struct({
      total: Schema.optionalKey(Count),
      activeHalfyear: Schema.optionalKey(Count),
      activeMonth: Schema.optionalKey(Count)
    }),
    localPosts: Schema.optionalKey(Count),
    localComments: Schema.optionalKey(Count)
  }),
  metadata: Schema.Record(Schema.String, Schema.Unknown)
})
export type NodeInfo = typeof NodeInfo.Type
