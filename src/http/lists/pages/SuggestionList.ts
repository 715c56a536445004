import { Effect, Layer } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type Suggestion, Suggestions } from "../../../services/lists/ListSuggestions.ts"
import { ModerationLists } from "../../../services/lists/ModerationLists.ts"
import { html } from "../../html/Html.ts"
import { button } from "../../staff/pages/parts/Controls.ts"
import { eachChosen } from "../../staff/pages/parts/Each.ts"
import { pagedList } from "../../staff/pages/parts/RowLists.ts"
import { moment } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"

const actions: Readonly<Record<Suggestion["action"], (words: Messages) => string>> = {
  accept: ({ say }) => say("Allow server"),
  limit: ({ say }) => say("Limit server"),
  reject: ({ say }) => say("Block server"),
  retract: ({ say }) => say("Undo (removed from the list)")
}

const make = Effect.gen(function*() {
  const lists = yield* ModerationLists
  const staff = yield* StaffPages
  const suggestions = yield* Suggestions

  return staff.page({
    path: "/admin/moderation_suggestions",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const names = new Map((yield* lists.list).map(({ id, name }) => [id, name]))
      const list = yield* pagedList(visit, suggestions, {
        caption: say("Suggestions"),
        empty: say("No suggestions at the moment."),
        headings: [say("Server"), say("Suggested action"), say("List"), say("Since")],
        cells: ({ action, createdAt, domain, listId }) => [
          html`<a href="/admin/instances/${domain}">${domain}</a>`,
          actions[action](words),
          listId === null ? "" : names.get(listId) ?? "",
          moment(words, createdAt)
        ],
        selected: {
          name: ({ domain }) => domain,
          buttons: html`${button("apply", say("Apply"), "main")}${button("dismiss", say("Dismiss"))}`
        }
      })
      return {
        title: say("List suggestions"),
        body: html`<p><a href="/admin/moderation_lists">${say("Moderation lists")}</a></p>${list}`
      }
    }),
    acts: {
      apply: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Apply these suggestions?"),
            text: say("If a server is blocked, follows between people here and there are removed permanently."),
            button: say("Apply"),
            danger: true
          }),
        run: (visit) =>
          eachChosen(
            visit,
            (id) => suggestions.apply(visit.by, id, true),
            ({ say }, count) =>
              say("{count, plural, one {# suggestion was} other {# suggestions were}} applied.", { count })
          )
      },
      dismiss: {
        run: (visit) =>
          eachChosen(
            visit,
            (id) => suggestions.dismiss(visit.by, id),
            ({ say }, count) =>
              say("{count, plural, one {# suggestion was} other {# suggestions were}} dismissed.", { count })
          )
      }
    }
  })
})

/** Suggestions of subscribed blocklists, for staff to decide. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([ModerationLists.layer, Suggestions.layer]))
