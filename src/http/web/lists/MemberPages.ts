import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Search } from "../../../services/discovery/Search.ts"
import { normalise } from "../../../services/html/HashtagNames.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { listAccountsMax } from "../../../services/instance/ContentLimits.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { ListMembers } from "../../../services/social/ListMembers.ts"
import { type ListRecord, OwnedLists } from "../../../services/social/OwnedLists.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { bounded } from "../../../services/text/BoundedText.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { TagViews } from "../../render/TagViews.ts"
import { type JsonOf, read } from "../../wire/Keys.ts"
import type { Tag } from "../../wire/Tag.ts"
import { accountRow } from "../account/AccountRow.ts"
import * as People from "../account/People.ts"
import { actForm } from "../shell/ActForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { searchForm } from "../shell/SearchForm.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { listActPath, listFields, listPath, listsFor } from "./ListForms.ts"
import { listTabs } from "./ListPages.ts"

/** Maximum accounts that the search for new members shows. */
const foundMax = 10

const memberActPath = (id: bigint) => `${listActPath(id)}/members`

/** Renders an account with a button that adds it to the list or removes it. */
const memberRow = (
  visit: MemberVisit,
  list: bigint,
  { account }: People.Person,
  isMember: boolean
): Html => {
  const { say } = visit.reader.words
  const name = html`<span class="unseen"> @${account.acct}</span>`
  return accountRow(visit, account, {
    acts: actForm(
      visit,
      memberActPath(list),
      html`${hidden("account", account.id)}${
        isMember
          ? html`<button type="submit" name="act" value="remove" class="plain">${say("Remove")}${name}</button>`
          : html`<button type="submit" name="act" value="add">${say("Add")}${name}</button>`
      }`
    )
  })
}

