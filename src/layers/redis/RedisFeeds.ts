import { Effect, Layer, Random, Schedule } from "effect"
import { contentsOf, type FeedEntry, Feeds } from "../../services/feeds/Feeds.ts"
import type { AccountId } from "../../services/Ids.ts"
import { traced } from "../../services/Traced.ts"
import { Redis } from "../Redis.ts"
import * as FeedLists from "./FeedLists.ts"
import * as MissedFeeds from "./MissedFeeds.ts"

/** How often feeds that missed something are tried to be dropped, and a node is looked for that died owing that. */
const repairPeriod = "250 millis"
const inheritPeriod = "10 seconds"

/**
 * Feeds as lists in Redis, for a cluster (see `FeedLists`). Writing never fails and, while Redis is away, never waits: a
 * feed that missed an entry or should have been dropped is remembered, unknown on this node from then on, and dropped
 * on all nodes as soon as Redis is back, so that its owner's next read rebuilds it from Postgres. Should this node die
 * before that, its note in Postgres has another one drop all feeds.
 */
export const layer = Layer.effect(
  Feeds,
  Effect.gen(function*() {
    const lists = FeedLists.make(yield* Redis)
    const missed = yield* MissedFeeds.make(lists)
    yield* Effect.forkScoped(Effect.repeat(missed.repair, Schedule.spaced(repairPeriod)))
    yield* Effect.forkScoped(Effect.repeat(missed.inherit, Schedule.spaced(inheritPeriod)))

    /** Every slice by itself: one that fails is remembered, the others are done. */
    const each = (
      accounts: ReadonlyArray<AccountId>,
      work: (slice: ReadonlyArray<AccountId>) => ReturnType<typeof lists.drop>
    ) =>
      Effect.forEach(
        FeedLists.slices(accounts),
        (slice) => Effect.catch(work(slice), () => missed.remember(slice)),
        { concurrency: FeedLists.callsMax, discard: true }
      )

    return Feeds.of({
      push: traced("Feeds.push")((accounts: ReadonlyArray<AccountId>, entry: FeedEntry) =>
        each(accounts, (slice) => lists.push(slice, entry))
      ),
      read: traced("Feeds.read")(function*(account) {
        if (missed.has(account)) return undefined
        const list = yield* lists.read(account)
        // Asked again, because the entry may have been missed while Redis was answering.
        return missed.has(account) ? undefined : contentsOf(list.entries, list.filled)
      }, Effect.orElseSucceed(() => undefined)),
      begin: traced("Feeds.begin")(function*(account) {
        const fresh = `${yield* Random.nextInt}-${yield* Random.nextInt}`
        // What Redis did not take is not found again, so that nothing is kept.
        return yield* Effect.orElseSucceed(lists.begin(account, fresh), () => fresh)
      }),
      fill: traced("Feeds.fill")((account, entries, since) =>
        missed.has(account) ? Effect.void : Effect.ignore(lists.fill(account, entries, since))
      ),
      drop: traced("Feeds.drop")((accounts) => each(accounts, lists.drop))
    })
  })
)
