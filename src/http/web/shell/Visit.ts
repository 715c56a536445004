import type { AccountId } from "../../../services/database/Ids.ts"
import type { Session } from "../../../services/identity/Sessions.ts"
import type { Html } from "../../html/Html.ts"
import type { PageReader } from "../../html/Visitors.ts"
import type { ScriptName } from "./ClientScripts.ts"

/** A request for a page. */
export interface Visit {
  readonly reader: PageReader
  /** Account that reads; undefined for visitors. */
  readonly viewer: AccountId | undefined
  readonly session: Session | undefined
  /** True if the server translates posts. */
  readonly translates: boolean
  /** Token for `tokenInput`. Pages contain no forms for visitors. */
  readonly formToken: string
  /** Path and query of the page; forms send it back as `return`. */
  readonly pathAndQuery: string
  /** Path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Path parameters, by their names in the route pattern. */
  readonly params: Readonly<Record<string, string | undefined>>
}

/** A member's request for a page. */
export interface MemberVisit extends Visit {
  readonly viewer: AccountId
  readonly session: Session
}

/** Content of a page. */
export interface View {
  /** Title of the page and its one `h1`. */
  readonly title: string
  /** Content below the `h1`. */
  readonly body: Html
  /** True if the `h1` is for screen readers only, because the page shows its name otherwise. */
  readonly hiddenTitle?: boolean
  readonly status?: number
  /** Scripts that the page needs, besides `acts`, which members' pages have. */
  readonly scripts?: ReadonlyArray<ScriptName>
  /** Query of the stream that announces new posts of the page, such as `channel=public:local`. */
  readonly live?: string
  /** True if the page announces new notifications. */
  readonly liveNotifications?: boolean
  /** Further elements of the head: canonical link, OpenGraph, feeds, oEmbed. */
  readonly head?: Html
  /** True if search engines may index the page. */
  readonly indexable?: boolean
  /** True if a form of the page leads to another server. */
  readonly leadsAway?: boolean
  /** Content beside the column on wide windows, below it on others. */
  readonly aside?: Html
}
