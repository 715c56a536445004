import type { OffsetPage, Page } from "../../services/database/Paging.ts"

/** Ends of a page: `first` and `last` are the cursor ids of its newest and oldest row. */
interface PageEnds {
  readonly first: bigint
  readonly last: bigint
  /** True if there may be older rows; adds a `next` link. */
  readonly more: boolean
}

/**
 * Maximum characters of a `Link` header. Proxies refuse a response whose headers have more than 4,096 bytes, and the
 * links repeat the query of the request.
 */
const headerCharactersMax = 3_000

/** Returns the header of these links, of which the first ones that fit are kept; undefined without any. */
const joined = (links: ReadonlyArray<string>): string | undefined => {
  let header: string | undefined
  for (const one of links) {
    const longer: string = header === undefined ? one : `${header}, ${one}`
    if (longer.length > headerCharactersMax) return header
    header = longer
  }
  return header
}

/**
 * Returns the `Link` header of a page (RFC 8288): `next` by max_id, `prev` by min_id or, for lists of accounts,
 * since_id. `path` is absolute; of the request's own query only `keep` and the limit are kept. Undefined for an empty
 * page. Links that would make the header too long are left out, `prev` first.
 */
export const link = (
  baseUrl: string,
  path: string,
  ends: PageEnds | undefined,
  limit: number,
  keep: Readonly<Record<string, string | ReadonlyArray<string> | boolean | undefined>> = {},
  back: "min_id" | "since_id" = "min_id"
): string | undefined => {
  if (ends === undefined) return undefined
  const url = (cursor: string, id: bigint) => {
    const query = new URLSearchParams({ limit: String(limit) })
    for (const [name, value] of Object.entries(keep)) {
      if (value === undefined) continue
      if (typeof value === "object") { for (const one of value) query.append(`${name}[]`, one) }
      else query.set(name, String(value))
    }
    query.set(cursor, String(id))
    return `${baseUrl}${path}?${query}`
  }
  const next = ends.more ? [`<${url("max_id", ends.last)}>; rel="next"`] : []
  return joined([...next, `<${url(back, ends.first)}>; rel="prev"`])
}

/**
 * Returns the `Link` header of a list that is paged by offset: `next` if `rows` fills the limit, `prev` except on the
 * first page.
 */
export const offsetLink = (
  baseUrl: string,
  path: string,
  { limit, offset }: OffsetPage,
  rows: number,
  keep: Readonly<Record<string, string>> = {}
): string | undefined => {
  const at = (offset: number, relation: string) => {
    const query = new URLSearchParams({ ...keep, limit: String(limit), offset: String(offset) })
    return `<${baseUrl}${path}?${query}>; rel="${relation}"`
  }
  const links = [
    ...(limit > 0 && rows >= limit ? [at(offset + limit, "next")] : []),
    ...(offset > 0 ? [at(Math.max(0, offset - limit), "prev")] : [])
  ]
  return joined(links)
}

/**
 * Returns the ends of a page whose rows are newest first; `more` if the page is full, or with "always" if it is not
 * empty.
 */
export const endsOf = <A>(
  page: Page,
  rows: ReadonlyArray<A>,
  id: (row: A) => bigint,
  always: "full" | "always" = "full"
): PageEnds | undefined => {
  const [first, last] = [rows[0], rows.at(-1)]
  return first === undefined || last === undefined
    ? undefined
    : { first: id(first), last: id(last), more: always === "always" || rows.length >= page.limit }
}
