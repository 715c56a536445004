import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { DomainActors } from "../../../src/actors/domain/DomainActors.ts"
import * as DomainEntity from "../../../src/actors/domain/DomainEntity.ts"
import * as Cluster from "../../../src/layers/Cluster.ts"
import { Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { type Arrived, layerRounds, Outside, receiver, send, sender, waiting } from "./Rounds.ts"

const actors = DomainEntity.layer.pipe(
  Layer.provideMerge(DomainActors.layer),
  Layer.provide(Cluster.layerSingle),
  Layer.provideMerge(layerRounds)
)
const [dead, well] = ["dead.test", "well.test"]
const isAt = (host: string) => ({ url }: Arrived) => new URL(url).host === host

/** Wakes the hosts with due deliveries, like the agenda every five seconds. */
const sweep = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const domainActors = yield* DomainActors
  yield* domainActors.wake((yield* deliveries.due(0, 100)).hosts)
})

layer(Layer.fresh(actors))("F11, F12: a host that is dead for an hour", (it) => {
  it.effect(
    "gets everything of that hour once it is back, in order, nothing twice; another host had no delay",
    () =>
      Effect.gen(function*() {
        const outside = yield* Outside
        const domainActors = yield* DomainActors
        // The runner acquires its shards.
        yield* TestClock.adjust("2 seconds")
        const [from, toDead, toWell] = [yield* sender, yield* receiver(dead), yield* receiver(well)]
        let isDead = true
        // Packets to the dead host are lost, so that each attempt takes the maximum time.
        outside.says = (arrived) =>
          isDead && isAt(dead)(arrived) ? Effect.delay(Effect.succeed("unreachable"), "15 seconds") : 202

        const told: Array<string> = []
        const late: Array<number> = []
        const tell = Effect.fnUntraced(function*(about: bigint, what: string) {
          const uri = `${what} ${about}`
          told.push(uri)
          const now = yield* Clock.currentTimeMillis
          const hosts = [
            ...(yield* send(from, toDead, uri, { about })),
            ...(yield* send(from, toWell, uri, { about }))
          ]
          yield* domainActors.wake(hosts)
          const isThere = (one: Arrived) => isAt(well)(one) && one.uri === uri
          // The delivery to the other host arrives without any passage of time.
          yield* Effect.repeat(waiting, { until: () => outside.arrived.some(isThere) })
          late.push((outside.arrived.find(isThere)?.at ?? 0) - now)
        })
        const pass = Effect.fnUntraced(function*(seconds: number) {
          for (let passed = 0; passed < seconds; passed += 5) {
            yield* sweep
            yield* TestClock.adjust("5 seconds")
          }
        })
        for (let minute = 1; minute <= 60; minute++) {
          yield* tell(BigInt(minute), "create")
          if (minute > 1) yield* tell(BigInt(minute - 1), "update")
          yield* pass(60)
        }
        assert.isTrue(late.every((millis) => millis === 0), late.join())
        const tried = outside.arrived.filter(isAt(dead)).length
        // Backs off to one request per minute.
        assert.isBelow(tried, 90)

        isDead = false
        const backAt = yield* Clock.currentTimeMillis
        while ((yield* waiting).length > 0) yield* pass(5)
        const arrived = outside.arrived.filter(isAt(dead)).slice(tried).map(({ uri }) => uri)
        assert.sameMembers(arrived, told)
        for (let minute = 1; minute < 60; minute++) {
          assert.isBelow(arrived.indexOf(`create ${minute}`), arrived.indexOf(`update ${minute}`))
        }
        assert.lengthOf(outside.arrived.filter(isAt(well)), told.length)
        const seconds = ((yield* Clock.currentTimeMillis) - backAt) / 1_000
        console.log(
          `${told.length} deliveries of an hour; ${tried} tries meanwhile; all there ${seconds} s after its end`
        )
      })
  )
})
