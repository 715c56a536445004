import { Schema } from "effect"
import { Count } from "./Common.ts"
import { Text } from "./Params.ts"

/** The domain that a user blocks, unblocks or asks about. */
export const DomainName = Schema.Struct({ domain: Schema.optionalKey(Schema.NullOr(Text)) })

/** What a block of a domain would end. */
export const DomainBlockPreview = Schema.Struct({ following_count: Count, followers_count: Count })
  .annotate({ identifier: "DomainBlockPreview" })
export type DomainBlockPreview = typeof DomainBlockPreview.Type
