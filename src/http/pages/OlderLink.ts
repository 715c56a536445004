import { idMax } from "../../services/Ids.ts"
import { type Html, html } from "../html/Html.ts"
import type { PageReader } from "../html/Visitors.ts"

/** The cursor of a list on a page, from `max_id` of its address; a value that is no id means the newest. */
export const cursorOf = (text: string | null): bigint | undefined => {
  const id = text !== null && /^[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined
  return id === undefined || id > idMax ? undefined : id
}

/** The way to what is below the last one of a full list. */
export const older = ({ way, words }: PageReader, last: bigint | undefined): Html =>
  last === undefined
    ? html``
    : html`<p><a href="${way(`?max_id=${last}`)}" rel="next">${words.say("Older posts")}</a></p>`
