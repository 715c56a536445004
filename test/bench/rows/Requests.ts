import { between, spent, total } from "../Cpu.ts"
import type { Request } from "../load/Connection.ts"
import type { Options } from "../Options.ts"
import { authorNumbers, followerNumbers, posterNumbers, readerNumbers, token } from "../People.ts"
import { type Bench, type Measured, median, type Row, settled } from "../Row.ts"

/** Concurrent connections: enough to keep the server busy. */
const connections = 8

/** Warm-up of the server: a number of requests, or milliseconds if that is shorter. */
const warmUp = ({ quick }: Options) => ({ count: 3_000, millis: quick ? 2_500 : 6_000 })

/**
 * Duration of a slice at the target speed when two servers take turns, in CPU milliseconds. Other load changes less
 * between shorter slices.
 */
const sliceMillis = 25
/** Number of slices that warm up a server on any machine. */
const warmUpSlices = 100

const send = async (
  { server }: Bench,
  requests: ReadonlyArray<Request>,
  until: { readonly millis: number } | { readonly count: number }
) => {
  const before = spent(server.watched)
  const { done, millis } = await server.load({ connections, requests, ...until })
  if (requests.some(({ method }) => method === "POST")) await settled(server)
  return { perSecond: done * 1000 / millis, millis: between(before, spent(server.watched), done) }
}

/** Makes a row of requests: runs of some seconds, of which the one with the median CPU time counts, or slices. */
export const row = (
  name: string,
  target: number,
  requestsOf: (bench: Bench) => ReadonlyArray<Request> | Promise<ReadonlyArray<Request>>
): Row => ({
  name,
  measure: async (bench): Promise<ReadonlyArray<Measured>> => {
    const requests = await requestsOf(bench)
    await send(bench, requests, warmUp(bench.options))
    const runs = []
    for (let run = 0; run < bench.options.runs; run++) {
      runs.push(await send(bench, requests, { millis: bench.options.seconds * 1000 }))
    }
    const middle = median(runs.map(({ millis }) => total(millis)))
    const { millis, perSecond } = runs.find((run) => total(run.millis) === middle)!
    return [{ name, perSecond, millis, target: { text: `${target} ms CPU`, met: total(millis) <= target } }]
  },
  slices: async (bench) => {
    const requests = await requestsOf(bench)
    // Enough requests for one slice, so that the fixed cost of a slice is the same share on both sides.
    const count = Math.ceil(sliceMillis / target)
    await send(bench, requests, { count: warmUpSlices * count })
    return { next: async () => ({ "CPU ms": total((await send(bench, requests, { count })).millis) }) }
  }
})

export const get = (path: string, number?: number): Request => ({
  method: "GET",
  path,
  ...(number === undefined ? {} : { token: token(number) })
})

export const byReaders = (path: string) => readerNumbers.map((number) => get(path, number))

export const instance = row("instance", 0.05, () => [get("/api/v2/instance")])
export const status = row(
  "status by id",
  0.09,
  ({ people }) => people.statusIds.slice(-500).map((id, n) => get(`/api/v1/statuses/${id}`, 101 + n % 50))
)
export const home20 = row("home of 20", 0.4, () => byReaders("/api/v1/timelines/home?limit=20"))
export const home40 = row("home of 40", 0.7, () => byReaders("/api/v1/timelines/home?limit=40"))
/** Filters per reader, and keywords per filter. No post has the keywords; half of the filters would hide posts. */
const [filtersEach, keywordsEach] = [20, 50]
const filtersOf = (number: number): ReadonlyArray<Request> =>
  Array.from({ length: filtersEach }, (_, filter) => ({
    method: "POST",
    path: "/api/v2/filters",
    token: token(number),
    body: JSON.stringify({
      title: `Filter ${filter}`,
      context: ["home", "public"],
      filter_action: filter % 2 === 0 ? "hide" : "warn",
      keywords_attributes: Array.from({ length: keywordsEach }, (_, keyword) => ({
        keyword: `word${filter} of ${keyword}`,
        whole_word: keyword % 2 === 0
      }))
    })
  }))
/** Deletes the filters, so that later rows and starts have readers without filters. */
const deleteFilters = async ({ people, server }: Bench) => {
  const numbers = new Map(readerNumbers.map((number) => [String(people.accountId(number)), number]))
  // Older checkouts have no such table.
  const filters = await server.query("SELECT id, account_id FROM filters").catch(() => [])
  const removals = filters.flatMap(({ account_id: account, id }): ReadonlyArray<Request> => {
    const number = numbers.get(String(account))
    return number === undefined
      ? []
      : [{ method: "DELETE", path: `/api/v2/filters/${String(id)}`, token: token(number) }]
  })
  if (removals.length > 0) await server.load({ connections, requests: removals, count: removals.length })
}

/** Wraps a row whose readers have filters while it is measured. */
const withFilters = (row: Row): Row => ({
  ...row,
  measure: async (bench) => {
    try {
      return await row.measure(bench)
    } finally {
      await deleteFilters(bench)
    }
  },
  ...(row.slices && {
    slices: async (bench) => ({ ...await row.slices!(bench), end: () => deleteFilters(bench) })
  })
})

/** Target: at most 15% above a home of 20 posts. */
export const homeWithFilters = withFilters(row("home with filters", 0.46, async ({ server }) => {
  const filters = readerNumbers.flatMap(filtersOf)
  // Some are refused: by older checkouts without filters, and beyond an account's maximum.
  await server.load({ connections, requests: filters, count: filters.length }).catch(() => undefined)
  return byReaders("/api/v1/timelines/home?limit=20")
}))
export const accountStatuses = row(
  "account statuses of 40",
  0.8,
  ({ people }) =>
    authorNumbers.map((author) => get(`/api/v1/accounts/${people.accountId(author)}/statuses?limit=40`, 101))
)
export const publicTimeline = row("public timeline of 20", 0.4, () => byReaders("/api/v1/timelines/public?limit=20"))
export const posting = row("POST status, 20 followers", 5, () =>
  posterNumbers.map((number) => ({
    method: "POST",
    path: "/api/v1/statuses",
    token: token(number),
    body: JSON.stringify({ status: "An ordinary post of some length, as people write them: {n} #bench @person1" })
  })))

/** With RATE_LIMITS=on; each account sends too few requests to be limited. */
export const limited = row(
  "status by id, limits on",
  0.09,
  ({ people }) => followerNumbers(1_000).map((number, n) => get(`/api/v1/statuses/${people.statusIds[n]}`, number))
)
