import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { ListTimelines } from "../../../services/feeds/ListTimelines.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { type ListRecord, OwnedLists } from "../../../services/social/OwnedLists.ts"
import { type Html, html } from "../../html/Html.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { actForm } from "../shell/ActForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { tabsOf } from "../shell/Tabs.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { feedOf } from "../status/ArticleFeed.ts"
import { listFields, listOf, listPath } from "./ListForms.ts"

/** Renders the tabs of a list. */
export const listTabs = (visit: MemberVisit, { id, title }: ListRecord): Html => {
  const { say } = visit.reader.words
  return tabsOf(visit, title, [
    [listPath(id), say("Posts")],
    [`${listPath(id)}/members`, say("Members and settings")],
    ["/lists", say("All lists")]
  ])
}

const make = Effect.gen(function*() {
  const lists = yield* OwnedLists
  const pages = yield* WebPages
  const timelines = yield* ListTimelines
  const views = yield* StatusViews

  /** Lists are bounded in number for each account, so the page has no pages. */
  const all = pages.member(Effect.fnUntraced(function*(visit) {
    const { way, words: { say } } = visit.reader
    const found = yield* lists.of(visit.viewer)
    return {
      title: say("Lists"),
      body: html`${
        found.length === 0
          ? html`<p class="soft empty">${say("You have no lists yet.")}</p>`
          : html`<ul class="entries">${
            found.map(({ exclusive, id, title }) =>
              html`<li class="entry"><a href="${way(listPath(id))}"><strong dir="auto">${title}</strong></a>${
                exclusive ? html`<span class="mark">${say("Not in Home")}</span>` : ""
              }<a href="${way(`${listPath(id)}/members`)}">${
                say("Members and settings")
              }<span class="unseen"> ${title}</span></a></li>`
            )
          }</ul>`
      }<h2>${say("New list")}</h2>${
        actForm(
          visit,
          "/web/lists",
          html`${listFields(visit)}<button type="submit" name="act" value="create">${say("Create list")}</button>`,
          "stack"
        )
      }`
    }
  }))

  const timeline = pages.member(Effect.fnUntraced(function*(visit) {
    const id = parseId(visit.params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    const list = yield* lists.find(visit.viewer, id)
    const page = pageOf(visit, statusRows)
    const { ids, read } = yield* timelines.page(list.id, page)
    const items = yield* views.render(visit.viewer, ids, "authors")
    return {
      title: list.title,
      body: html`${listTabs(visit, list)}${
        items.length === 0
          ? html`<p class="soft empty">${
            visit.reader.words.say("Nothing here yet. New posts of the members appear here.")
          }</p>`
          : yield* feedOf(visit, list.title, items)
      }${pagingLinks(visit, page, read)}`
    }
  }))

  const create = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { id } = yield* lists.create(visit.viewer, listOf(form))
    return { to: `${listPath(id)}/members` }
  }))

  const change = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { words: { say } } = visit.reader
    const id = parseId(visit.params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    switch (form.get("act")) {
      case "change": {
        yield* lists.change(visit.viewer, id, listOf(form))
        return { notice: say("The list was saved.") }
      }
      case "delete": {
        yield* lists.remove(visit.viewer, id)
        return { to: "/lists", notice: say("The list was deleted.") }
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/lists", all),
    HttpRouter.add("GET", "/lists/:id", timeline),
    HttpRouter.add("POST", "/web/lists", create),
    HttpRouter.add("POST", "/web/lists/:id", change)
  )
})

/** The member's lists, and their timelines. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