const tagsPart = (visit: MemberVisit, list: bigint, tags: ReadonlyArray<JsonOf<Tag>>): Html => {
  const { way, words: { say } } = visit.reader
  return html`<h2>${say("Hashtags")}</h2>${
    tags.length === 0 ? "" : html`<ul class="entries">${
      tags.map((tag) => {
        const { name } = read(tag)
        return html`<li class="entry"><a href="${way(`/tags/${encodeURIComponent(name)}`)}"><bdi>#${name}</bdi></a>${
          actForm(
            visit,
            memberActPath(list),
            html`${hidden("tag", name)}<button type="submit" name="act" value="remove_tag" class="plain small">${
              say("Remove")
            }<span class="unseen"> #${name}</span></button>`
          )
        }</li>`
      })
    }</ul>`
  }${
    actForm(
      visit,
      memberActPath(list),
      html`<label>${
        say("Hashtag")
      }<input name="tag" required maxlength="200" autocapitalize="none"></label><button type="submit" name="act" value="add_tag">${
        say("Add hashtag")
      }</button>`,
      "bar-form"
    )
  }`
}

const settingsPart = (visit: MemberVisit, list: ListRecord): Html => {
  const { say } = visit.reader.words
  return html`<h2>${say("Settings")}</h2>${
    actForm(
      visit,
      listActPath(list.id),
      html`${listFields(visit, list)}<button type="submit" name="act" value="change">${say("Save")}</button>`,
      "stack"
    )
  }<details><summary>${say("Delete list")}</summary>${
    actForm(
      visit,
      listActPath(list.id),
      html`<p>${
        say("The list is deleted permanently. You keep following its members.")
      }</p><button type="submit" name="act" value="delete" class="danger">${say("Delete list")}</button>`,
      "stack"
    )
  }</details>`
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const lists = yield* OwnedLists
  const members = yield* ListMembers
  const pages = yield* WebPages
  const people = yield* People.make
  const finder = yield* Search
  const tagViews = yield* TagViews
  const words = yield* Tags

  const own = (visit: MemberVisit) =>
    Effect.suspend(() => {
      const id = parseId(visit.params["id"])
      return id === undefined ? new RecordNotFound() : lists.find(visit.viewer, id)
    })

  const memberPage = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const list = yield* own(visit)
    const page = pageOf(visit, accountRows)
    const rows = yield* members.accounts(visit.viewer, list.id, page)
    const text = (visit.query.get("q") ?? "").trim()
    const found = text === "" ? [] : yield* finder.accounts(visit.viewer, {
      text,
      following: false,
      limit: foundMax,
      offset: 0
    })
    const known = yield* people.byId(visit, [...rows.map(({ accountId }) => accountId), ...found])
    const inList = found.length === 0
      ? new Set<bigint>()
      : new Set(
        (yield* members.accounts(visit.viewer, list.id, { limit: listAccountsMax })).map((row) => row.accountId)
      )
    const rowOf = (id: bigint, isMember: boolean) => {
      const person = known.get(id)
      return person === undefined ? [] : [memberRow(visit, list.id, person, isMember)]
    }
    const current = rows.flatMap(({ accountId }) => rowOf(accountId, true))
    const tags = yield* tagViews.render(visit.viewer, yield* members.tags(visit.viewer, list.id))
    return {
      title: list.title,
      body: html`${listTabs(visit, list)}<h2>${say("Add people")}</h2>${
        searchForm(visit, `${listPath(list.id)}/members`, say("Name or handle"))
      }${
        text === "" ? "" : found.length === 0
          ? html`<p class="soft empty">${say("Nobody found.")}</p>`
          : People.listOf(found.flatMap((id) => rowOf(id, inList.has(id))))
      }<h2>${say("Members")}</h2>${
        current.length === 0
          ? html`<p class="soft empty">${say("The list has no members yet.")}</p>`
          : People.listOf(current)
      }${pagingLinks(visit, page, rows.map(({ cursor }) => cursor))}${tagsPart(visit, list.id, tags)}${
        settingsPart(visit, list)
      }`
    }
  }))

  const change = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { viewer } = visit
    const { id } = yield* own(visit)
    const account = parseId(form.get("account"))
    const tag = (form.get("tag") ?? "").trim().replace(/^#/, "")
    switch (form.get("act")) {
      case "add": {
        const found = yield* accounts.known(account === undefined ? [] : [account])
        if (found.length === 0) return yield* new RecordNotFound()
        yield* members.addAccounts(viewer, id, found)
        return { at: `account-${account}` }
      }
      case "remove": {
        yield* members.removeAccounts(viewer, id, account === undefined ? [] : [account])
        return {}
      }
      case "add_tag": {
        const coined = yield* Effect.catchTag(words.findOrCreate([tag]), "SqlError", Effect.die)
        yield* members.addTags(viewer, id, coined)
        return {}
      }
      case "remove_tag": {
        yield* members.removeTags(viewer, id, [normalise(bounded(tag))])
        return {}
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
  }))

  /** Lists of the viewer that an account is in, with check boxes to change that. */
  const listsOfAccount = pages.member(Effect.fnUntraced(function*(visit) {
    const { way, words: { say } } = visit.reader
    const { id } = yield* accounts.find(yield* accounts.lookup(visit.params["name"] ?? ""))
    const [person] = yield* people.load(visit, [id])
    if (person === undefined) return yield* new RecordNotFound()
    const [all, holding] = [yield* lists.of(visit.viewer), yield* lists.holding(visit.viewer, id)]
    return {
      title: say("Lists"),
      body: html`${People.peopleOf(visit, [person], "")}${
        listsFor(visit, person.account.id, all, holding)
      }<p><a href="${way("/lists")}">${say("All lists")}</a></p>`
    }
  }))

  const saveLists = pages.act(Effect.fnUntraced(function*(visit, form) {
    const [id] = yield* accounts.known([parseId(visit.params["id"]) ?? 0n])
    if (id === undefined) return yield* new RecordNotFound()
    const chosen = new Set(form.getAll("list"))
    const held = new Set((yield* lists.holding(visit.viewer, id)).map((list) => list.id))
    for (const list of yield* lists.of(visit.viewer)) {
      const isChosen = chosen.has(String(list.id))
      if (isChosen && !held.has(list.id)) yield* members.addAccounts(visit.viewer, list.id, [id])
      if (!isChosen && held.has(list.id)) yield* members.removeAccounts(visit.viewer, list.id, [id])
    }
    return { notice: visit.reader.words.say("The lists were saved.") }
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/lists/:id/members", memberPage),
    HttpRouter.add("POST", "/web/lists/:id/members", change),
    HttpRouter.add("GET", "/@:name/lists", listsOfAccount),
    HttpRouter.add("POST", "/web/accounts/:id/lists", saveLists)
  )
})

/** Members of a list: accounts and hashtags. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, TagViews.layer]))
