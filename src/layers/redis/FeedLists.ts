import { Effect, Result } from "effect"
import { idMax } from "../../services/database/Ids.ts"
import {
  feedEntriesMax,
  feedEntriesSlack,
  type FeedEntry,
  type FeedKey,
  feedUnreadMillisMax,
  type Generation
} from "../../services/feeds/Feeds.ts"
import type { Redis } from "../Redis.ts"

/** Maximum feeds per Redis call, and concurrent calls of one operation. */
const keysPerCallMax = 500
export const callsMax = 4
/** Seconds after which an unread feed expires. */
const unreadSecondsMax = feedUnreadMillisMax / 1000

/**
 * Last element of a filled list, after its oldest entry. As part of the list it disappears with the list: by eviction,
 * FLUSHALL or expiry.
 */
const filledMark = "0"
/** Prefix of the last element of a list that waits to be filled; the feed's generation follows. */
const waitingMark = "?"
const prefix = "murmuration:feed:"
const key = (feed: FeedKey) => prefix + feed

/** Encodes an entry. A reblog names its original after a `>`; a bare number takes nine bytes in Redis. */
const encode = ({ id, reblogOf }: FeedEntry) => reblogOf === undefined ? String(id) : `${id}>${reblogOf}`
const decode = (text: string): FeedEntry => {
  const [id = "0", reblogOf] = text.split(">")
  return { id: BigInt(id), reblogOf: reblogOf === undefined ? undefined : BigInt(reblogOf) }
}
const isId = (id: bigint) => id > 0n && id <= idMax
const isEntry = ({ id, reblogOf }: FeedEntry) => isId(id) && (reblogOf === undefined || isId(reblogOf))

/** Decodes the entries of a list; undefined if the list contains other data. */
const entriesOf = (elements: ReadonlyArray<string>): ReadonlyArray<FeedEntry> | undefined => {
  const entries = Result.getOrElse(Result.try(() => elements.map(decode)), () => undefined)
  return entries?.every(isEntry) === true ? entries : undefined
}

/** Trims a list to its limits, and keeps its mark of either kind. */
const trim = `
  local function trim(key, length, max, kept, mark)
    if length <= max then return end
    local last = redis.call('LINDEX', key, -1)
    local marked = last == mark or string.sub(last, 1, 1) == '${waitingMark}'
    if marked and length == max + 1 then return end
    redis.call('LTRIM', key, 0, kept - 1)
    if marked then redis.call('RPUSH', key, last) end
  end
`
/** The first four arguments of every script. */
const limits = [feedEntriesMax + feedEntriesSlack, feedEntriesMax, filledMark, unreadSecondsMax]

const pushScript = `${trim}
  local max, kept, mark, seconds, entry = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
  for _, key in ipairs(KEYS) do
    local length = redis.call('LPUSH', key, entry)
    if length == 1 then redis.call('EXPIRE', key, seconds) end
    trim(key, length, max, kept, mark)
  end
  return 0
`

/** A value of another type reads as an element that no feed has. */
const readScript = `
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  local list = redis.pcall('LRANGE', KEYS[1], 0, -1)
  return list.err and {'not a list'} or list
`

const beginScript = `
  local key, mark, seconds, waiting = KEYS[1], ARGV[3], ARGV[4], ARGV[5]
  local last = redis.call('LINDEX', key, -1)
  if last and string.sub(last, 1, 1) == '${waitingMark}' then return last end
  if last ~= mark and redis.call('RPUSH', key, waiting) == 1 then redis.call('EXPIRE', key, seconds) end
  return waiting
`

const fillScript = `${trim}
  local key, max, kept, mark, seconds, since = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
  local last = redis.call('LINDEX', key, -1)
  if since ~= '' and last ~= since then return 0 end
  if last and (last == mark or string.sub(last, 1, 1) == '${waitingMark}') then redis.call('RPOP', key) end
  for i = 6, #ARGV do redis.call('RPUSH', key, ARGV[i]) end
  trim(key, redis.call('RPUSH', key, mark), max, kept, mark)
  redis.call('EXPIRE', key, seconds)
  return 0
`

export const slices = (feeds: ReadonlyArray<FeedKey>): ReadonlyArray<ReadonlyArray<FeedKey>> =>
  Array.from(
    { length: Math.ceil(feeds.length / keysPerCallMax) },
    (_, index) => feeds.slice(index * keysPerCallMax, (index + 1) * keysPerCallMax)
  )

export type FeedLists = ReturnType<typeof make>

/**
 * Feeds as Redis lists, the newest entry first: sets of 64-bit ids would take twelve times the memory, and ids do not
 * fit into a sorted set's scores. Each operation is one call; for many feeds the caller splits them by `slices`.
 */
export const make = (redis: Redis["Service"]) => {
  const call = (script: string, keys: ReadonlyArray<string>, args: ReadonlyArray<string> = []) =>
    redis.use((client) => client.eval(script, keys.length, ...keys, ...limits, ...args))

  return {
    push: (slice: ReadonlyArray<FeedKey>, entry: FeedEntry) =>
      Effect.asVoid(call(pushScript, slice.map(key), [encode(entry)])),
    /** Returns the list's generation; if it has none, sets and returns `fresh`. */
    begin: (feed: FeedKey, fresh: Generation) =>
      Effect.map(
        call(beginScript, [key(feed)], [waitingMark + fresh]),
        (reply): Generation => typeof reply === "string" ? reply.slice(waitingMark.length) : fresh
      ),
    fill: (feed: FeedKey, entries: ReadonlyArray<FeedEntry>, since: Generation | undefined) =>
      Effect.asVoid(
        call(fillScript, [key(feed)], [since === undefined ? "" : waitingMark + since, ...entries.map(encode)])
      ),
    /** Reads a feed and extends its lifetime. Undefined if the list is not a feed. */
    read: Effect.fnUntraced(function*(feed: FeedKey) {
      const reply = yield* call(readScript, [key(feed)])
      const elements: ReadonlyArray<string> = Array.isArray(reply) ? reply : []
      const last = elements.at(-1)
      const filled = last === filledMark
      const marked = filled || last?.startsWith(waitingMark) === true
      const entries = entriesOf(marked ? elements.slice(0, -1) : elements)
      return entries && { entries, filled }
    }),
    drop: (slice: ReadonlyArray<FeedKey>) => Effect.asVoid(redis.use((client) => client.unlink(...slice.map(key)))),
    dropAll: Effect.gen(function*() {
      let cursor = "0"
      do {
        const [next, keys] = yield* redis.use((client) =>
          client.scan(cursor, "MATCH", `${prefix}*`, "COUNT", keysPerCallMax)
        )
        if (keys.length > 0) yield* redis.use((client) => client.unlink(...keys))
        cursor = next
      } while (cursor !== "0")
    })
  }
}
