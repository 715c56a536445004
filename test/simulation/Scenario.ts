import { Cause, Effect, Exit, Option } from "effect"
import type { Command } from "../../src/actors/account/Protocol.ts"
import { type AccountId, type MediaId, StatusId } from "../../src/services/Ids.ts"
import { StoodStill } from "../../src/services/StoodStill.ts"
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
  /** When nodes took it for the client, each time that they did, in milliseconds since 1970. */
  readonly askedAt: ReadonlyArray<number>
}

/** A status that clients know of. */
export interface Published {
  readonly id: StatusId
  readonly author: AccountId
}

/** What clients know when they choose what to do. */
export interface Known {
  readonly world: World
  readonly accounts: ReadonlyArray<AccountId>
  readonly outcomes: ReadonlyArray<Outcome>
  readonly published: ReadonlyArray<Published>
}

/** What the clients of a run do: command `n` comes after so many milliseconds, from this account, and is this. */
export interface Plan {
  readonly waits: (dice: Dice, n: number) => number
  readonly who: (dice: Dice, n: number) => AccountId
  readonly draw: (dice: Dice, account: AccountId, n: number) => Command
}

/** How often a client sends a command again, with the same key, after an answer of 503. */
const attemptsMax = 12
/** The same at rest, and how long a client waits then, in milliseconds. */
const attemptsAtRestMax = 2
const restPatienceMillis = 6000
/** How long clients wait for an answer, in milliseconds, and before they try again. */
const patienceMillis = [6000, 6000, 2000, 300]
const pauseMillis = 1000
/** Of clients, how many ask once. */
const hastyShare = 0.25
/** How often a client asks whether its file is ready. */
const readyAsksMax = 12
/** As it is kept under an id in the database. */
export const commandIdOf = ({ command, key }: Pick<Outcome, "command" | "key">) => `${command._tag}:${key}`

/** Clients of many accounts that post, follow, favourite, block, read and so on, through whichever node answers. */
export const make = (
  world: World,
  accounts: ReadonlyArray<AccountId>,
  nodes: ReadonlyArray<Node>,
  drawing: (known: Known) => Plan
) => {
  const outcomes: Array<Outcome> = []
  const givenUp = new Set<string>()
  const asked = new Map<string, Array<number>>()
  const timesOf = (key: string) => {
    const times = asked.get(key) ?? []
    asked.set(key, times)
    return times
  }
  const published: Array<Published> = []
  const plan = drawing({ world, accounts, outcomes, published })
  const nameOf = (account: AccountId) => `p${accounts.indexOf(account)}`

  /** Asks through one node, as a client by HTTP; "unknown" is no answer in time, and every 503. */
  const ask = (
    node: Node,
    { account, command, key }: Pick<Outcome, "account" | "command" | "key">,
    duration: number
  ): Effect.Effect<Outcome["result"]> =>
    node.machine.on(world.outside)(Effect.suspend(() => {
      timesOf(key).push(world.time.now)
      const before = node.machine.standstills
      const stoodStill = () => node.machine.standstills > before
      return Effect.provideService(node.actors.tell(account, command, key), StoodStill, stoodStill)
    })).pipe(
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
    yield* Effect.sleep(plan.waits(dice, n))
    const account = plan.who(dice, n)
    const command = plan.draw(dice, account, n)
    const request = { account, command: yield* withFiles(dice, account, command), key: `k${n}` }
    world.say(`${nameOf(account)} sends ${describe(request)}`)
    const heard = world.suspensions.sent(account, request.command)
    let result: Outcome["result"] = "unknown"
    // Some clients ask once, and believe that nothing was done where they are told to come back.
    const attempts = new Dice(world.seed, `patience ${n}`).chance(hastyShare) ? 1 : attemptsMax
    for (let attempt = 0; attempt < attempts && result === "unknown"; attempt++) {
      result = yield* askOnce(dice, request)
      if (result === "unknown") yield* Effect.sleep(pauseMillis)
    }
    world.say(
      `${nameOf(account)} hears of ${request.key}: ${typeof result === "string" ? result : Object.values(result)}`
    )
    heard(result, timesOf(request.key).length, world.time.now)
    outcomes.push({ ...request, result, givenUp: givenUp.has(request.key), askedAt: timesOf(request.key) })
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
