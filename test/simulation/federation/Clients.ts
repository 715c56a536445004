import { Cause, Effect } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { AccountId, StatusId } from "../../../src/services/database/Ids.ts"
import { inputOf } from "../../../src/services/statuses/Post.ts"
import { visibleTo } from "../../../src/services/statuses/Visibility.ts"
import { post } from "../../support/Posts.ts"
import { Dice } from "../Seeded.ts"
import { describe } from "./CommandText.ts"
import * as FollowUps from "./FollowUps.ts"
import type { Process, SimulatedServer } from "./SimulatedInstance.ts"
import type { Universe } from "./Universe.ts"

/** A user of one of the servers. */
export interface User {
  readonly site: SimulatedServer
  readonly id: AccountId
  readonly name: string
  /** `name@host`, known to all servers. */
  readonly handle: string
  readonly locked: boolean
}

/** A command that a client sent, described by global names. */
export interface SentCommand {
  readonly n: number
  readonly by: User
  readonly command: Command
  /** Target of the command. */
  readonly target: User | undefined
  readonly mentions: ReadonlyArray<User>
  /** The id in the response, an error's tag, or no response. */
  readonly result: { readonly id: string } | { readonly error: string } | "unknown"
}

/** Maximum attempts of a command with the same key, and the pause between them, in milliseconds. */
const attemptsMax = 40
const pauseMillis = 1_500
const timeoutMillis = 6_000
/** Duration of the phase in which commands start, in milliseconds. */
export const rushMillis = 30_000
/** First number of follow-up commands, and the maximum delay before one, in milliseconds. */
const followUpNumber = 100
const followUpMillisMax = 20
/** Maximum statuses that a client sees. */
const seenMax = 6
const pollSeconds = 3_600

interface Seen {
  readonly id: bigint
  readonly accountId: bigint
  readonly visibility: "public" | "unlisted" | "private" | "direct"
  readonly poll: boolean
  readonly favourited: boolean
  readonly reblogged: boolean
}

/** Sends a client's request to its own server, wherever that runs; "unknown" means a timeout. */
export const ask = <A, E>(
  universe: Universe,
  site: SimulatedServer,
  asked: (process: Process) => Effect.Effect<A, E>
) =>
  Effect.suspend((): Effect.Effect<A | "unknown", E> => {
    const { process } = site
    if (process === undefined) return Effect.succeed("unknown")
    return process.machine.on(universe.outside)(asked(process)).pipe(
      Effect.timeoutOrElse({ duration: timeoutMillis, orElse: () => Effect.succeed("unknown" as const) })
    )
  })

/** Returns the account as the citizen's own server knows it, looked up by handle if needed. */
export const known = Effect.fnUntraced(function*(universe: Universe, by: User, other: User) {
  if (other.site === by.site) return other.id
  const [row] = yield* by.site.sql<{ id: bigint }>`SELECT id FROM accounts
    WHERE username = ${other.name} AND domain = ${other.site.host}`
  if (row !== undefined) return AccountId.make(row.id)
  const found = yield* ask(universe, by.site, ({ lookup }) => lookup.resolve(by.id, `@${other.handle}`)).pipe(
    // Requests during a database outage get 503.
    Effect.catchCause((cause) =>
      isSqlError(Cause.squash(cause)) ? Effect.succeed("unknown" as const) : Effect.failCause(cause)
    )
  )
  return found === "unknown" || found?.kind !== "account" ? undefined : AccountId.make(found.id)
})

