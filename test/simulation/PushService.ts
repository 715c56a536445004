import { Effect, Layer } from "effect"
import { Pushes } from "../../src/services/intents/Pushes.ts"
import { Outbound, replySecondsMax } from "../../src/services/outbound/Outbound.ts"
import { Unreachable } from "../../src/services/outbound/OutboundError.ts"
import { PushContents } from "../../src/services/push/PushContents.ts"
import { PushMessages } from "../../src/services/push/PushMessages.ts"
import type { Machine } from "./Machine.ts"
import { Dice } from "./Seeded.ts"
import type { World } from "./World.ts"

/** Maximum duration of a message, and the time until which the service is faulty, in milliseconds. */
const delayMillisMax = 400
const faultyMillis = 30_000
/** Duration of a slow request or response, in milliseconds: almost half of a node's timeout. */
const slowMillis = replySecondsMax * 500 - delayMillisMax

/** A message that the push service received. */
export interface Received {
  readonly subscription: string
  readonly notificationId: bigint
  readonly at: number
  /** True if the server received the response. */
  readonly responded: boolean
}

/** Observations of the push service and of the nodes that send to it. */
export interface Phones {
  readonly received: Array<Received>
  /** Messages that had content when they were due, by phone and notification. */
  readonly tried: Set<string>
  /**
   * Current sender of each message, by phone and notification; `standstills` counts that machine's freezes at the
   * start.
   */
  readonly sending: Map<string, { readonly machine: Machine; readonly standstills: number }>
  /** Messages that the server completed, and when, in milliseconds since 1970. */
  readonly done: Map<string, number>
}

export const silent = (): Phones => ({ received: [], tried: new Set(), sending: new Map(), done: new Map() })

/** URL of a phone, by the number of its subscription. */
export const addressOf = (subscription: bigint | string) => `https://push.test/${subscription}`
export const keyOf = (subscription: bigint | string, notificationId: bigint) =>
  `${addressOf(subscription)} ${notificationId}`

const decoder = new TextDecoder()

const notificationIn = (body: Uint8Array) => BigInt(/"notification_id":(\d+)/.exec(decoder.decode(body))?.[1] ?? 0)

/** I24: no two live nodes send the same message at once. Returns a function that ends the sending. */
const begin = (world: World, machine: Machine, key: string) => {
  const { sending } = world.phones
  const other = sending.get(key)
  const runs = other !== undefined && !other.machine.dead && other.machine.standstills === other.standstills
  if (runs) world.wrong.push(`I24: ${key} is sent by ${other.machine.name} and ${machine.name} at the same time`)
  const own = { machine, standstills: machine.standstills }
  sending.set(key, own)
  return () => {
    if (sending.get(key) === own) sending.delete(key)
  }
}

/** Receives pushes; in some seeds it fails at first, or loses responses. */
const outbound = (world: World, machine: Machine) => {
  const { phones } = world
  const dice = new Dice(world.seed, `phones ${machine.name}`)
  const faults = new Dice(world.seed, "push service").pick([0, 0.3])
  /** In some seeds every tenth request and response is slow. */
  const slow = new Dice(world.seed, "slow push service").pick([0, 0.1])
  const millis = () =>
    world.time.elapsed < faultyMillis && dice.chance(slow) ? slowMillis : dice.between(1, delayMillisMax)
  const nobody = ({ url }: { readonly url: string }) => Effect.fail(new Unreachable({ url, reason: "name" }))
  const take = (url: string, body: Uint8Array, responded: boolean) => {
    phones.received.push({ subscription: url, notificationId: notificationIn(body), at: world.time.now, responded })
  }
  return Outbound.of({
    json: nobody,
    text: nobody,
    stream: nobody,
    post: Effect.fnUntraced(function*({ body, url }) {
      const end = begin(world, machine, `${url} ${notificationIn(body)}`)
      yield* Effect.sleep(millis())
      const fate = world.time.elapsed < faultyMillis && dice.chance(faults)
        ? dice.pick(["refused", "lost", "busy"] as const)
        : "taken"
      if (fate !== "taken") world.count(`push ${fate}`)
      if (fate === "lost" || fate === "taken") take(url, body, fate === "taken")
      yield* Effect.sleep(millis())
      end()
      if (fate === "lost" || fate === "refused") return yield* new Unreachable({ url, reason: "closed" })
      return { status: fate === "busy" ? 429 : 201, retryAfterSeconds: fate === "busy" ? 30 : undefined, text: "" }
    })
  })
}

const messages = PushMessages.of({
  message: (_, text) => Effect.succeed({ headers: {}, body: new TextEncoder().encode(text) })
})

/** Outbound client that reaches the push service. */
export const delay = (world: World, machine: Machine) =>
  Layer.mergeAll(Layer.succeed(Outbound, outbound(world, machine)), Layer.succeed(PushMessages, messages))

/** Push rows, observed by the run. */
export const pushes = (world: World) =>
  Layer.effect(
    Pushes,
    Effect.map(Pushes, (real) =>
      Pushes.of({
        ...real,
        complete: (push) =>
          Effect.tap(real.complete(push), () =>
            Effect.sync(() => {
              const key = keyOf(push.subscriptionId, push.notificationId)
              if (!world.phones.done.has(key)) world.phones.done.set(key, world.time.now)
            }))
      }))
  ).pipe(Layer.provide(Pushes.layer))

/** Push contents, observed by the run. I18: they never mention suspended accounts, nor reach them. */
export const contents = (world: World) =>
  Layer.effect(
    PushContents,
    Effect.map(PushContents, (real) =>
      PushContents.of({
        of: Effect.fnUntraced(function*(push) {
          const { accountId, notificationId, subscriptionId } = push
          const began = world.time.now
          const owner = world.suspensions.since(accountId, began)
          const found = yield* real.of(push)
          if (found !== undefined) world.phones.tried.add(keyOf(subscriptionId, notificationId))
          if (found !== undefined && owner !== undefined && world.suspensions.since(accountId, began) === owner) {
            world.wrong.push(`I18: the phone of the suspended ${accountId} got the push of ${notificationId}`)
          }
          return found
        })
      }))
  ).pipe(Layer.provide(PushContents.layerNoDeps))
