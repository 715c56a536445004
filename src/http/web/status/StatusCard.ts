import { type Html, html } from "../../html/Html.ts"
import type { Values } from "../../wire/Keys.ts"
import type { PreviewCard } from "../../wire/PreviewCard.ts"
import type { ShownStatus } from "./StatusText.ts"

type ShownCard = Pick<Values<PreviewCard>, "description" | "image" | "providerName" | "title" | "url">

/** Renders a preview card; empty unless its URL is http or https. */
export const previewOf = ({ description, image, providerName, title, url }: ShownCard): Html =>
  !/^https?:/i.test(url) || !URL.canParse(url)
    ? html``
    : html`<a class="card" href="${url}" rel="nofollow noopener">${
      image === null ? "" : html`<img src="${image}" alt="" loading="lazy">`
    }<span><strong dir="auto">${title}</strong>${
      description === "" ? "" : html`<span class="soft" dir="auto">${description.slice(0, 200)}</span>`
    }<span class="soft">${providerName || new URL(url).host}</span></span></a>`

/** Renders the preview of a status's link. */
export const cardOf = ({ card }: ShownStatus): Html => card === null ? html`` : previewOf(card)
