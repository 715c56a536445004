import { Context, Effect, Layer } from "effect"
import { AccountActors } from "../../../../actors/account/core/AccountActors.ts"
import { AccountId, StatusId } from "../../../../services/database/Ids.ts"
import {
  actionTextCharactersMax,
  type StatusActionType,
  statusActionTypes
} from "../../../../services/moderation/ActionTypes.ts"
import type { AdminReport } from "../../../../services/moderation/AdminReports.ts"
import { reportCollectionsMax } from "../../../../services/moderation/Reports.ts"
import { type ClientError, validationFailed } from "../../../../services/runtime/Errors.ts"
import { type Html, html } from "../../../html/Html.ts"
import { type Act, chosenIds, type Visit } from "../StaffVisit.ts"
import { button, select, textArea } from "./Controls.ts"
import { collectionsField } from "./ReportedCollections.ts"
import { postsMax } from "./ReportedPosts.ts"

/** Moderation actions on posts and collections of a report. */
export class PostActs extends Context.Service<PostActs, {
  readonly act: (asked: (visit: Visit) => Effect.Effect<AdminReport, ClientError>) => Act
}>()("murmuration/http/staff/pages/parts/PostActs") {
  static readonly layer = Layer.effect(
    PostActs,
    Effect.gen(function*() {
      const actors = yield* AccountActors
      return PostActs.of({
        act: (asked) => ({
          confirm: Effect.fnUntraced(function*(visit) {
            const { collectionIds, ids, type } = yield* postAct(visit)
            const count = ids.length
            const { say } = visit.words
            if (collectionIds.length > 0) {
              return type === "delete"
                ? {
                  title: say("Remove the selected items?"),
                  text: say(
                    "The selected items are removed here and on other servers, the report is resolved, and the owner gets a strike. This cannot be undone."
                  ),
                  button: say("Remove"),
                  danger: true
                }
                : {
                  title: say("Mark as sensitive?"),
                  text: say(
                    "The selected items are hidden behind a warning, the report is resolved, and the owner gets a strike. A successful appeal undoes this."
                  ),
                  button: say("Mark as sensitive")
                }
            }
            return type === "delete"
              ? {
                title: say("Remove posts?"),
                text: say(
                  "{count, plural, one {# post is} other {# posts are}} removed here and on other servers, the report is resolved, and the author gets a strike. This cannot be undone.",
                  { count }
                ),
                button: say("Remove"),
                danger: true
              }
              : {
                title: say("Mark as sensitive?"),
                text: say(
                  "{count, plural, one {# post is} other {# posts are}} hidden behind a warning, the report is resolved, and the author gets a strike. A successful appeal undoes this.",
                  { count }
                ),
                button: say("Mark as sensitive")
              }
          }),
          run: Effect.fnUntraced(function*(visit) {
            const { targetAccountId, id } = yield* asked(visit)
            const { collectionIds, ids, type } = yield* postAct(visit)
            yield* actors.tell(AccountId.make(targetAccountId), {
              _tag: "ModerateStatuses",
              by: visit.by,
              type,
              statusIds: ids.map((one) => StatusId.make(one)),
              collectionIds,
              text: visit.form.get("text") ?? "",
              reportId: id,
              tells: true
            })
            if (collectionIds.length > 0) {
              return {
                notice: type === "delete"
                  ? visit.words.say("The selected items were removed and the report was resolved.")
                  : visit.words.say("The selected items were marked as sensitive and the report was resolved.")
              }
            }
            return {
              notice: type === "delete"
                ? visit.words.say("The posts were removed and the report was resolved.")
                : visit.words.say("The posts were marked as sensitive and the report was resolved.")
            }
          })
        })
      })
    })
  )
}

const postAct = (visit: Visit): Effect.Effect<
  {
    readonly type: StatusActionType
    readonly ids: ReadonlyArray<bigint>
    readonly collectionIds: ReadonlyArray<bigint>
  },
  ClientError
> => {
  const type = statusActionTypes.find((one) => one === visit.form.get("do"))
  const ids = chosenIds(visit, postsMax)
  if (type === undefined) return validationFailed("Type is not included in the list")
  const collectionIds = chosenIds(visit, reportCollectionsMax, collectionsField)
  return ids.length + collectionIds.length === 0
    ? validationFailed("Status ids can't be blank")
    : Effect.succeed({ type, ids, collectionIds })
}

/** Fields for an action on the chosen posts and collections. */
export const postFields = (visit: Visit): Html => {
  const { say } = visit.words
  return html`${
    select(visit, {
      name: "do",
      label: say("With selected"),
      value: "mark_as_sensitive",
      choices: [["mark_as_sensitive", say("Mark as sensitive")], ["delete", say("Remove")]]
    })
  }${textArea(visit, { name: "text", label: say("Message to the author"), rows: 2, max: actionTextCharactersMax })}${
    button("posts", say("Next"))
  }`
}
