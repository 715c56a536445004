import { Effect } from "effect"
import type { AccountId } from "../../services/database/Ids.ts"
import type { Page } from "../../services/database/Paging.ts"
import { GroupedNotifications, type NotificationGroupRecord } from "../../services/feeds/GroupedNotifications.ts"
import type { NotificationSelection } from "../../services/feeds/Notifications.ts"
import { allShown, filled } from "./FilledPages.ts"
import { NotificationViews } from "./NotificationViews.ts"
import { StatusViews } from "./StatusViews.ts"

/**
 * Makes a function that reads a page of notification groups without those that the owner's filters hide. It returns the
 * groups to show as `items`, and as `read` the groups from which the cursors of the page are made. An undefined
 * selection matches nothing. Made once per group of endpoints.
 */
export const make = Effect.gen(function*() {
  const groups = yield* GroupedNotifications
  const single = yield* NotificationViews
  const statuses = yield* StatusViews
  return (
    viewer: AccountId,
    selection: NotificationSelection | undefined,
    grouped: ReadonlySet<string>,
    page: Page
  ) =>
    filled({
      page,
      hides: statuses.hides(viewer),
      unhidden: (rows) => single.unhidden(viewer, rows, ({ newest }) => newest),
      ends: ({ newest, oldest }: NotificationGroupRecord) => [oldest.id, newest.id],
      read: (page) =>
        Effect.map(
          selection === undefined ? Effect.succeed([]) : groups.page(viewer, selection, grouped, page),
          allShown
        ),
      show: (rows) => single.unhidden(viewer, rows, ({ newest }) => newest)
    })
})
