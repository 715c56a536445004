import { type Html, html } from "../../html/Html.ts"
import type { ShownStatus } from "./Text.ts"

/** Renders the preview of a link. */
export const cardOf = ({ card }: ShownStatus): Html =>
  card === null || !/^https?:/i.test(card.url)
    ? html``
    : html`<a class="card" href="${card.url}" rel="nofollow noopener">${
      card.image === null ? "" : html`<img src="${card.image}" alt="" loading="lazy">`
    }<span><strong dir="auto">${card.title}</strong>${
      card.description === "" ? "" : html`<span class="soft" dir="auto">${card.description.slice(0, 200)}</span>`
    }<span class="soft">${card.providerName || new URL(card.url).host}</span></span></a>`
