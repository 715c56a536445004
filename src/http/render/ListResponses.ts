import type { Page } from "../../services/database/Paging.ts"
import * as Reply from "../guard/Reply.ts"
import type { JsonList } from "../wire/Keys.ts"
import * as Paging from "./PageLinks.ts"

/**
 * Responds with a page of a list: serialised items, and a `Link` header from the rows that were read (S-122, S-128).
 */
export const page = <Row, Wire>(options: {
  readonly baseUrl: string
  readonly path: string
  readonly page: Page
  readonly rows: ReadonlyArray<Row>
  /** Returns the id by which the list is paged. */
  readonly cursor: (row: Row) => bigint
  readonly items: JsonList<Wire>
  /** Parameters of the request that links keep. */
  readonly keep?: Parameters<typeof Paging.link>[4]
  readonly back?: "min_id" | "since_id"
  /** True if every page that is not empty has a `next` link, not only full ones. */
  readonly always?: boolean
  readonly status?: number
}) =>
  Reply.list(
    options.items,
    Paging.link(
      options.baseUrl,
      options.path,
      Paging.endsOf(options.page, options.rows, options.cursor, options.always === true ? "always" : "full"),
      options.page.limit,
      options.keep,
      options.back
    ),
    options.status
  )

/** Returns one parameter of a request, for its links. */
export const keptOne = (url: string, name: string): Record<string, string> => {
  const [value] = Object.values(linkParameters(url, [name])).flat()
  return value === undefined ? {} : { [name]: value }
}

/** Parses ids, without duplicates; invalid ones are left out. */
export const idsOf = (texts: ReadonlyArray<string> | undefined): ReadonlyArray<bigint> => [
  ...new Set((texts ?? []).flatMap((text) => /^[0-9]{1,18}$/.test(text) ? [BigInt(text)] : []))
]

/** Returns the parameters of a request in `names`, for its links. */
export const linkParameters = (
  url: string,
  names: ReadonlyArray<string>
): Record<string, string | ReadonlyArray<string>> => {
  const at = url.indexOf("?")
  const given = new URLSearchParams(at === -1 ? "" : url.slice(at))
  return Object.fromEntries(names.flatMap((name) => {
    const [first, ...more] = given.getAll(name)
    return first === undefined ? [] : [[name, more.length === 0 ? first : [first, ...more]]]
  }))
}
