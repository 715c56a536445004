import { Effect } from "effect"
import type { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"

/** Returns the selection of all posts with a hashtag. */
export const tagSelection = (name: string) => ({
  name,
  any: [],
  all: [],
  none: [],
  local: false,
  remote: false,
  onlyMedia: false
})

/** True if pages and feeds of hashtags are for members only. */
export const closedTags = ({ current }: InstancePolicies["Service"]): Effect.Effect<boolean> =>
  Effect.map(
    current,
    ({ timelinesAccess: { hashtagFeeds: { local, remote } } }) => local !== "public" || remote !== "public"
  )
