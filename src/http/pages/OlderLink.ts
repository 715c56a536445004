import { idMax } from "../../services/database/Ids.ts"
import { type Html, html } from "../html/Html.ts"
import type { PageReader } from "../html/Visitors.ts"

/** Parses the cursor `max_id` of a page's list; an invalid value means the newest entries. */
export const cursorOf = (text: string | null): bigint | undefined => {
  const id = text !== null && /^[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax ? undefined : id
}

/** Renders the link to older posts, if the list is full. */
export const older = ({ way, words }: PageReader, last: bigint | undefined): Html =>
  last === undefined
    ? html``
    : html`<p><a href="${way(`?max_id=${last}`)}" rel="next">${words.say("Older posts")}</a></p>`
