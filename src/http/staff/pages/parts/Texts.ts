import type { Messages } from "../../../../services/languages/Messages.ts"
import { type Html, html } from "../../../html/Html.ts"

/** Returns a time in UTC, as the server does not know the reader's time zone. */
export const moment = (words: Messages, date: Date | null | undefined): Html =>
  date === null || date === undefined
    ? html`<span class="soft">–</span>`
    : html`<time datetime="${date.toISOString()}">${words.moment(date)}</time>`

type Tone = "plain" | "good" | "warn" | "bad"

/** Returns a short label for a state. */
export const badge = (text: string, tone: Tone = "plain"): Html => html`<span class="badge ${tone}">${text}</span>`

/** Returns a definition list; undefined values are left out. */
export const definitions = (entries: ReadonlyArray<readonly [name: string, value: Html | string | undefined]>): Html =>
  html`<dl class="about">${
    entries.flatMap(([name, value]) => value === undefined ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>`])
  }</dl>`

/** Returns a titled section of a page. */
export const section = (title: string, content: Html): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`

/** Returns text that a user wrote, with its line breaks. */
export const userText = (text: string): Html => html`<p class="written" dir="auto">${text}</p>`

interface Named {
  readonly username: string
  readonly domain: string | null
}

export const handleOf = ({ domain, username }: Named): string =>
  domain === null ? `@${username}` : `@${username}@${domain}`
