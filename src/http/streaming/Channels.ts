import { Option, Result, Schema } from "effect"
import * as HashtagNames from "../../services/html/HashtagNames.ts"
import { type AccountId, IdFromString } from "../../services/Ids.ts"
import { grants } from "../../services/oauth/Scopes.ts"
import { bounded } from "../../services/text/BoundedText.ts"

/* What a client may listen to (streaming.md section 2), and the words in which it is refused (section 6). */

const ofPosts = ["read:statuses"]
const ofNotifications = ["read:notifications"]

/** Any one of the scopes, or a parent of one, opens a channel. */
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

/** Characters of a hashtag as a client writes it: names of channels stay in memory, and no post has a longer one. */
const tagCharactersMax = 255

/** Channels of which everybody has an own one. */
export type OwnChannel = "user" | "user:notification" | "direct"

/** Something that a connection listens to. */
export interface Channel {
  readonly name: ChannelName
  /** What its messages are published under, the same for everybody who gets the same. */
  readonly topic: string
  /** Only its owner may listen to a list. */
  readonly list?: bigint
  /** The value of `stream` in messages on a WebSocket, as JSON. */
  readonly label: string
}

/** Who asks for a channel. */
interface ChannelCaller {
  readonly accountId: AccountId
  readonly scopes: ReadonlySet<string>
}

/** What a channel may need beside its name, as the client wrote it. */
export interface ChannelParameters {
  readonly tag?: string | undefined
  readonly list?: string | undefined
}

/** A channel or a connection is refused with this status and text. */
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

/** Where the messages of somebody's own channel are published. */
export const ownTopic = (channel: OwnChannel, accountId: bigint): string => `${channel}/${accountId}`

/** Where the messages of a list are published. */
export const listTopic = (id: bigint): string => `list:${id}`
const listId = Schema.decodeOption(IdFromString)

/** The channel that a client names, if it may listen to it; whose a list is, is asked when it is subscribed to. */
export const channelOf = (
  name: string,
  parameters: ChannelParameters,
  asking: ChannelCaller
): Result.Result<Channel, StreamRefused> => {
  // An unknown stream is judged like one of posts first. A token without a scope learns nothing.
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
        // Clients find their own subscription by the tag as they wrote it.
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

/** The channel at a path below `/api/v1/streaming/`; public ones may be narrowed to posts with media. */
export const nameAtPath = (path: string, onlyMedia: boolean): Result.Result<ChannelName, StreamRefused> => {
  const name = names.get(path)
  return name === undefined ? Result.fail(refused("unknownPath")) : Result.succeed((onlyMedia && media[name]) || name)
}
