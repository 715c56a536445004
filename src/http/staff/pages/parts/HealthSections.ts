import type { Effect } from "effect"
import type { HostQueue } from "../../../../services/federation/outbox/Queues.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { type Backlog, backlogRowsMax } from "../../../../services/metrics/Backlogs.ts"
import type { NodeFigures } from "../../../../services/metrics/NodeFigures.ts"
import { type Html, html } from "../../../html/Html.ts"
import { emptyList, table } from "./Tables.ts"
import { badge, definitions } from "./Texts.ts"

/** Wait after which work is shown as late, in milliseconds. */
const lateMillis = 60_000

const kinds: Readonly<Record<Backlog["kind"], (words: Messages) => string>> = {
  fanouts: ({ say }) => say("Fan-out to followers"),
  agenda: ({ say }) => say("Timers"),
  commands: ({ say }) => say("Client commands"),
  inbound: ({ say }) => say("Inbound activities"),
  jobs: ({ say }) => say("Requests to other servers"),
  media: ({ say }) => say("Media processing")
}

/** Formats a wait in the largest fitting unit. */
const age = ({ say }: Messages, millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1_000))
  if (seconds < 120) return say("{seconds} s", { seconds })
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return say("{minutes} min", { minutes })
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? say("{hours} h", { hours }) : say("{days} d", { days: Math.floor(hours / 24) })
}

const count = ({ figure }: Messages, rows: number): string =>
  rows >= backlogRowsMax ? `${figure(backlogRowsMax)}+` : figure(rows)

/** Table of the actors' waiting work, by kind. */
export const backlogs = (words: Messages, found: ReadonlyArray<Backlog>, now: number): Html => {
  const { say } = words
  return table(
    [say("Work"), say("Pending"), say("Oldest")],
    found.map(({ kind, oldestAt, waiting }) => {
      const millis = oldestAt === null ? 0 : now - oldestAt.getTime()
      return [
        kinds[kind](words),
        count(words, waiting),
        oldestAt === null
          ? html`<span class="soft">–</span>`
          : millis > lateMillis
          ? badge(age(words, millis), "warn")
          : age(words, millis)
      ]
    }),
    say("Background work")
  )
}

/** Table of servers with pending deliveries. */
export const deliveries = (words: Messages, hosts: ReadonlyArray<HostQueue>, now: number): Html => {
  const { say } = words
  return hosts.length === 0
    ? emptyList(say("All deliveries are done."))
    : table(
      [say("Server"), say("Pending"), say("Oldest"), say("State")],
      hosts.map(({ error, host, oldestAt, pausedBy, waiting }) => [
        host,
        count(words, waiting),
        age(words, now - oldestAt.getTime()),
        html`${
          pausedBy === "operator"
            ? badge(say("Paused"), "warn")
            : pausedBy === "failures"
            ? badge(say("Failed"), "bad")
            : ""
        } ${error === null ? "" : html`<span class="soft">${error.slice(0, 120)}</span>`}`
      ]),
      say("Pending deliveries")
    )
}

/** Nodes of the cluster, with the actors and shards of each; for a single process only its actors. */
export const nodes = (
  { figure, say }: Messages,
  found: Effect.Success<NodeFigures["Service"]["list"]>,
  own: number
): Html => {
  if (found.length === 0) {
    return html`${definitions([[say("Active actors"), figure(own)]])}<p class="soft">${
      say("This server runs as a single node.")
    }</p>`
  }
  const figureOrDash = (value: number | null): Html | string =>
    value === null ? html`<span class="soft">–</span>` : figure(value)
  const sum = (of: "actors" | "shards") => found.reduce((all, node) => all + (node[of] ?? 0), 0)
  return html`${
    definitions([
      [say("Active actors"), figure(sum("actors"))],
      [say("Assigned shards"), figure(sum("shards"))]
    ])
  }${
    table(
      [say("Node"), say("State"), say("Actors"), say("Shards")],
      found.map(({ actors, address, healthy, shards }) => [
        address,
        healthy ? badge(say("responding"), "good") : badge(say("not responding"), "bad"),
        figureOrDash(actors),
        figureOrDash(shards)
      ]),
      say("Nodes")
    )
  }`
}
