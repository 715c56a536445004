import { Layer } from "effect"
import * as FollowedTags from "./FollowedTags.ts"
import * as FollowRequests from "./FollowRequests.ts"

/** Followed hashtags, and follow requests to the member. */
export const layer = Layer.merge(FollowedTags.layer, FollowRequests.layer)
