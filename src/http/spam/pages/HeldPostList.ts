import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { StatusId } from "../../../services/database/Ids.ts"
import { HeldPosts } from "../../../services/spam/HeldPosts.ts"
import { html } from "../../html/Html.ts"
import { AccountLines } from "../../staff/pages/parts/AccountLines.ts"
import { button } from "../../staff/pages/parts/Controls.ts"
import { eachChosen } from "../../staff/pages/parts/Each.ts"
import { ReportedPosts } from "../../staff/pages/parts/ReportedPosts.ts"
import { bulk, emptyList, pageOf, pager, rowCheckbox, totalOf } from "../../staff/pages/parts/Tables.ts"
import { moment } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { chosenIds, type Visit } from "../../staff/pages/StaffVisit.ts"

const path = "/admin/held_posts"

/** Uses the post named in the URL instead of the checked posts. The buttons of a single post name it there. */
const withOnly = (visit: Visit): Visit => {
  const only = visit.query.get("only")
  return only === null ? visit : { ...visit, form: new URLSearchParams([["ids", only]]) }
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const held = yield* HeldPosts
  const people = yield* AccountLines
  const posts = yield* ReportedPosts
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const found = yield* held.page(pageOf(visit))
    const total = yield* totalOf(visit, found.length, held.total)
    const names = yield* people.load(found.map(({ accountId }) => accountId))
    const visibilities = new Map(found.map(({ statusId, visibility }) => [statusId, visibility]))
    const shown = yield* posts.load(words, [...visibilities.keys()], visibilities)
    const rows = found.map(({ accountId, createdAt, ruleName, statusId }) => {
      const singlePath = `${path}?only=${statusId}`
      return html`<article class="card"><div class="row">${rowCheckbox(statusId, say("Select this post"))}${
        names.line(accountId)
      }</div>${shown.get(statusId) ?? html`<p class="soft">${say("This post is gone.")}</p>`}<p class="soft">${
        ruleName === null
          ? say("Held by a deleted rule")
          : say("Held by the rule {name}", { name: ruleName })
      } · ${
        moment(words, createdAt)
      }</p><div class="row"><button type="submit" class="quiet" name="act" value="approve" formaction="${singlePath}">${
        say("Approve")
      }</button><button type="submit" class="danger" name="act" value="reject" formaction="${singlePath}">${
        say("Reject")
      }</button></div></article>`
    })
    return {
      title: say("Held posts"),
      body: html`<p class="soft">${
        say("These posts were held by a spam rule. Only their authors see them until you approve them.")
      }</p>${total}${
        rows.length === 0 ? emptyList(say("No held posts.")) : bulk(
          visit,
          html`${rows}`,
          html`${button("approve", say("Approve"))}${button("reject", say("Reject"), "danger")}`
        )
      }${pager(visit, found.map(({ statusId }) => statusId))}`
    }
  })

  const decide = (visit: Visit, approved: boolean) =>
    eachChosen(
      withOnly(visit),
      Effect.fnUntraced(function*(id) {
        const { accountId } = yield* held.find(id)
        yield* actors.tell(accountId, {
          _tag: "ReviewPost",
          statusId: StatusId.make(id),
          by: visit.by,
          approved
        })
      }),
      ({ say }, count) =>
        approved
          ? say("{count, plural, one {# post was} other {# posts were}} approved.", { count })
          : say("{count, plural, one {# post was} other {# posts were}} rejected.", { count })
    ).pipe(Effect.map((done) => visit.query.has("only") ? { ...done, to: path } : done))

  return staff.page({
    path: "/admin/held_posts",
    permission: ["manageReports", "manageRules"],
    show,
    acts: {
      approve: { run: (visit) => decide(visit, true) },
      reject: {
        confirm: (visit) => {
          const count = chosenIds(withOnly(visit)).length
          const { say } = visit.words
          return Effect.succeed(
            count === 0 ? undefined : {
              title: say("Reject posts?"),
              text: say("{count, plural, one {# post is} other {# posts are}} deleted. This cannot be undone.", {
                count
              }),
              button: say("Reject"),
              danger: true
            }
          )
        },
        run: (visit) => decide(visit, false)
      }
    }
  })
})

/** Posts that a spam rule holds for review. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([HeldPosts.layer, ReportedPosts.layer]))
