import { Layer } from "effect"
import * as FollowedTags from "./FollowedTags.ts"
import * as FollowRequestPage from "./FollowRequestPage.ts"

/** Followed hashtags, and follow requests to the member. */
export const layer = Layer.merge(FollowedTags.layer, FollowRequestPage.layer)
