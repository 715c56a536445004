import { type Effect } from "effect"
import type { HostQueue } from "../../../services/federation/outbox/Queues.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type Backlog, backlogRowsMax } from "../../../services/metrics/Backlogs.ts"
import { inWords } from "../../../services/metrics/Sizes.ts"
import type { StorageFigures } from "../../../services/metrics/StorageFigures.ts"
import { type Html, html } from "../../html/Html.ts"
import { nothing, table } from "./Lists.ts"
import { share } from "./Plots.ts"
import { badge } from "./Texts.ts"

/** Work of one kind that waits longer than this, in milliseconds, is shown as late. */
const lateMillis = 60_000

const kinds: Readonly<Record<Backlog["kind"], (words: Messages) => string>> = {
  fanouts: ({ say }) => say("Telling followers"),
  agenda: ({ say }) => say("What is due at a time"),
  commands: ({ say }) => say("Commands from outside"),
  inbound: ({ say }) => say("Activities of other servers"),
  jobs: ({ say }) => say("Questions to other servers"),
  media: ({ say }) => say("Files to convert")
}

/** How long something waits, in words. */
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

/** What waits to be done by the actors, by kind. */
export const backlogs = (words: Messages, found: ReadonlyArray<Backlog>, now: number): Html => {
  const { say } = words
  return table(
    [say("Work"), say("Waiting"), say("Oldest")],
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
    say("Work that waits")
  )
}

/** Servers to which most waits. */
export const deliveries = (words: Messages, hosts: ReadonlyArray<HostQueue>, now: number): Html => {
  const { say } = words
  return hosts.length === 0
    ? nothing(say("Everything is delivered."))
    : table(
      [say("Server"), say("Waiting"), say("Oldest"), say("State")],
      hosts.map(({ error, host, oldestAt, pausedBy, waiting }) => [
        host,
        count(words, waiting),
        age(words, now - oldestAt.getTime()),
        html`${
          pausedBy === "operator"
            ? badge(say("Stopped"), "warn")
            : pausedBy === "failures"
            ? badge(say("Given up"), "bad")
            : ""
        } ${error === null ? "" : html`<span class="soft">${error.slice(0, 120)}</span>`}`
      ]),
      say("Deliveries that wait")
    )
}

/** What takes room, with its part of the whole. */
export const storage = (words: Messages, figures: Effect.Success<StorageFigures["Service"]["current"]>): Html => {
  const { figure, say } = words
  const { database, media, tables } = figures
  const files = [
    [say("Files of posts"), media.attachments],
    [say("Pictures of profiles"), media.profiles],
    [say("Emoji"), media.emoji],
    [say("Pictures of the server"), media.site],
    [say("Pictures of links"), media.cards],
    [say("Files of nobody yet"), media.waiting]
  ] as const
  const all = files.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  return html`<h3>${say("Files: {size}", { size: inWords(BigInt(all)) })}</h3>${
    table(
      [say("Kind"), say("Files"), say("Size")],
      files.map(([name, { bytes, files }]) => [
        name,
        figure(files),
        html`${inWords(BigInt(bytes))}${share(bytes, all)}`
      ]),
      say("Files")
    )
  }<h3>${say("Database: {size}", { size: inWords(database) })}</h3>${
    table(
      [say("Table"), say("Size")],
      tables.map(({ bytes, name }) => [name, html`${inWords(bytes)}${share(Number(bytes), Number(database))}`]),
      say("Largest tables")
    )
  }`
}
