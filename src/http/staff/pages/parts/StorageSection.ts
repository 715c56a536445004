import type { Effect } from "effect"
import { type BudgetKind, budgetKinds } from "../../../../services/instance/StorageBudgets.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { formatBytes } from "../../../../services/metrics/Sizes.ts"
import type { StorageFigures } from "../../../../services/metrics/StorageFigures.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import { usageBar } from "./Plots.ts"
import { table } from "./Tables.ts"
import { badge } from "./Texts.ts"

type Figures = Effect.Success<StorageFigures["Service"]["current"]>

/** Part of a budget above which staff is warned. */
const warningShare = 0.9

/** Labels of storage budgets. */
export const budgetNames: Readonly<Record<BudgetKind, (words: Messages) => string>> = {
  attachments: ({ say }) => say("Media of posts"),
  profiles: ({ say }) => say("Avatars and headers"),
  emoji: ({ say }) => say("Emoji"),
  cards: ({ say }) => say("Preview card images"),
  database: ({ say }) => say("Database")
}

const taken = ({ database, media }: Figures, kind: BudgetKind): number =>
  kind === "database" ? Number(database) : media[kind].bytes

const inBytes = (bytes: number): string => formatBytes(BigInt(Math.round(bytes)))

/** Returns the used part of a budget as text and bar; the bar shows the part of `all` if there is no budget. */
const used = ({ figure, say }: Messages, bytes: number, budget: number | undefined, all: number): Html => {
  if (budget === undefined) return html`${inBytes(bytes)}${usageBar(bytes, all)}`
  const part = say("{part}% of {budget}", {
    part: figure(Math.floor(bytes / budget * 100)),
    budget: inBytes(budget)
  })
  return html`${inBytes(bytes)} <span class="soft">${part}</span>${
    bytes > budget
      ? html` ${badge(say("Over budget"), "bad")}`
      : bytes > warningShare * budget
      ? html` ${badge(say("Nearly full"), "warn")}`
      : ""
  }${usageBar(bytes, budget)}`
}

/** Warning about exceeded budgets, at the top of the dashboard. */
export const overBudget = ({ may, words }: Visit, figures: Figures): Html => {
  const passed = budgetKinds.filter((kind) => {
    const budget = figures.budgets[kind]
    return budget !== undefined && taken(figures, kind) > budget
  })
  return passed.length === 0 ?
    html`` :
    html`<div class="problem" role="status"><p>${
      words.say("Storage is over budget: {kinds}. Nothing is removed because of this.", {
        kinds: words.list(passed.map((kind) => budgetNames[kind](words)))
      })
    }${
      may("manageSettings") ? html` <a href="/admin/settings/budgets">${words.say("Change budgets")}</a>` : ""
    }</p></div>`
}

/** Storage by kind, as part of its budget, or of the total if it has no budget. */
export const storage = (words: Messages, figures: Figures): Html => {
  const { figure, say } = words
  const { budgets, copies, database, media, tables } = figures
  const files = [
    [say("Media of posts"), media.attachments, budgets.attachments],
    [say("Avatars and headers"), media.profiles, budgets.profiles],
    [say("Emoji"), media.emoji, budgets.emoji],
    [say("Preview card images"), media.cards, budgets.cards],
    [say("Server images"), media.site, undefined],
    [say("Unattached uploads"), media.waiting, undefined]
  ] as const
  const all = files.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  return html`<h3>${say("Media: {size}", { size: inBytes(all) })}</h3>${
    table(
      [say("Kind"), say("Files"), say("Size")],
      [
        ...files.map(([name, { bytes, files }, budget]) => [name, figure(files), used(words, bytes, budget, all)]),
        [
          say("Cached remote media, on this node"),
          figure(copies.files),
          used(words, copies.bytes, copies.bytesMax === 0 ? undefined : copies.bytesMax, copies.bytes)
        ]
      ],
      say("Files")
    )
  }<h3>${say("Database: {size}", { size: formatBytes(database) })}</h3>${
    budgets.database === undefined ? "" : html`<p>${used(words, Number(database), budgets.database, 0)}</p>`
  }<details><summary>${say("Largest tables")}</summary>${
    table(
      [say("Table"), say("Size")],
      tables.map(({ bytes, name }) => [name, html`${formatBytes(bytes)}${usageBar(Number(bytes), Number(database))}`]),
      say("Largest tables")
    )
  }</details>`
}
