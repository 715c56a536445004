import * as BenchServer from "./BenchServer.ts"
import type { Checkout } from "./Checkout.ts"
import { type Size, sizes } from "./People.ts"
import type { Row } from "./Row.ts"
import * as Actors from "./rows/Actors.ts"
import * as Deliveries from "./rows/Deliveries.ts"
import { fanout } from "./rows/Fanouts.ts"
import * as Federation from "./rows/Federation.ts"
import { floor } from "./rows/Floor.ts"
import * as HtmlPages from "./rows/HtmlPages.ts"
import * as MastodonCopy from "./rows/MastodonCopy.ts"
import * as Media from "./rows/Media.ts"
import * as Pages from "./rows/Pages.ts"
import { pauses } from "./rows/Pauses.ts"
import * as Requests from "./rows/Requests.ts"
import { search } from "./rows/Search.ts"
import * as Staff from "./rows/Staff.ts"
import { events } from "./rows/Streaming.ts"
import { trends } from "./rows/Trends.ts"
import * as Web from "./rows/Web.ts"

/** Rows that are measured one after another with one running server. */
export interface Session {
  readonly rows: ReadonlyArray<Row>
  /** Suffix of the rows' names. */
  readonly suffix: string
  /** Starts the server on existing data; undefined if the machine lacks something. */
  readonly start: (dataDir: string, checkout?: Checkout) => Promise<BenchServer.RunningServer | undefined>
}

const single = (variables: Record<string, string>, rows: ReadonlyArray<Row>): Session => ({
  rows,
  suffix: "",
  start: (dataDir, checkout) => BenchServer.single(dataDir, variables, checkout)
})

const all = (followersMax: Size): ReadonlyArray<Session> => [
  single({}, [
    Actors.idle,
    floor,
    Requests.instance,
    Requests.status,
    Requests.home20,
    Requests.home40,
    Requests.accountStatuses,
    Requests.publicTimeline,
    Requests.posting,
    Requests.homeWithFilters,
    Pages.notifications,
    Pages.groupedNotifications,
    Pages.context,
    Pages.list,
    ...HtmlPages.rows,
    ...sizes.filter((size) => size <= followersMax).map(fanout),
    events,
    ...Media.rows,
    pauses,
    Actors.activation,
    Actors.memory
  ]),
  single({ RATE_LIMITS: "on" }, [Requests.limited]),
  single({ OUTBOUND_ALLOW: "127.0.0.0/8" }, Federation.rows),
  single(Deliveries.variables, [Deliveries.signed, Deliveries.manyInboxes]),
  single({ OUTBOUND_ALLOW: "127.0.0.0/8" }, Web.rows),
  single({}, [trends]),
  {
    rows: [Requests.home20, Requests.posting, fanout(10_000), events],
    suffix: " (cluster)",
    start: BenchServer.clustered
  },
  single({}, [Staff.row]),
  { rows: [MastodonCopy.mastodonCopy], suffix: "", start: MastodonCopy.start },
  // Search is last: each session leaves a million posts.
  single({}, [search])
]

/** Returns the sessions with rows whose name contains one of the texts, reduced to these rows. */
export const wanted = (followersMax: Size, only: ReadonlyArray<string> = [""]): ReadonlyArray<Session> =>
  all(followersMax).flatMap(({ rows, start, suffix }) => {
    const some = rows.filter(({ name }) => only.some((text) => (name + suffix).includes(text)))
    return some.length > 0 ? [{ rows: some, start, suffix }] : []
  })

/** Ends the processes that rows started. */
export const end = () => {
  Deliveries.end()
  Web.end()
}
