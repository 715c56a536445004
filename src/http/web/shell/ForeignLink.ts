import { isUrl } from "../../../services/discovery/LocalUrls.ts"
import { type Html, html } from "../../html/Html.ts"

/**
 * Renders a link to a URL that another server may have given; only the text unless the URL is http or https (row 14).
 */
export const foreignLink = (url: string | null, text: Html | string): Html =>
  url === null || !isUrl(url)
    ? html`<span dir="auto">${text}</span>`
    : html`<a href="${url}" rel="nofollow noopener" dir="auto">${text}</a>`
