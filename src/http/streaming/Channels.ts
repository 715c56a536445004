import { Option, Result, Schema } from "effect"
import { type AccountId, IdFromString } from "../../services/database/Ids.ts"
import * as HashtagNames from "../../services/html/HashtagNames.ts"
import { grants } from "../../services/oauth/Scopes.ts"
import { bounded } from "../../services/text/BoundedText.ts"

/*
 * Channels of streams (streaming.md section 2), and the texts of refusals (section 6).
 */

const ofPosts = ["read:statuses"]
const ofNotifications = ["read:notifications"]

/** Scopes per channel; any one of them, or a parent of one, suffices. */
const scopes = {
  user: ofPosts,
  "user:notification": ofNotifications,
  public: ofPosts,
  "public:media": ofPosts,
  "public:local": ofPosts,
  "public:local:media": ofPosts,
  "public:remote": ofPosts,
  "public:remote:media": ofPosts,
  hashtag: ofPosts,
  "hashtag:local": ofPosts,
  list: ofPosts,
  direct: ofPosts
} satisfies Record<string, ReadonlyArray<string>>
type ChannelName = keyof typeof scopes

/** Maximum characters of a hashtag in a request: channel names stay in memory, and no post has a longer one. */
const tagCharactersMax = 255

/** Channels that exist once per account. */
export type OwnChannel = "user" | "user:notification" | "direct"

/** A channel that a connection listens to. */
export interface Channel {
  readonly name: ChannelName
  /** Topic under which its messages are published; shared by all connections that get the same. */
  readonly topic: string
  /** List of the channel; only its owner may listen. */
  readonly list?: bigint
  /** Value of `stream` in WebSocket messages, as JSON. */
  readonly label: string
}

/** Caller who asks for a channel. */
interface ChannelCaller {
  readonly accountId: AccountId
  readonly scopes: ReadonlySet<string>
}

/** Parameters that a channel may need besides its name, as the client wrote them. */
export interface ChannelParameters {
  readonly tag?: string | undefined
  readonly list?: string | undefined
}

/** Refusal of a channel or connection, with its status and text. */
export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  status: Schema.Literals([400, 401, 403, 503]),
  text: Schema.String
}) {
  override get message() {
    return this.text
  }
}

const refusals = {
  unknownStream: { status: 400, text: "Unknown stream type" },
  unknownPath: { status: 400, text: "Unknown channel requested" },
  noTag: { status: 400, text: "Missing tag name parameter" },
  noList: { status: 400, text: "Missing list name parameter" },
  tooMany: { status: 400, text: "Too many streams on one connection" },
  foreignList: { status: 401, text: "Not authorized to stream this list" },
  noScope: { status: 401, text: "Access token does not have the required scopes" },
  noToken: { status: 401, text: "Missing access token" },
  blocked: { status: 403, text: "Forbidden" },
  badToken: { status: 401, text: "Invalid access token" },
  busy: { status: 503, text: "The server is busy, please try again" }
} as const

export const refused = (reason: keyof typeof refusals) => new StreamRefused(refusals[reason])

const isChannelName = (name: string): name is ChannelName => Object.hasOwn(scopes, name)

/** Returns the topic of an account's own channel. */
export const ownTopic = (channel: OwnChannel, accountId: bigint): string => `${channel}/${accountId}`

/** Returns the topic of a list. */
export const listTopic = (id: bigint): string => `list:${id}`
const listId = Schema.decodeOption(IdFromString)

/** Returns the channel that a client names, if it may listen to it; ownership of a list is checked on subscribing. */
export const channelOf = (
  name: string,
  parameters: ChannelParameters,
  asking: ChannelCaller
): Result.Result<Channel, StreamRefused> => {
  // Scopes are checked first, for an unknown stream as for posts, so that a token without a scope learns nothing.
  if (!grants(asking.scopes, isChannelName(name) ? scopes[name] : ofPosts)) return Result.fail(refused("noScope"))
  if (!isChannelName(name)) return Result.fail(refused("unknownStream"))
  switch (name) {
    case "user":
    case "user:notification":
    case "direct":
      return Result.succeed({ name, topic: ownTopic(name, asking.accountId), label: JSON.stringify([name]) })
    case "hashtag":
    case "hashtag:local": {
      const given = parameters.tag ?? ""
      const tag = given.length > tagCharactersMax ? "" : HashtagNames.normalise(bounded(given))
      return tag === ""
        ? Result.fail(refused("noTag"))
        // Clients match their own subscription by the tag as they wrote it.
        : Result.succeed({ name, topic: `${name}:${tag}`, label: JSON.stringify([name, parameters.tag]) })
    }
    case "list": {
      const { list = "" } = parameters
      const id = Option.getOrUndefined(listId(list))
      return id === undefined
        ? Result.fail(refused(list === "" ? "noList" : "foreignList"))
        : Result.succeed({ name, topic: listTopic(id), list: id, label: JSON.stringify([name, list]) })
    }
    default:
      return Result.succeed({ name, topic: name, label: JSON.stringify([name]) })
  }
}

const names: ReadonlyMap<string, ChannelName> = new Map([
  ["user", "user"],
  ["user/notification", "user:notification"],
  ["public", "public"],
  ["public/local", "public:local"],
  ["public/remote", "public:remote"],
  ["hashtag", "hashtag"],
  ["hashtag/local", "hashtag:local"],
  ["list", "list"],
  ["direct", "direct"]
])

const media: Partial<Record<ChannelName, ChannelName>> = {
  public: "public:media",
  "public:local": "public:local:media",
  "public:remote": "public:remote:media"
}

/** Returns the channel at a path below `/api/v1/streaming/`; public ones may be narrowed to posts with media. */
export const nameAtPath = (path: string, onlyMedia: boolean): Result.Result<ChannelName, StreamRefused> => {
  const name = names.get(path)
  return name === undefined ? Result.fail(refused("unknownPath")) : Result.succeed((onlyMedia && media[name]) || name)
}
