import { Option, Schema } from "effect"

const TimelineReaders = Schema.Literals(["public", "authenticated", "disabled"])
/** Readers of a public timeline: everyone, signed-in users, or only staff whose role has `view_feeds`. */
export type TimelineReaders = typeof TimelineReaders.Type

const Feeds = Schema.Struct({ local: TimelineReaders, remote: TimelineReaders })
const TimelinesAccess = Schema.Struct({ liveFeeds: Feeds, hashtagFeeds: Feeds })
/** Access to timelines, by local and remote posts. */
export type TimelinesAccess = typeof TimelinesAccess.Type

const decodeAccess = Schema.decodeUnknownOption(TimelinesAccess)
const decodeReaders = Schema.decodeUnknownOption(TimelineReaders)

/** Decodes the access in a setting; undefined for any other shape. */
export const decodeTimelinesAccess = (value: unknown): TimelinesAccess | undefined =>
  Option.getOrUndefined(decodeAccess(value))
/** Decodes an access level; undefined for any other word. */
export const decodeTimelineReaders = (value: unknown): TimelineReaders | undefined =>
  Option.getOrUndefined(decodeReaders(value))
