import { Cause, Effect, Exit, Option } from "effect"
import type { Command } from "../../src/actors/account/Protocol.ts"
import { type AccountId, type MediaId, StatusId } from "../../src/services/Ids.ts"
import { post } from "../support/Posts.ts"
import type { Node } from "./Node.ts"
import { Dice } from "./Seeded.ts"
import type { Uploading } from "./Uploading.ts"
import type { World } from "./World.ts"

/** What a client knows of one command that it sent: the answer's id, an error's tag, or that it never heard. */
export interface Outcome {
  readonly account: AccountId
  readonly command: Command
  readonly key: string
  readonly result: { readonly id: string } | { readonly error: string } | "unknown"
  /** The client stopped waiting for an attempt before a node answered it, so that it may be done at any time. */
  readonly givenUp: boolean
}

/** How often a client sends a command again, with the same key, after an answer of 503. */
const attemptsMax = 12
/** The same at rest, and how long a client waits then, in milliseconds. */
const attemptsAtRestMax = 2
const restPatienceMillis = 6000
/** How long clients wait for an answer, in milliseconds, and before they try again. */
const patienceMillis = [6000, 6000, 2000, 300]
const pauseMillis = 1000
/** How often a client asks whether its file is ready. */
const readyAsksMax = 12
/** Commands begin within that many milliseconds. */
export const rushMillis = 6000

/** A status is scheduled that far ahead, in milliseconds. */
const aheadMillis = 5 * 60_000

/**
 * When the last part of a seed's commands begins, in milliseconds after the first: at once, but for some seeds, in which
 * actors are put away meanwhile, and scheduled statuses become due.
 */
export const lateMillis = (seed: number) => new Dice(seed, "length").chance(0.1) ? aheadMillis : 0

/** As it is kept under an id in the database. */
export const commandIdOf = ({ command, key }: Pick<Outcome, "command" | "key">) => `${command._tag}:${key}`

