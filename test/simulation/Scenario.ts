import { Cause, Effect, Exit, Option } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import { type AccountId, type MediaId, StatusId } from "../../src/services/database/Ids.ts"
import { ProcessStalled } from "../../src/services/runtime/StoodStill.ts"
import type { MediaUploads } from "./MediaUploads.ts"
import type { Node } from "./Node.ts"
import { Dice } from "./Seeded.ts"
import type { World } from "./World.ts"

/** Outcome of a command as its client knows it: the id in the response, an error's tag, or unknown. */
export interface Outcome {
  readonly account: AccountId
  readonly command: Command
  readonly key: string
  readonly result: { readonly id: string } | { readonly error: string } | "unknown"
  /** True if the client timed out on an attempt, so that the command may be executed at any time. */
  readonly timedOut: boolean
  /** Times at which nodes accepted the client's attempts, in milliseconds since 1970. */
  readonly askedAt: ReadonlyArray<number>
}

/** A status that clients know. */
export interface Published {
  readonly id: StatusId
  readonly author: AccountId
}

/** Knowledge of clients when they choose a command. */
export interface Known {
  readonly world: World
  readonly accounts: ReadonlyArray<AccountId>
  readonly outcomes: ReadonlyArray<Outcome>
  readonly published: ReadonlyArray<Published>
}

/** Plan of the clients: the delay, account and content of command `n`. */
export interface Plan {
  readonly waits: (dice: Dice, n: number) => number
  readonly who: (dice: Dice, n: number) => AccountId
  readonly draw: (dice: Dice, account: AccountId, n: number) => Command
}

/** Maximum attempts of a command with the same key after 503. */
const attemptsMax = 12
/** Maximum attempts at rest, and the client's timeout then, in milliseconds. */
const attemptsAtRestMax = 2
const restTimeoutMillis = 6000
/** Client timeouts, and the pause between attempts, in milliseconds. */
const timeoutMillis = [6000, 6000, 2000, 300]
const pauseMillis = 1000
/** Share of clients that try only once. */
const singleTryShare = 0.25
/** Maximum polls of a client for its upload. */
const readyPollsMax = 12
/** Returns the id under which the database stores the command. */
export const commandIdOf = ({ command, key }: Pick<Outcome, "command" | "key">) => `${command._tag}:${key}`

/**
 * Simulates clients of many accounts that post, follow, favourite, block, read and so on, through any responding node.
 */
