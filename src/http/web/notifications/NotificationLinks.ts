import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Notifications } from "../../../services/feeds/Notifications.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { Statuses } from "../../../services/statuses/Statuses.ts"
import { seeOther } from "../../html/HtmlPage.ts"
import { WebPages } from "../shell/WebPages.ts"
import { profilePath } from "../status/StatusText.ts"

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const notifications = yield* Notifications
  const pages = yield* WebPages
  const statuses = yield* Statuses

  /** Returns the path of an account, or of its post. */
  const pathOf = Effect.fnUntraced(function*(accountId: bigint, statusId?: bigint) {
    const [account] = yield* accounts.load([accountId])
    if (account === undefined) return "/notifications"
    const profile = profilePath(Urls.acct(account))
    return statusId === undefined ? profile : `${profile}/${statusId}`
  })

  const open = pages.member(({ params, reader: { way }, viewer }) =>
    Effect.gen(function*() {
      const id = parseId(params["id"])
      const [found] = id === undefined ? [] : yield* notifications.load(viewer, [id])
      if (found === undefined) return "/notifications"
      const { fromAccountId, reportId, statusId } = found
      if (reportId !== undefined) return `/admin/reports/${reportId}`
      if (statusId === undefined) return fromAccountId === viewer ? "/notifications" : yield* pathOf(fromAccountId)
      const [status] = yield* statuses.load([statusId])
      return status === undefined ? "/notifications" : yield* pathOf(status.accountId, statusId)
    }).pipe(Effect.map((path) => seeOther(way(path))))
  )
  return HttpRouter.add("GET", "/notifications/:id", open)
})

/**
 * Redirects from a notification to the post, the account or the report that it is about; to the list if the notification
 * is gone or of another account.
 */
export const layer = Layer.unwrap(make)
