import { Effect, Layer, Random, Schedule } from "effect"
import { contentsOf, type FeedEntry, type FeedKey, Feeds } from "../../services/feeds/Feeds.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Redis } from "../Redis.ts"
import * as FeedLists from "./FeedLists.ts"
import * as MissedFeeds from "./MissedFeeds.ts"

/** Interval at which pending drops are retried, and at which dead nodes with pending drops are looked for. */
const repairPeriod = "250 millis"
const inheritPeriod = "10 seconds"

/**
 * Feeds as lists in Redis, for a cluster (see `FeedLists`). Writes never fail and, while Redis is down, never wait: a
 * feed that missed an entry or a drop is remembered, and this node does not use it. It is dropped for all nodes as soon
 * as Redis is back, and its owner's next read rebuilds it from Postgres. If this node dies before that, its note in
 * Postgres makes another node drop all feeds.
 */
export const layer = Layer.effect(
  Feeds,
  Effect.gen(function*() {
    const lists = FeedLists.make(yield* Redis)
    const missed = yield* MissedFeeds.make(lists)
    yield* Effect.forkScoped(Effect.repeat(missed.repair, Schedule.spaced(repairPeriod)))
    yield* Effect.forkScoped(Effect.repeat(missed.inherit, Schedule.spaced(inheritPeriod)))

    /** Runs each slice separately: a failed one is remembered, the others are done. */
    const each = (
      feeds: ReadonlyArray<FeedKey>,
      work: (slice: ReadonlyArray<FeedKey>) => ReturnType<typeof lists.drop>
    ) =>
      Effect.forEach(
        FeedLists.slices(feeds),
        (slice) => Effect.catch(work(slice), () => missed.remember(slice)),
        { concurrency: FeedLists.callsMax, discard: true }
      )

    return Feeds.of({
      push: traced("Feeds.push")((feeds: ReadonlyArray<FeedKey>, entry: FeedEntry) =>
        each(feeds, (slice) => lists.push(slice, entry))
      ),
      read: traced("Feeds.read")(function*(feed) {
        if (missed.mayBeStale(feed)) return undefined
        const list = yield* lists.read(feed)
        // A list that is not a feed is dropped, like a feed that missed an entry.
        if (list === undefined) yield* missed.remember([feed])
        // Asked again, because the entry may have been missed while Redis was responding.
        return list === undefined || missed.mayBeStale(feed) ? undefined : contentsOf(list.entries, list.filled)
      }, Effect.orElseSucceed(() => undefined)),
      begin: traced("Feeds.begin")(function*(feed) {
        const fresh = `${yield* Random.nextInt}-${yield* Random.nextInt}`
        // A generation that Redis did not store is never found again, so nothing is kept.
        return yield* Effect.orElseSucceed(lists.begin(feed, fresh), () => fresh)
      }),
      fill: traced("Feeds.fill")((feed, entries, since) =>
        missed.mayBeStale(feed) ? Effect.void : Effect.ignore(lists.fill(feed, entries, since))
      ),
      drop: traced("Feeds.drop")((feeds) => each(feeds, lists.drop))
    })
  })
)
