import { Clock, Effect, Metric, Random, Semaphore } from "effect"
import { Deliveries, type Delivery, type Postponed } from "../../services/federation/outbox/Deliveries.ts"
import { Hosts } from "../../services/federation/outbox/Hosts.ts"
import { delayMillis, lowTriesMax, triesMax } from "../../services/federation/outbox/Retries.ts"
import * as Attempt from "./Attempt.ts"
import * as Line from "./Line.ts"

/** How long after its beginning a round begins new requests, in milliseconds; what it took is its own for longer. */
const beginMillisMax = 20_000

/** Hosts of a node that ask the database at once: a post to thousands of them leaves it to people. */
const turnsMax = 4

const deliveriesMade = Metric.counter("murmuration_deliveries", { description: "Deliveries tried, by outcome" })

interface Done {
  readonly delivery: Delivery
  readonly verdict: Attempt.Verdict
}

/** Works off what is due for one host, a bounded part of it at a time. */
export const make = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const hosts = yield* Hosts
  const attempt = yield* Attempt.make
  const turns = yield* Semaphore.make(turnsMax)

  /** When it is tried again; undefined after the last try. */
  const again = Effect.fnUntraced(function*(line: Line.Line, { low, tries }: Delivery, now: number) {
    if (tries >= (low ? lowTriesMax : triesMax)) return undefined
    return Math.max(line.restsUntil, now + delayMillis(tries, yield* Random.next))
  })

  /** Writes down what came of a round. Whatever ends it, it is known what was taken. */
  const note = Effect.fnUntraced(
    function*(
      line: Line.Line,
      claimed: ReadonlyArray<Delivery>,
      begun: ReadonlySet<Delivery>,
      done: ReadonlyArray<Done>
    ) {
      const now = yield* Clock.currentTimeMillis
      const over: Array<Delivery> = []
      const failed: Array<Postponed> = []
      for (const { delivery, verdict } of done) {
        yield* Metric.update(Metric.withAttributes(deliveriesMade, { outcome: verdict._tag }), 1)
        if (verdict._tag === "Gone") yield* deliveries.goneInbox(delivery.inboxId)
        const dueAt = verdict._tag === "Failed" ? yield* again(line, delivery, now) : undefined
        if (verdict._tag === "Failed" && dueAt !== undefined) failed.push({ ...delivery, dueAt, error: verdict.why })
        else over.push(delivery)
      }
      const known = new Set(done.map(({ delivery }) => delivery))
      // Nobody knows what the host made of these; it hears of them again, and knows their ids.
      const unknown = claimed.filter((delivery) => begun.has(delivery) && !known.has(delivery))
      for (const delivery of unknown) failed.push({ ...delivery, dueAt: now, error: "given up" })
      yield* deliveries.finish(over)
      yield* deliveries.postpone(failed)
      yield* deliveries.release(claimed.filter((delivery) => !begun.has(delivery)), Math.max(now, line.restsUntil))
      yield* health(line, done, now)
    }
  )

  const health = Effect.fnUntraced(function*(line: Line.Line, done: ReadonlyArray<Done>, now: number) {
    const taken = done.findLast(({ verdict }) => verdict._tag === "Taken")
    if (taken !== undefined && taken.verdict._tag === "Taken") {
      const { scheme } = taken.verdict
      if (taken.delivery.troubled || taken.delivery.scheme !== scheme || line.failedDay >= 0) {
        line.failedDay = -1
        yield* hosts.succeeded(line.host, scheme)
      }
      return
    }
    const bad = done.findLast(({ verdict }) => verdict._tag === "Failed")
    const day = Math.floor(now / 86_400_000)
    if (bad === undefined || bad.verdict._tag !== "Failed" || line.failedDay === day) return
    line.failedDay = day
    yield* hosts.failed(line.host, bad.verdict.why)
  })

  const react = (line: Line.Line, verdict: Attempt.Verdict, now: number) => {
    if (verdict._tag !== "Failed") return Line.succeeded(line)
    if (verdict.down) Line.failed(line, now)
    if (verdict.waitSeconds !== undefined) Line.rest(line, now + verdict.waitSeconds * 1_000)
  }

  /** Answers whether there may be more to do now. */
  return Effect.fnUntraced(function*(line: Line.Line) {
    const began = yield* Clock.currentTimeMillis
    if (began < line.restsUntil) return false
    const slots = Line.slots(line)
    const taken = yield* turns.withPermit(deliveries.claim(line.host, Line.rows(line)))
    // In the order of what happened, as far as that is possible for several at once.
    const claimed = taken.toSorted((a, b) => a.activityId < b.activityId ? -1 : 1)
    if (claimed.length === 0) return false
    const begun = new Set<Delivery>()
    const done: Array<Done> = []
    const work = Effect.fnUntraced(function*(delivery: Delivery) {
      const now = yield* Clock.currentTimeMillis
      if (now < line.restsUntil || now - began > beginMillisMax) return
      begun.add(delivery)
      const verdict = yield* attempt(delivery)
      done.push({ delivery, verdict })
      react(line, verdict, yield* Clock.currentTimeMillis)
    })
    yield* Effect.forEach(claimed, work, { concurrency: slots, discard: true }).pipe(
      Effect.ensuring(
        turns.withPermit(Effect.suspend(() => note(line, claimed, begun, done))).pipe(
          Effect.catchCause((cause) => Effect.logWarning("what was delivered could not be noted", cause))
        )
      )
    )
    return true
  })
})
