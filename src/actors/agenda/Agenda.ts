import { type Duration, Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { AnnouncementWriter } from "../../services/announcements/AnnouncementWriter.ts"
import { AnnualReports } from "../../services/annual/AnnualReports.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { DomainEnforcement } from "../../services/federation/domains/DomainEnforcement.ts"
import { InboundActivities } from "../../services/federation/inbox/InboundActivities.ts"
import { InboundRetention } from "../../services/federation/inbox/InboundRetention.ts"
import { QuoteConsents } from "../../services/federation/inbox/QuoteConsents.ts"
import { Deliveries } from "../../services/federation/outbox/Deliveries.ts"
import { Purges } from "../../services/federation/purge/Purges.ts"
import { AgendaEntries } from "../../services/intents/AgendaEntries.ts"
import { Commands } from "../../services/intents/Commands.ts"
import { Fanouts } from "../../services/intents/Fanouts.ts"
import { OperatorCommands } from "../../services/intents/OperatorCommands.ts"
import { Retention } from "../../services/intents/Retention.ts"
import { repeated } from "../../services/runtime/Repeated.ts"
import { StatusIndex } from "../../services/search/StatusIndex.ts"
import { TrendRefresh } from "../../services/trends/TrendRefresh.ts"
import { AccountActors } from "../account/core/AccountActors.ts"
import { DomainActors } from "../domain/DomainActors.ts"

/** Maximum accounts that a sweep wakes, of each kind. */
const wakesMax = 500
/** Maximum hosts that a sweep checks. */
const hostsMax = 2_000
/** Maximum rows of old data that a sweep deletes from each table. */
const sweepRowsMax = 5_000
/** Maximum steps of applying domain rules to accounts, per run. */
const domainStepsMax = 50
/** Maximum steps of indexing posts, per run. */
const indexStepsMax = 20
/** Age from which an intent counts as left behind by a dead node, in milliseconds. */
const staleMillis = 5_000

/**
 * The agenda, a singleton of the cluster. Wakes the owners of due entries and of work that a dead node left behind, and
 * runs periodic sweeps. Two of them for a moment do no harm, because the work itself is in rows; a missed row is found
 * a second later.
 */
export const layer = Singleton.make(
  "Agenda",
  Effect.gen(function*() {
    const actors = yield* AccountActors
    const agenda = yield* AgendaEntries
    const announcements = yield* AnnouncementWriter
    const annualReports = yield* AnnualReports
    const commands = yield* Commands
    const deliveries = yield* Deliveries
    const domainActors = yield* DomainActors
    const purges = yield* Purges
    const domainEnforcement = yield* DomainEnforcement
    const fanouts = yield* Fanouts
    const inbound = yield* InboundActivities
    const inboundRetention = yield* InboundRetention
    const operatorCommands = yield* OperatorCommands
    const retention = yield* Retention
    const consents = yield* QuoteConsents
    const statusIndex = yield* StatusIndex
    const trends = yield* TrendRefresh

    const wake = (owners: ReadonlyArray<AccountId>) => Effect.forEach(owners, actors.wake, { discard: true })
    const due = Effect.flatMap(agenda.due(wakesMax), wake)
    const dueFanouts = Effect.flatMap(fanouts.due(staleMillis, wakesMax), wake)
    const runOperatorCommands = Effect.flatMap(operatorCommands.due(wakesMax), wake)
    const dueInbound = Effect.flatMap(
      inbound.due(wakesMax),
      (senders) => Effect.forEach(senders, actors.receive, { discard: true })
    )
    let lastHost = 0
    const toDeliver = Effect.gen(function*() {
      const { hosts, last } = yield* deliveries.due(lastHost, hostsMax)
      lastHost = last ?? 0
      yield* domainActors.wake(hosts)
    })
    const ofDomains = Effect.repeat(domainEnforcement.step, {
      until: (done) => !done,
      times: domainStepsMax - 1,
      // Other work runs in between.
      schedule: Schedule.spaced("10 millis")
    })
    const indexed = Effect.repeat(statusIndex.step, {
      until: (more) => !more,
      times: indexStepsMax - 1,
      schedule: Schedule.spaced("10 millis")
    })
    const forget = Effect.all([
      commands.sweep(sweepRowsMax),
      inbound.sweep(sweepRowsMax),
      inboundRetention.sweep(sweepRowsMax),
      deliveries.sweep(sweepRowsMax),
      purges.sweep(sweepRowsMax)
    ], { discard: true })

    const every = <A, E>(period: Duration.Input, name: string, work: Effect.Effect<A, E>) =>
      repeated(period, `the agenda's ${name}`, Effect.withSpan(work, `Agenda.${name}`))
    return yield* Effect.all([
      // Failed entries may succeed with the new version of the program.
      Effect.retry(agenda.requeue, Schedule.spaced("1 second")),
      every("1 second", "due", due),
      every("1 second", "outside", runOperatorCommands),
      every("5 seconds", "leftBehind", dueFanouts),
      every("1 second", "fromElsewhere", dueInbound),
      every("5 seconds", "toDeliver", toDeliver),
      every("1 second", "domains", ofDomains),
      every("5 seconds", "annualReports", annualReports.sweep),
      every("5 seconds", "announcements", announcements.sweep),
      every("1 second", "index", indexed),
      every("1 minute", "forget", forget),
      every("1 hour", "annualReportsDue", annualReports.prepare),
      every("10 minutes", "quotes", consents.sweep),
      every("1 hour", "retention", retention.sweep),
      every("1 minute", "trends", trends.run)
    ], { concurrency: "unbounded", discard: true })
  })
)
