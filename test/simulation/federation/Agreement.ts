import type { SentCommand, User } from "./Clients.ts"
import type { KnownStatus, ServerState } from "./ServerStates.ts"

/** State of a run at rest. */
export interface Aftermath {
  readonly states: ReadonlyArray<ServerState>
  readonly users: ReadonlyArray<User>
  readonly sentCommands: ReadonlyArray<SentCommand>
  /** Follows before any command, known to both servers: `handle handle`. */
  readonly followed: ReadonlySet<string>
}

const hostOf = (handle: string) => handle.split("@")[1] ?? ""
const pairOf = (from: string, to: string) => `${from} ${to}`

/** Returns the entries whose originator is at `host`. */
const madeAt = (host: string, entries: Iterable<string>) =>
  [...entries].filter((entry) => hostOf(entry.split(" ")[0] ?? "") === host)

/**
 * Compares the servers at rest. Follows, likes, votes, blocks and pins match their home server (I7, I12, I20). Posts
 * are where they belong, once and current (I5), and deleted posts are nowhere (I10).
 */
export const check = (aftermath: Aftermath): ReadonlyArray<string> => {
  const { states } = aftermath
  const at = new Map(states.map((state) => [state.host, state]))
  const broken: Array<string> = []
  for (const home of states) {
    for (const there of states) {
      if (home === there) continue
      relations(broken, home, there)
      posts(broken, aftermath, home, there)
      reactions(broken, aftermath.sentCommands, home, there)
    }
    for (const name of home.misnamed) broken.push(`I7: ${home.host} shows ${name}`)
    for (const { times, what } of home.notifications) {
      if (times > 1) broken.push(`I9: ${times} notifications of ${what}`)
    }
  }
  boosts(broken, aftermath, at)
  flags(broken, aftermath.sentCommands, at)
  return broken
}

/** Checks that both sides agree on follows, requests and blocks between people of `home` and `there`. */
export const relations = (broken: Array<string>, home: ServerState, there: ServerState) => {
  for (const kind of ["follows", "requests", "blocks"] as const) {
    const between = (state: ServerState) =>
      madeAt(home.host, state[kind]).filter((entry) => hostOf(entry.split(" ")[1] ?? "") === there.host)
    compareEntries(broken, `I7: ${kind} of ${home.host}`, between(home), between(there), there.host)
  }
}

const compareEntries = (
  broken: Array<string>,
  what: string,
  own: ReadonlyArray<string>,
  others: ReadonlyArray<string>,
  host: string
) => {
  for (const entry of own) if (!others.includes(entry)) broken.push(`${what}: ${host} does not know of ${entry}`)
  for (const entry of others) {
    if (!own.includes(entry)) broken.push(`${what}: ${host} has ${entry}, which its origin lacks`)
  }
}

/** Returns the pairs that ever blocked each other, in both directions. */
export const blockedPairsOf = (sentCommands: ReadonlyArray<SentCommand>) =>
  new Set(sentCommands.flatMap(({ by, command, target }) =>
    command._tag === "Block" && target !== undefined
      ? [pairOf(by.handle, target.handle), pairOf(target.handle, by.handle)]
      : []
  ))

const relating = new Set([
  "Follow",
  "Unfollow",
  "RemoveFollower",
  "Block",
  "Unblock",
  "AuthorizeFollow",
  "RejectFollow"
])

/** Returns the follows that lasted through the whole run, without any command about them. */
export const lasting = ({ sentCommands, followed }: Aftermath) => {
  const touched = new Set(
    sentCommands.flatMap(({ by, command, target }) =>
      target !== undefined && relating.has(command._tag)
        ? [pairOf(by.handle, target.handle), pairOf(target.handle, by.handle)]
        : []
    )
  )
  return [...followed].filter((pair) => !touched.has(pair))
}

/** Returns true if an account at `host` followed the author through the whole run. */
const hasFollower = (aftermath: Aftermath, author: string, host: string) =>
  lasting(aftermath).some((pair) => {
    const [follower = "", followee] = pair.split(" ")
    return followee === author && hostOf(follower) === host
  })

const posts = (broken: Array<string>, aftermath: Aftermath, home: ServerState, there: ServerState) => {
  const blockedPairs = blockedPairsOf(aftermath.sentCommands)
  const copies = Map.groupBy(there.statuses, ({ uri }) => uri)
  const own = home.statuses.filter(({ local, reblogOf }) => local && reblogOf === null)
  for (const post of own) {
    const [copy, ...more] = copies.get(post.uri) ?? []
    if (more.length > 0) broken.push(`I7: ${there.host} has ${post.uri} ${more.length + 1} times`)
    const named = post.mentions.some((handle) =>
      hostOf(handle) === there.host && !blockedPairs.has(pairOf(handle, post.author))
    )
    const wanted = !post.deleted &&
      (named || (post.visibility !== "direct" && hasFollower(aftermath, post.author, there.host)))
    if (wanted && (copy === undefined || copy.deleted)) {
      broken.push(`I5: ${there.host} lacks ${post.uri} (${post.text})`)
    }
    if (copy === undefined || copy.deleted) continue
    if (post.deleted) {
      broken.push(`I10: ${there.host} still has ${post.uri} (${post.text})`)
    }
    if (!post.deleted) compareCopies(broken, post, copy, there.host, wanted)
  }
  const uris = new Set(own.map(({ uri }) => uri))
  for (const { author, deleted, reblogOf, uri } of there.statuses) {
    if (hostOf(author) === home.host && reblogOf === null && !deleted && !uris.has(uri)) {
      broken.push(`I7: ${there.host} has ${uri}, which does not exist`)
    }
  }
  for (const [handle, name] of home.names) {
    const copied = there.names.get(handle)
    if (
      hostOf(handle) === home.host && hasFollower(aftermath, handle, there.host) && copied !== name &&
      copied !== undefined
    ) {
      const own = name === "" ? handle.split("@")[0] : name
      if (copied !== own) broken.push(`I5: ${there.host} calls ${handle} ${copied}, not ${own}`)
    }
  }
}

