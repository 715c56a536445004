import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { CollectionItem, CollectionRecord } from "../../../services/collections/Collection.ts"
import { Collections } from "../../../services/collections/Collections.ts"
import { AccountId, parseId } from "../../../services/database/Ids.ts"
import { Search } from "../../../services/discovery/Search.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { accountRow } from "../account/AccountRow.ts"
import * as People from "../account/People.ts"
import { actForm } from "../shell/ActForm.ts"
import { searchForm } from "../shell/SearchForm.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { collectionActPath, collectionEditPath, collectionFields, collectionOf } from "./CollectionFields.ts"

/** Maximum accounts that the search for new members shows. */
const foundMax = 10

const memberRow = (
  visit: MemberVisit,
  { id }: CollectionRecord,
  { account }: People.Person,
  item: CollectionItem
): Html => {
  const { say } = visit.reader.words
  return accountRow(visit, account, {
    ...(item.state === "pending" && { below: html`<p><span class="mark">${say("Waiting for consent")}</span></p>` }),
    acts: actForm(
      visit,
      collectionActPath(id),
      html`${hidden("item", String(item.id))}<button type="submit" name="act" value="take" class="plain">${
        say("Remove")
      }<span class="unseen"> @${account.acct}</span></button>`
    )
  })
}

const foundRow = (visit: MemberVisit, { id }: CollectionRecord, { account }: People.Person): Html =>
  accountRow(visit, account, {
    acts: actForm(
      visit,
      collectionActPath(id),
      html`${hidden("account", account.id)}<button type="submit" name="act" value="add">${
        visit.reader.words.say("Add")
      }<span class="unseen"> @${account.acct}</span></button>`
    )
  })

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const collections = yield* Collections
  const finder = yield* Search
  const pages = yield* WebPages
  const people = yield* People.make

  const edit = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const id = parseId(visit.params["id"])
    const found = id === undefined ? undefined : yield* collections.find(visit.viewer, id)
    // Others' collections have public pages, and cannot be changed.
    if (found === undefined || found.accountId !== visit.viewer) return yield* new RecordNotFound()
    const text = (visit.query.get("q") ?? "").trim()
    const matches = text === ""
      ? []
      : yield* finder.accounts(visit.viewer, { text, following: false, limit: foundMax, offset: 0 })
    const ids = found.items.flatMap(({ accountId }) => accountId ?? [])
    const known = yield* people.byId(visit, [...ids, ...matches])
    const memberIds = new Set(ids)
    const members = found.items.flatMap((item) => {
      const person = known.get(item.accountId ?? 0n)
      return person === undefined ? [] : [memberRow(visit, found, person, item)]
    })
    const others = matches.filter((one) => !memberIds.has(one)).flatMap((one) => {
      const person = known.get(one)
      return person === undefined ? [] : [foundRow(visit, found, person)]
    })
    return {
      title: found.name,
      body: html`<h2>${say("Add people")}</h2>${
        searchForm(visit, collectionEditPath(found.id), say("Name or handle"))
      }${
        text === "" ? "" : others.length === 0
          ? html`<p class="soft empty">${say("Nobody found.")}</p>`
          : People.listOf(others)
      }<h2>${say("Members")}</h2>${
        members.length === 0
          ? html`<p class="soft empty">${say("The collection has no members yet.")}</p>`
          : People.listOf(members)
      }<h2>${say("Settings")}</h2>${
        actForm(
          visit,
          collectionActPath(found.id),
          html`${collectionFields(visit, found)}<button type="submit" name="act" value="change">${
            say("Save")
          }</button>`,
          "stack"
        )
      }<details><summary>${say("Delete collection")}</summary>${
        actForm(
          visit,
          collectionActPath(found.id),
          html`<p>${
            say("The collection is deleted permanently.")
          }</p><button type="submit" name="act" value="delete" class="danger">${say("Delete collection")}</button>`,
          "stack"
        )
      }</details>`
    }
  }))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { viewer } = visit
    const { words: { say } } = visit.reader
    const id = parseId(visit.params["id"])
    const [account, item] = [parseId(form.get("account")), parseId(form.get("item"))]
    if (id === undefined) return yield* new RecordNotFound()
    switch (form.get("act")) {
      case "change": {
        yield* actors.tell(viewer, { _tag: "UpdateCollection", collectionId: id, said: collectionOf(form) })
        return { notice: say("The collection was saved.") }
      }
      case "delete": {
        yield* actors.tell(viewer, { _tag: "DeleteCollection", collectionId: id })
        return { to: "/collections", notice: say("The collection was deleted.") }
      }
      case "add": {
        if (account === undefined) return yield* new RecordNotFound()
        yield* actors.tell(viewer, { _tag: "AddToCollection", collectionId: id, target: AccountId.make(account) })
        return { at: `account-${account}` }
      }
      case "take": {
        yield* actors.tell(viewer, { _tag: "RemoveFromCollection", collectionId: id, itemId: item ?? 0n })
        return {}
      }
      case "leave": {
        yield* actors.tell(viewer, { _tag: "LeaveCollection", collectionId: id, itemId: item ?? 0n })
        return {}
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
  }))

  return Layer.merge(
    HttpRouter.add("GET", "/collections/:id/edit", edit),
    HttpRouter.add("POST", "/web/collections/:id", act)
  )
})

/** Page on which a member changes an own collection, and the acts on collections. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