export const make = (
  world: World,
  accounts: ReadonlyArray<AccountId>,
  nodes: ReadonlyArray<Node>,
  makePlan: (known: Known) => Plan
) => {
  const outcomes: Array<Outcome> = []
  const timedOut = new Set<string>()
  const asked = new Map<string, Array<number>>()
  const timesOf = (key: string) => {
    const times = asked.get(key) ?? []
    asked.set(key, times)
    return times
  }
  const published: Array<Published> = []
  const plan = makePlan({ world, accounts, outcomes, published })
  const nameOf = (account: AccountId) => `p${accounts.indexOf(account)}`

  /** Sends a command to one node like an HTTP client; "unknown" means a timeout or a 503. */
  const ask = (
    node: Node,
    { account, command, key }: Pick<Outcome, "account" | "command" | "key">,
    duration: number
  ): Effect.Effect<Outcome["result"]> =>
    node.machine.on(world.outside)(Effect.suspend(() => {
      timesOf(key).push(world.time.now)
      const before = node.machine.standstills
      const stoodStill = () => node.machine.standstills > before
      return Effect.provideService(node.actors.tell(account, command, key), ProcessStalled, stoodStill)
    })).pipe(
      Effect.map(({ id }): Outcome["result"] => ({ id })),
      Effect.catch((error) =>
        Effect.succeed<Outcome["result"]>(error._tag === "Unavailable" ? "unknown" : { error: error._tag })
      ),
      Effect.timeoutOrElse({
        duration,
        orElse: () =>
          Effect.sync((): Outcome["result"] => {
            timedOut.add(key)
            return "unknown"
          })
      }),
      Effect.catchCause((cause) => {
        world.wrong.push(`${key} got neither a response nor a refusal: ${Cause.pretty(cause)}`)
        return Effect.succeed<Outcome["result"]>("unknown")
      })
    )

  /** Sends a command, sometimes to two nodes at once, like a double click; both must give the same result. */
  const sendOnce = Effect.fnUntraced(function*(dice: Dice, asked: Pick<Outcome, "account" | "command" | "key">) {
    if (nodes.length === 0) return "unknown"
    const chosen = dice.chance(0.15) ? [dice.pick(nodes), dice.pick(nodes)] : [dice.pick(nodes)]
    const results = yield* Effect.forEach(chosen, (node) => ask(node, asked, dice.pick(timeoutMillis)), {
      concurrency: "unbounded"
    })
    const known = results.filter((result) => result !== "unknown")
    const ids = new Set(known.map((result) => "id" in result ? result.id : undefined))
    if (ids.size > 1 && !ids.has(undefined)) {
      world.wrong.push(`I2: ${asked.key} got the responses ${[...ids].join(" and ")}`)
    }
    return known.find((result) => "id" in result) ?? known[0] ?? "unknown"
  })

  /** In some seeds attaches files to a post: uploaded through any node, and attached when ready, or never. */
  const withFiles = Effect.fnUntraced(function*(dice: Dice, account: AccountId, command: Command) {
    if (!world.media || command._tag !== "Publish" || !dice.chance(0.7)) return command
    const mediaIds: Array<MediaId> = []
    for (let file = dice.between(1, 3); file > 0; file--) {
      const id = yield* onAnyNode(dice, ({ upload }) => upload(account))
      if (id === undefined) continue
      world.count("media uploaded")
      for (let asked = 0; asked < readyPollsMax; asked++) {
        const isReady = yield* onAnyNode(dice, (uploading) => uploading.isReady(account, id))
        if (isReady === true) mediaIds.push(id)
        if (isReady === true || dice.chance(0.1)) break
        yield* Effect.sleep(pauseMillis)
      }
    }
    return mediaIds.length === 0 ? command : { ...command, post: { ...command.post, mediaIds } }
  })

  const onAnyNode = Effect.fnUntraced(
    function*<A, E>(dice: Dice, ask: (uploading: MediaUploads) => Effect.Effect<A, E>) {
      if (nodes.length === 0) return undefined
      const { machine, uploading } = dice.pick(nodes)
      if (uploading === undefined) return undefined
      return yield* machine.on(world.outside)(ask(uploading)).pipe(
        Effect.timeoutOption(dice.pick(timeoutMillis)),
        Effect.exit,
        Effect.map((exit) => Exit.isSuccess(exit) ? Option.getOrUndefined(exit.value) : undefined)
      )
    }
  )

  /** Sends one command of one client until it gets a response; sometimes the client also reads its home. */
  const send = Effect.fnUntraced(function*(n: number) {
    const dice = new Dice(world.seed, `command ${n}`)
    yield* Effect.sleep(plan.waits(dice, n))
    const account = plan.who(dice, n)
    const command = plan.draw(dice, account, n)
    const request = { account, command: yield* withFiles(dice, account, command), key: `k${n}` }
    world.say(`${nameOf(account)} sends ${describe(request)}`)
    const recordSuspension = world.suspensions.sent(account, request.command)
    let result: Outcome["result"] = "unknown"
    // Some clients try once, and take a 503 to mean that nothing was done.
    const attempts = new Dice(world.seed, `patience ${n}`).chance(singleTryShare) ? 1 : attemptsMax
    for (let attempt = 0; attempt < attempts && result === "unknown"; attempt++) {
      result = yield* sendOnce(dice, request)
      if (result === "unknown") yield* Effect.sleep(pauseMillis)
    }
    world.say(
      `${nameOf(account)} gets the response to ${request.key}: ${
        typeof result === "string" ? result : Object.values(result)
      }`
    )
    recordSuspension(result, timesOf(request.key).length, world.time.now)
    outcomes.push({ ...request, result, timedOut: timedOut.has(request.key), askedAt: timesOf(request.key) })
    if (command._tag === "Publish" && typeof result === "object" && "id" in result) {
      published.push({ id: StatusId.make(BigInt(result.id)), author: account })
    }
    if (nodes.length === 0 || dice.chance(0.5)) return
    const node = dice.pick(nodes)
    yield* node.machine.on(world.outside)(node.homes.page(account, { limit: 1 })).pipe(
      Effect.timeoutOption(dice.pick(timeoutMillis)),
      Effect.exit
    )
  })
  /** Repeats a command at rest. A 503 is rare then: only a node that has just lost the account returns one. */
  const repeat = Effect.fnUntraced(function*(node: Node, asked: Outcome) {
    let later: Outcome["result"] = "unknown"
    for (let attempt = 0; attempt < attemptsAtRestMax && later === "unknown"; attempt++) {
      if (attempt > 0) yield* Effect.sleep(pauseMillis)
      later = yield* ask(node, asked, restTimeoutMillis)
    }
    return { ...asked, later }
  })
  return { send, repeat, outcomes }
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
