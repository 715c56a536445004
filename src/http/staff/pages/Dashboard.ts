import { Clock, Effect, Layer } from "effect"
import { Sharding } from "effect/cluster"
import { Queues } from "../../../services/federation/outbox/Queues.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { Backlogs } from "../../../services/metrics/Backlogs.ts"
import { Cohorts } from "../../../services/metrics/Cohorts.ts"
import { Measures } from "../../../services/metrics/Measures.ts"
import { NodeFigures } from "../../../services/metrics/NodeFigures.ts"
import { periodOf } from "../../../services/metrics/Period.ts"
import { StorageFigures } from "../../../services/metrics/StorageFigures.ts"
import { mayAny, type Permission } from "../../../services/staff/Permissions.ts"
import { type Waiting, waitingCountMax, WaitingWork } from "../../../services/staff/WaitingWork.ts"
import { type Html, html } from "../../html/Html.ts"
import { backlogs, deliveries, nodes } from "./parts/HealthSections.ts"
import { barChart } from "./parts/Plots.ts"
import { overBudget, storage } from "./parts/StorageSection.ts"
import { emptyList, table } from "./parts/Tables.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

/** Days of the charts, and months of the retention table. */
const days = 30
const months = 6
const dayMillis = 86_400_000
/** Maximum servers listed with pending deliveries. */
const hostsMax = 10

interface Tile {
  readonly kind: keyof Waiting
  readonly path: string
  readonly permissions: ReadonlyArray<Permission>
  readonly label: (words: Messages) => string
}

const tiles: ReadonlyArray<Tile> = [
  {
    kind: "reports",
    path: "/admin/reports",
    permissions: ["manageReports"],
    label: ({ say }) => say("open reports")
  },
  {
    kind: "signUps",
    path: "/admin/accounts?status=pending&origin=local",
    permissions: ["manageUsers"],
    label: ({ say }) => say("pending sign-ups")
  },
  {
    kind: "appeals",
    path: "/admin/appeals",
    permissions: ["manageAppeals"],
    label: ({ say }) => say("pending appeals")
  },
  {
    kind: "trends",
    path: "/admin/trends",
    permissions: ["manageTaxonomies"],
    label: ({ say }) => say("trends to review")
  },
  {
    kind: "suggestions",
    path: "/admin/moderation_suggestions",
    permissions: ["manageFederation"],
    label: ({ say }) => say("list suggestions")
  },
  {
    kind: "heldPosts",
    path: "/admin/held_posts",
    permissions: ["manageReports", "manageRules"],
    label: ({ say }) => say("held posts")
  }
]

const measured: ReadonlyArray<{ readonly key: string; readonly title: (words: Messages) => string }> = [
  { key: "new_users", title: ({ say }) => say("Sign-ups") },
  { key: "active_users", title: ({ say }) => say("Active users") },
  { key: "interactions", title: ({ say }) => say("Interactions") },
  { key: "opened_reports", title: ({ say }) => say("Reports") }
]

const make = Effect.gen(function*() {
  const backlogRows = yield* Backlogs
  const cohorts = yield* Cohorts
  const measures = yield* Measures
  const nodeFigures = yield* NodeFigures
  const queues = yield* Queues
  const sharding = yield* Sharding.Sharding
  const staff = yield* StaffPages
  const storageFigures = yield* StorageFigures
  const waiting = yield* WaitingWork

  /** Returns the state of the nodes, for staff who run them. */
  const health = Effect.fnUntraced(function*({ words: { say }, words }: Visit, now: number) {
    const found = yield* nodeFigures.list
    const hosts = (yield* Effect.orDie(queues.list)).toSorted((a, b) => b.waiting - a.waiting).slice(0, hostsMax)
    return html`${section(say("Nodes"), nodes(words, found, yield* sharding.activeEntityCount))}${
      section(say("Background work"), backlogs(words, yield* backlogRows.list, now))
    }${section(say("Pending deliveries"), deliveries(words, hosts, now))}${
      section(say("Storage"), storage(words, yield* storageFigures.current))
    }`
  })

  const activity = Effect.fnUntraced(function*({ words }: Visit, now: number) {
    const period = periodOf(new Date(now - (days - 1) * dayMillis), new Date(now))
    if (period === undefined) return html``
    const found = yield* Effect.forEach(
      measured,
      ({ key, title }) =>
        Effect.map(measures.of(key, period, {}), (measure) =>
          measure === undefined
            ? ""
            : html`<section class="card">${
              barChart(words, {
                title: title(words),
                points: measure.data.map(({ date, value }) => [words.day(date), Number(value)] as const)
              })
            }</section>`)
    )
    return html`${found}`
  })

  /** Returns the retention table: sign-ups by month, and their share active in later months. */
  const retentionTable = Effect.fnUntraced(function*({ words: { figure, month, say } }: Visit, now: number) {
    const period = periodOf(new Date(now - months * 30 * dayMillis), new Date(now))
    const found = period === undefined ? [] : yield* cohorts.of(period, "month")
    const came = found.filter(({ data }) => (data[0]?.value ?? 0) > 0)
    return section(
      say("Retention"),
      came.length === 0 ? emptyList(say("No sign-ups in these months.")) : table(
        [say("Signed up"), say("People"), say("Still active")],
        came.map(({ data, period }) => [
          month(period),
          figure(data[0]?.value ?? 0),
          data.map(({ rate }) => `${figure(Math.round(rate * 100))} %`).join(" → ")
        ]),
        say("Retention")
      )
    )
  })

  return staff.page({
    path: "/admin",
    permission: "viewDashboard",
    show: Effect.fnUntraced(function*(visit) {
      const now = yield* Clock.currentTimeMillis
      const { say } = visit.words
      return {
        title: say("Dashboard"),
        body: html`${visit.may("viewDevops") ? overBudget(visit, yield* storageFigures.current) : ""}${
          waits(visit, yield* waiting.counts)
        }<div class="columns"><div>${yield* activity(
          visit,
          now
        )}${yield* retentionTable(visit, now)}</div><div>${
          visit.may("viewDevops") ? yield* health(visit, now) : ""
        }</div></div>`
      }
    })
  })
})

const waits = ({ member, words }: Visit, counts: Waiting): Html => {
  const { figure } = words
  return html`<ul class="tiles">${
    tiles.filter(({ permissions }) => mayAny(member.permissions, permissions)).map(({ kind, label, path }) => {
      const count = counts[kind]
      return html`<li><a href="${path}"${count > 0 ? html` class="wait"` : ""}><strong>${
        count >= waitingCountMax ? `${figure(waitingCountMax)}+` : figure(count)
      }</strong> ${label(words)}</a></li>`
    })
  }</ul>`
}

/** Dashboard: work waiting for staff, server health and activity. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([
    Backlogs.layer,
    Cohorts.layer,
    Measures.layer,
    NodeFigures.layer,
    Queues.layer,
    StorageFigures.layer,
    WaitingWork.layer
  ])
)