const compareCopies = (broken: Array<string>, post: KnownStatus, copy: KnownStatus, host: string, wanted: boolean) => {
  // A copy from a lookup or boost gets no edits.
  if (wanted && copy.text !== post.text) broken.push(`I6: ${host} has ${post.uri} as ${copy.text}, not ${post.text}`)
  if (copy.visibility !== post.visibility) {
    broken.push(`I11: ${post.uri} is ${post.visibility}, ${copy.visibility} at ${host}`)
  }
  if (wanted && post.poll !== null && JSON.stringify(copy.poll) !== JSON.stringify(post.poll)) {
    broken.push(`I20: ${host} counts ${JSON.stringify(copy.poll)} in ${post.uri}, not ${JSON.stringify(post.poll)}`)
  }
}

/** Checks likes and votes by `home` on posts of `there`, and pins by `home` of its own posts. */
const reactions = (
  broken: Array<string>,
  sentCommands: ReadonlyArray<SentCommand>,
  home: ServerState,
  there: ServerState
) => {
  const about = (state: ServerState, kind: "favourites" | "votes") =>
    madeAt(home.host, state[kind]).filter((entry) => entry.split(" ")[1]?.startsWith(`https://${there.host}/`))
  const known = new Map(there.statuses.map((status) => [status.uri, status]))
  const copies = new Map(home.statuses.map((status) => [status.uri, status]))
  const blockedPairs = blockedPairsOf(sentCommands)
  const shows = ({ follows }: ServerState, post: KnownStatus | undefined, who: string) =>
    post !== undefined &&
    (post.visibility === "public" || post.visibility === "unlisted" || post.mentions.includes(who) ||
      (post.visibility === "private" && follows.has(pairOf(who, post.author))))
  // A block separates both accounts: reactions across it are dropped on arrival without notice; earlier ones stay. A
  // post may become hidden from an account, on either side, while its reaction is in flight.
  const isFor = (entry: string) => {
    const [who = "", uri = ""] = entry.split(" ")
    const post = known.get(uri)
    return (shows(there, post, who) || shows(home, copies.get(uri), who)) &&
      !blockedPairs.has(pairOf(who, post?.author ?? ""))
  }
  const compare = (what: string, kind: "favourites" | "votes") => {
    const others = about(there, kind)
    const own = about(home, kind).filter((entry) => known.get(entry.split(" ")[1] ?? "")?.deleted !== true)
    compareEntries(broken, what, own.filter((entry) => isFor(entry) || others.includes(entry)), others, there.host)
  }
  compare("I12: likes", "favourites")
  compare("I20: votes", "votes")
}

/** Checks that a report is at its own server and at the target's server, once on each. */
const flags = (
  broken: Array<string>,
  sentCommands: ReadonlyArray<SentCommand>,
  at: ReadonlyMap<string, ServerState>
) => {
  for (const { by, command, result, target } of sentCommands) {
    if (command._tag !== "Report" || target === undefined || typeof result === "string" || "error" in result) continue
    for (const host of new Set([hostOf(by.handle), hostOf(target.handle)])) {
      const times = at.get(host)?.reports.filter(({ what }) => what === `${target.handle} ${command.comment}`).length
      if (times !== 1) broken.push(`I7: ${host} has the report ${command.comment} ${times} times`)
    }
  }
}

/**
 * Checks that a boost that was not undone is at the post's server and at those of the booster's followers, and nowhere
 * else.
 */
const boosts = (broken: Array<string>, aftermath: Aftermath, at: ReadonlyMap<string, ServerState>) => {
  const blockedPairs = blockedPairsOf(aftermath.sentCommands)
  const originals = new Map(
    [...at.values()].flatMap(({ statuses }) =>
      statuses.flatMap((status) => status.local ? [[status.uri, status] as const] : [])
    )
  )
  const originalOf = (uri: string | null) => originals.get(uri ?? "")
  for (const home of at.values()) {
    const own = home.statuses.filter(({ deleted, local, reblogOf }) => local && reblogOf !== null && !deleted)
    for (const there of at.values()) {
      if (there === home) continue
      const others = there.statuses.filter(({ author, deleted, reblogOf }) =>
        hostOf(author) === home.host && reblogOf !== null && !deleted
      )
      for (const { author, reblogOf } of own) {
        const copies = others.filter((boost) => boost.author === author && boost.reblogOf === reblogOf)
        if (copies.length > 1) broken.push(`I7: ${there.host} has ${copies.length} boosts of ${reblogOf} by ${author}`)
        const original = originalOf(reblogOf)
        if (original === undefined || original.deleted) continue
        const concerned = hostOf(original.author) === there.host || hasFollower(aftermath, author, there.host)
        if (concerned && copies.length === 0 && !blockedPairs.has(pairOf(author, original.author))) {
          broken.push(`I5: ${there.host} lacks the boost of ${reblogOf} by ${author}`)
        }
      }
      for (const { author, reblogOf } of others) {
        if (!own.some((boost) => boost.author === author && boost.reblogOf === reblogOf)) {
          broken.push(`I10: ${there.host} has, without an original, a boost of ${reblogOf} by ${author}`)
        }
      }
    }
  }
}