/** Simulates the clients of all users on all servers. */
export const make = (universe: Universe, users: ReadonlyArray<User>) => {
  const sentCommands: Array<SentCommand> = []
  // Each seed does some things more often than others, and some not at all: undoing can hide a fault.
  const mix = new Dice(universe.seed, "mix")
  const share = () => mix.pick([0, 1, 1, 4])
  const [changes, reactions, follows, aversions] = [share(), share(), share(), mix.pick([0, 0, 1])]
  const repeatShare = mix.pick([0, 0.5])

  const readVisibleStatuses = Effect.fnUntraced(function*({ id, site: { sql } }: User) {
    return yield* sql<Seen>`SELECT s.id, s.account_id, s.visibility, p.status_id IS NOT NULL AS poll,
        EXISTS (SELECT FROM favourites f WHERE f.status_id = s.id AND f.account_id = ${id}) AS favourited,
        EXISTS (SELECT FROM statuses r WHERE r.reblog_of_id = s.id AND r.account_id = ${id} AND r.deleted_at IS NULL) AS reblogged
      FROM statuses s LEFT JOIN polls p ON p.status_id = s.id
      WHERE s.reblog_of_id IS NULL AND ${visibleTo(sql, id, "s")} ORDER BY s.id DESC LIMIT ${seenMax}`
  })

  const draw = Effect.fnUntraced(function*(dice: Dice, by: User, n: number) {
    const other = dice.pick(users.filter((user) => user !== by))
    const seen = yield* readVisibleStatuses(by)
    const one = (of: ReadonlyArray<Seen>) => of.length === 0 ? undefined : StatusId.make(dice.pick(of).id)
    const mine = one(seen.filter(({ accountId }) => accountId === by.id))
    const any = seen.length === 0 ? undefined : dice.pick(seen)
    const open = one(seen.filter(({ visibility }) => visibility === "public" || visibility === "unlisted"))
    const poll = one(seen.filter((status) => status.poll && status.accountId !== by.id))
    const [liked, shared] = [one(seen.filter((s) => s.favourited)), one(seen.filter((s) => s.reblogged))]
    const asking = by.locked
      ? yield* by.site.sql<{ handle: string }>`SELECT a.username || '@' || coalesce(a.domain, ${by.site.host}) AS handle
          FROM follow_requests f JOIN accounts a ON a.id = f.account_id WHERE f.target_account_id = ${by.id}`
      : []
    const asker = users.find(({ handle }) => handle === asking[0]?.handle)
    const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
      _tag: "Publish",
      post: post(`post-${n}. ${text}`, more)
    })
    type Choice = readonly [number, { readonly to: User; readonly does: (target: AccountId) => Command } | Command]
    const to = (does: (target: AccountId) => Command) => ({ to: other, does })
    const when = <A>(value: A | undefined, weight: number, what: (value: A) => Choice[1]): ReadonlyArray<Choice> =>
      value === undefined ? [] : [[weight, what(value)]]
    return dice.weighted<Choice[1]>([
      [10, publish("hello")],
      [3, publish("quietly", { visibility: "unlisted" })],
      [6, publish("for followers", { visibility: "private" })],
      [
        3,
        publish("what?", {
          poll: { options: ["x", "y", "z"], seconds: pollSeconds, multiple: false, hideTotals: false }
        })
      ],
      [5, to(() => publish(`hi @${other.handle}`))],
      [5, to(() => publish(`psst @${other.handle}`, { visibility: "direct" }))],
      ...when(any, 7, ({ id, visibility }) => publish("re", { inReplyToId: StatusId.make(id), visibility })),
      ...when(poll, 9, (statusId) => ({ _tag: "Vote", statusId, choices: [dice.between(0, 3)] })),
      ...when(mine, 7 * changes, (statusId) => ({
        _tag: "Edit",
        statusId,
        text: `post-${n}. edited`,
        ...inputOf({})
      })),
      ...when(mine, 6 * changes, (statusId) => ({ _tag: "Delete", statusId })),
      ...when(mine, 2 * changes, (statusId) => ({ _tag: dice.chance(0.7) ? "Pin" : "Unpin", statusId })),
      [2 * changes, { _tag: "UpdateProfile", change: { displayName: `name-${n}` } }],
      ...when(any, 8 * reactions, ({ id }) => ({ _tag: "Favourite", statusId: StatusId.make(id) })),
      ...when(liked, 6 * reactions, (statusId) => ({ _tag: "Unfavourite", statusId })),
      ...when(open, 8 * reactions, (statusId) => ({ _tag: "Reblog", statusId, visibility: null })),
      ...when(shared, 6 * reactions, (statusId) => ({ _tag: "Unreblog", statusId })),
      [5 * follows, to((target) => ({ _tag: "Follow", target, reblogs: null, notify: null, languages: null }))],
      [4 * follows, to((target) => ({ _tag: "Unfollow", target }))],
      [1 * follows, to((target) => ({ _tag: "RemoveFollower", target }))],
      ...when(asker, 10, (to) => {
        const _tag = dice.chance(0.7) ? "AuthorizeFollow" : "RejectFollow"
        return { to, does: (target) => ({ _tag, target }) }
      }),
      // Reports about remote accounts reach another server.
      [
        1.5,
        to((target) => ({
          _tag: "Report",
          target,
          category: "spam",
          comment: `report-${n}.`,
          statusIds: [],
          ruleIds: [],
          forward: other.site !== by.site,
          forwardDomains: []
        }))
      ],
      [2 * aversions, to((target) => ({ _tag: "Block", target }))],
      [3 * aversions, to((target) => ({ _tag: "Unblock", target }))]
    ])
  })

  /** Sends a command until it gets a response. */
  const tell = Effect.fnUntraced(function*(n: number, by: User, command: Command) {
    let result: SentCommand["result"] = "unknown"
    for (let attempt = 0; attempt < attemptsMax && result === "unknown"; attempt++) {
      if (attempt > 0) yield* Effect.sleep(pauseMillis)
      result = yield* ask(universe, by.site, ({ actors }) => actors.tell(by.id, command, `k${n}`)).pipe(
        Effect.map((response): SentCommand["result"] => response === "unknown" ? response : { id: response.id }),
        Effect.catch((error) =>
          Effect.succeed<SentCommand["result"]>(error._tag === "Unavailable" ? "unknown" : { error: error._tag })
        ),
        Effect.catchCause((cause) => {
          universe.wrong.push(`command ${n} got neither a response nor a refusal: ${Cause.pretty(cause)}`)
          return Effect.succeed<SentCommand["result"]>("unknown")
        })
      )
    }
    return result
  })

  /** Runs commands about another user, who may have to be looked up first. */
  const lookUp = Effect.fnUntraced(function*(by: User, other: User) {
    let target = yield* known(universe, by, other)
    for (let attempt = 0; attempt < 3 && target === undefined; attempt++) {
      yield* Effect.sleep(pauseMillis)
      target = yield* known(universe, by, other)
    }
    return target
  })

  const follow = Effect.fnUntraced(function*(n: number, by: User, other: User) {
    const target = yield* lookUp(by, other)
    if (target === undefined) return
    yield* tell(n, by, { _tag: "Follow", target, reblogs: null, notify: null, languages: null })
  })

  const send = Effect.fnUntraced(function*(n: number) {
    const dice = new Dice(universe.seed, `command ${n}`)
    yield* Effect.sleep(dice.between(0, rushMillis))
    const by = dice.pick(users)
    const drawn = yield* draw(dice, by, n)
    const other = "does" in drawn ? drawn.to : undefined
    const target = other === undefined ? undefined : yield* lookUp(by, other)
    if ("does" in drawn && target === undefined) return universe.say(`${by.handle} does not find ${other?.handle}`)
    const command = "does" in drawn ? drawn.does(target ?? by.id) : drawn
    universe.say(`${by.handle} sends ${n} ${describe(command)}${other === undefined ? "" : ` to ${other.handle}`}`)
    const result = yield* tell(n, by, command)
    universe.say(
      `${by.handle} gets the response to ${n}: ${typeof result === "string" ? result : Object.values(result)}`
    )
    const isPost = command._tag === "Publish"
    sentCommands.push({
      n,
      by,
      command,
      target: isPost ? undefined : other,
      mentions: isPost && other !== undefined ? [other] : [],
      result
    })
    if (typeof result === "string" || !("id" in result)) return
    const others = users.filter((one) => one !== by)
    const then = FollowUps.draw(dice, { changes, repeatShare, others }, { n, command, id: result.id })
    if (then === undefined) return
    yield* Effect.sleep(dice.between(0, followUpMillisMax))
    universe.say(`${by.handle} sends ${n} ${describe(then.command)} at once`)
    const changed = yield* tell(followUpNumber + n, by, then.command)
    sentCommands.push({ ...then, n: followUpNumber + n, by, target: isPost ? undefined : other, result: changed })
  })
  return { sentCommands, follow, send, tell }
}
