import { Schema } from "effect"
import { Count } from "./Common.ts"
import { Text } from "./Params.ts"

/** Domain that a user blocks, unblocks or asks about. */
export const DomainName = Schema.Struct({ domain: Schema.optionalKey(Schema.NullOr(Text)) })

/** Number of follows that a domain block would end. */
export const DomainBlockPreview = Schema.Struct({ following_count: Count, followers_count: Count })
  .annotate({ identifier: "DomainBlockPreview" })
export type DomainBlockPreview = typeof DomainBlockPreview.Type