/** Clients of many accounts that post, follow, favourite, block, read and so on, through whichever node answers. */
export const make = (world: World, accounts: ReadonlyArray<AccountId>, nodes: ReadonlyArray<Node>) => {
  const outcomes: Array<Outcome> = []
  const givenUp = new Set<string>()
  const published: Array<{ readonly id: StatusId; readonly author: AccountId }> = []
  const late = lateMillis(world.seed)
  // Each seed does some things more often than others, and some not at all: what undoes a mistake hides it, too.
  const mix = new Dice(world.seed, "mix")
  const share = () => mix.pick([0, 0, 0.5, 2])
  const [changes, opinions, follows, aversions] = [share(), share(), share(), share()]
  const nameOf = (account: AccountId) => `p${accounts.indexOf(account)}`

  const draw = (dice: Dice, account: AccountId, n: number): Command => {
    const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
      _tag: "Publish",
      post: post(text, more)
    })
    const target = dice.pick(accounts.filter((other) => other !== account))
    const statusId = published.length === 0 ? undefined : dice.pick(published).id
    // What is undone was mostly done before, and what is deleted or edited mostly has replies, reblogs or favourites.
    const done = outcomes.filter(({ result }) => typeof result === "object" && "id" in result)
    const touched = new Set(
      done.flatMap(({ command }) => "statusId" in command ? command.statusId : inReplyTo(command))
    )
    const own = published.filter(({ author }) => author === account).map(({ id }) => id)
    const ownId = anyOf(dice, own.filter((id) => touched.has(id)), own.at(-1))
    const mineOf = (tag: Command["_tag"]) =>
      done.flatMap(({ account: who, command }) => who === account && command._tag === tag ? command : [])
    const statusOf = (tag: Command["_tag"]) =>
      anyOf(dice, mineOf(tag).flatMap((command) => "statusId" in command ? command.statusId : []), some.statusId)
    const targetOf = (tag: Command["_tag"]) =>
      anyOf(dice, mineOf(tag).flatMap((command) => "target" in command ? command.target : []), target)
    const whoDid = (tag: "Block" | "Follow") =>
      done.flatMap(({ account: who, command }) => command._tag === tag && command.target === account ? who : [])
    const asker = anyOf(dice, whoDid("Follow"), target)
    // Whoever is blocked follows all the same.
    const whom = { target: anyOf(dice, aversions > 0 ? whoDid("Block") : [], target) }
    const often = (tag: Command["_tag"]) => mineOf(tag).length > 0 ? 6 : 1
    const [onStatus, onOwn] = [statusId === undefined ? 0 : 1, ownId === undefined ? 0 : 1]
    const some = { statusId: statusId ?? StatusId.make(0n) }
    const mine = { statusId: ownId ?? StatusId.make(0n) }
    const seconds = dice.chance(0.5) ? 5 : 0
    return dice.weighted<Command>([
      [20, publish(`post ${n}`)],
      [6, publish(`tagged #birds ${n}`)],
      [10, publish(`hi @${nameOf(target)} ${n}`)],
      [4, publish(`quiet ${n}`, { visibility: "private" })],
      [4, publish(`psst @${nameOf(target)} ${n}`, { visibility: "direct" })],
      [6 * onStatus, publish(`re ${n}`, { inReplyToId: some.statusId })],
      [8 * opinions * onStatus, { _tag: "Favourite", ...some }],
      [often("Favourite") * opinions * onStatus, { _tag: "Unfavourite", statusId: statusOf("Favourite") }],
      [8 * opinions * onStatus, { _tag: "Reblog", ...some, visibility: null }],
      [often("Reblog") * opinions * onStatus, { _tag: "Unreblog", statusId: statusOf("Reblog") }],
      [5 * changes * onOwn, { _tag: "Delete", ...mine }],
      [4 * changes * onOwn, {
        _tag: "Edit",
        ...mine,
        text: `edited ${n}`,
        spoilerText: "",
        sensitive: null,
        language: null
      }],
      [2 * changes * onOwn, { _tag: "Pin", ...mine }],
      [late === 0 || n % 4 === 0 ? 0 : 8, {
        _tag: "Schedule",
        post: post(`later ${n}`),
        scheduledAt: world.time.now + aheadMillis + dice.between(2000, 8000)
      }],
      [8 * follows, { _tag: "Follow", ...whom, reblogs: dice.chance(0.8), notify: dice.chance(0.3), languages: null }],
      [4 * follows, { _tag: "Unfollow", target: targetOf("Follow") }],
      [2 * follows, { _tag: "AuthorizeFollow", target: asker }],
      [1 * follows, { _tag: "RejectFollow", target: asker }],
      [1 * follows, { _tag: "RemoveFollower", target: asker }],
      [2 * aversions, { _tag: "Block", target }],
      [often("Block") * aversions, { _tag: "Unblock", target: targetOf("Block") }],
      [3 * aversions, { _tag: "Mute", target, notifications: dice.chance(0.7), seconds }],
      [often("Mute") * aversions, { _tag: "Unmute", target: targetOf("Mute") }]
    ])
  }

  /** Asks through one node, as a client by HTTP; "unknown" is no answer in time, and every 503. */
  const ask = (
    node: Node,
    { account, command, key }: Pick<Outcome, "account" | "command" | "key">,
    duration: number
  ): Effect.Effect<Outcome["result"]> =>
    node.machine.on(world.outside)(node.accounts.tell(account, command, key)).pipe(
      Effect.map(({ id }): Outcome["result"] => ({ id })),
      Effect.catch((error) =>
        Effect.succeed<Outcome["result"]>(error._tag === "Unavailable" ? "unknown" : { error: error._tag })
      ),
      Effect.timeoutOrElse({
        duration,
        orElse: () =>
          Effect.sync((): Outcome["result"] => {
            givenUp.add(key)
            return "unknown"
          })
      }),
      Effect.catchCause((cause) => {
        world.wrong.push(`${key} was neither answered nor refused: ${Cause.pretty(cause)}`)
        return Effect.succeed<Outcome["result"]>("unknown")
      })
    )

  /** Asks, or asks two nodes at the same time, as a client does whose finger is quick; both must answer the same. */
  const askOnce = Effect.fnUntraced(function*(dice: Dice, asked: Pick<Outcome, "account" | "command" | "key">) {
    if (nodes.length === 0) return "unknown"
    const chosen = dice.chance(0.15) ? [dice.pick(nodes), dice.pick(nodes)] : [dice.pick(nodes)]
    const results = yield* Effect.forEach(chosen, (node) => ask(node, asked, dice.pick(patienceMillis)), {
      concurrency: "unbounded"
    })
    const known = results.filter((result) => result !== "unknown")
    const ids = new Set(known.map((result) => "id" in result ? result.id : undefined))
    if (ids.size > 1 && !ids.has(undefined)) world.wrong.push(`I2: ${asked.key} was answered ${[...ids].join(" and ")}`)
    return known.find((result) => "id" in result) ?? known[0] ?? "unknown"
  })

  /** A post gets files in some seeds: uploaded through any node, and given to it when they are ready, or not at all. */
  const withFiles = Effect.fnUntraced(function*(dice: Dice, account: AccountId, command: Command) {
    if (!world.media || command._tag !== "Publish" || !dice.chance(0.7)) return command
    const mediaIds: Array<MediaId> = []
    for (let file = dice.between(1, 3); file > 0; file--) {
      const id = yield* onAnyNode(dice, ({ upload }) => upload(account))
      if (id === undefined) continue
      world.count("media uploaded")
      for (let asked = 0; asked < readyAsksMax; asked++) {
        const isReady = yield* onAnyNode(dice, (uploading) => uploading.isReady(account, id))
        if (isReady === true) mediaIds.push(id)
        if (isReady === true || dice.chance(0.1)) break
        yield* Effect.sleep(pauseMillis)
      }
    }
    return mediaIds.length === 0 ? command : { ...command, post: { ...command.post, mediaIds } }
  })

  const onAnyNode = Effect.fnUntraced(
    function*<A, E>(dice: Dice, ask: (uploading: Uploading) => Effect.Effect<A, E>) {
      if (nodes.length === 0) return undefined
      const { machine, uploading } = dice.pick(nodes)
      if (uploading === undefined) return undefined
      return yield* machine.on(world.outside)(ask(uploading)).pipe(
        Effect.timeoutOption(dice.pick(patienceMillis)),
        Effect.exit,
        Effect.map((exit) => Exit.isSuccess(exit) ? Option.getOrUndefined(exit.value) : undefined)
      )
    }
  )

  /** One command of one client, sent until somebody answers; now and then the client reads its home, too. */
  const send = Effect.fnUntraced(function*(n: number) {
    const dice = new Dice(world.seed, `command ${n}`)
    yield* Effect.sleep(dice.between(0, rushMillis) + (n % 4 === 0 ? late : 0))
    const account = dice.pick(accounts)
    const command = draw(dice, account, n)
    const asked = { account, command: yield* withFiles(dice, account, command), key: `k${n}` }
    world.say(`${nameOf(account)} sends ${describe(asked)}`)
    let result: Outcome["result"] = "unknown"
    for (let attempt = 0; attempt < attemptsMax && result === "unknown"; attempt++) {
      result = yield* askOnce(dice, asked)
      if (result === "unknown") yield* Effect.sleep(pauseMillis)
    }
    world.say(
      `${nameOf(account)} hears of ${asked.key}: ${typeof result === "string" ? result : Object.values(result)}`
    )
    outcomes.push({ ...asked, result, givenUp: givenUp.has(asked.key) })
    if (command._tag === "Publish" && typeof result === "object" && "id" in result) {
      published.push({ id: StatusId.make(BigInt(result.id)), author: account })
    }
    if (nodes.length === 0 || dice.chance(0.5)) return
    const node = dice.pick(nodes)
    yield* node.machine.on(world.outside)(node.homes.page(account, { limit: 1 })).pipe(
      Effect.timeoutOption(dice.pick(patienceMillis)),
      Effect.exit
    )
  })
  /** Sends a command once more, at rest, when hardly a 503 may be heard: who just lost the account gives one. */
  const askAgain = Effect.fnUntraced(function*(node: Node, asked: Outcome) {
    let later: Outcome["result"] = "unknown"
    for (let attempt = 0; attempt < attemptsAtRestMax && later === "unknown"; attempt++) {
      if (attempt > 0) yield* Effect.sleep(pauseMillis)
      later = yield* ask(node, asked, restPatienceMillis)
    }
    return { ...asked, later }
  })
  return { send, askAgain, outcomes }
}

const inReplyTo = (command: Command) => command._tag === "Publish" ? command.post.inReplyToId ?? [] : []

/** One of the items, three times of four where there is any; else `fallback`. */
const anyOf = <A, B>(dice: Dice, items: ReadonlyArray<A>, fallback: B) =>
  items.length > 0 && dice.chance(0.75) ? dice.pick(items) : fallback

const describe = ({ command, key }: { readonly command: Command; readonly key: string }) => {
  const { _tag, ...rest } = command
  const details = "post" in rest
    ? Object.entries(rest.post).filter(([, value]) => value !== null && value !== "").map(([name, value]) =>
      `${name} ${value}`
    )
    : Object.entries(rest).filter(([, value]) => value !== null && value !== "").map(([name, value]) =>
      `${name} ${value}`
    )
  return `${key} ${_tag}: ${details.join(", ")}`
}
