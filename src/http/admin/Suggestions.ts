import { Effect, Layer } from "effect"
import type { Messages } from "../../services/languages/Messages.ts"
import { ModerationLists } from "../../services/lists/ModerationLists.ts"
import { type Suggestion, Suggestions } from "../../services/lists/Suggestions.ts"
import { html } from "../html/Html.ts"
import { button } from "./parts/Controls.ts"
import { eachChosen } from "./parts/Each.ts"
import { bulk, choose, nothing, pageOf, pager, table, totalOf } from "./parts/Lists.ts"
import { moment } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"

const actions: Readonly<Record<Suggestion["action"], (words: Messages) => string>> = {
  accept: ({ say }) => say("Allow it"),
  limit: ({ say }) => say("Limit it"),
  reject: ({ say }) => say("Block it"),
  retract: ({ say }) => say("Take back what a list did, which has given it up")
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
      const found = yield* suggestions.page(pageOf(visit))
      const total = yield* totalOf(visit, found.length, suggestions.total)
      const rows = found.map(({ action, createdAt, domain, id, listId }) => [
        choose(id, say("Choose {name}", { name: domain })),
        html`<a href="/admin/instances/${domain}">${domain}</a>`,
        actions[action](words),
        listId === null ? "" : names.get(listId) ?? "",
        moment(words, createdAt)
      ])
      return {
        title: say("What lists suggest"),
        body: html`<p><a href="/admin/moderation_lists">${say("Moderation lists")}</a></p>${total}${
          rows.length === 0 ? nothing(say("Nothing is suggested at the moment.")) : bulk(
            visit,
            table(
              [say("Chosen"), say("Server"), say("What to do"), say("List"), say("Since")],
              rows,
              say("Suggestions")
            ),
            html`${button("apply", say("Do it"), "main")}${button("dismiss", say("Do not"))}`
          )
        }${pager(visit, found.map(({ id }) => id))}`
      }
    }),
    acts: {
      apply: {
        confirm: ({ words: { say } }) =>
          Effect.succeed({
            title: say("Do what is suggested?"),
            text: say("Where a server is blocked, follows between people here and there end and do not come back."),
            button: say("Do it"),
            danger: true
          }),
        run: (visit) =>
          eachChosen(
            visit,
            (id) => suggestions.apply(visit.by, id, true),
            ({ say }, count) =>
              say("Done: {count, plural, one {# suggestion was} other {# suggestions were}} followed.", { count })
          )
      },
      dismiss: {
        run: (visit) =>
          eachChosen(
            visit,
            (id) => suggestions.dismiss(visit.by, id),
            ({ say }, count) =>
              say("Done: {count, plural, one {# suggestion was} other {# suggestions were}} put aside.", { count })
          )
      }
    }
  })
})

/** Suggestions of subscribed blocklists, for staff to decide. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([ModerationLists.layer, Suggestions.layer]))
