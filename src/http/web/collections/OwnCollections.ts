import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { CollectionRecord } from "../../../services/collections/Collection.ts"
import { Collections } from "../../../services/collections/Collections.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { actForm } from "../shell/ActForm.ts"
import { foreignLink } from "../shell/ForeignLink.ts"
import { offsetLinks, offsetOf } from "../shell/OffsetPaging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { collectionActPath, collectionEditPath, collectionFields, collectionOf } from "./CollectionFields.ts"

/** Maximum collections of others that the page lists, newest first. */
const featuringMax = 40

const sizeOf = ({ reader: { words: { say } } }: MemberVisit, { items }: CollectionRecord): Html =>
  html`<span class="soft">${say("{count, plural, one {# account} other {# accounts}}", { count: items.length })}</span>`

const ownEntry = (visit: MemberVisit, collection: CollectionRecord): Html => {
  const { way, words: { say } } = visit.reader
  const { discoverable, id, name } = collection
  return html`<li class="entry"><a href="${way(collectionEditPath(id))}"><strong dir="auto">${name}</strong></a>${
    sizeOf(visit, collection)
  }${
    discoverable
      ? html`<a href="${way(`/collections/${id}`)}">${say("Public page")}<span class="unseen"> ${name}</span></a>`
      : html`<span class="mark">${say("Not listed")}</span>`
  }</li>`
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const collections = yield* Collections
  const pages = yield* WebPages

  const featuredEntry = (visit: MemberVisit, collection: CollectionRecord): Html => {
    const { way, words: { say } } = visit.reader
    const { id, name, url } = collection
    const own = collection.items.find(({ accountId }) => accountId === visit.viewer)
    const strong = html`<strong>${name}</strong>`
    return html`<li class="entry">${
      collection.local && collection.discoverable
        ? html`<a href="${way(`/collections/${id}`)}" dir="auto">${strong}</a>`
        : foreignLink(url, strong)
    }${sizeOf(visit, collection)}${
      own === undefined ? "" : actForm(
        visit,
        collectionActPath(id),
        html`${hidden("item", String(own.id))}<button type="submit" name="act" value="leave" class="plain small">${
          say("Leave")
        }<span class="unseen"> ${name}</span></button>`
      )
    }</li>`
  }

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const stretch = offsetOf(visit, accountRows)
    const own = yield* collections.of(visit.viewer, visit.viewer, stretch)
    const featuring = yield* collections.featuring(visit.viewer, { offset: 0, limit: featuringMax })
    return {
      title: say("Collections"),
      body: html`<p class="soft">${
        say("A collection recommends accounts to others. Each account may refuse or leave.")
      }</p>${
        own.length === 0
          ? html`<p class="soft empty">${say("You have no collections yet.")}</p>`
          : html`<ul class="entries">${own.map((one) => ownEntry(visit, one))}</ul>`
      }${offsetLinks(visit, stretch, own.length)}<h2>${say("New collection")}</h2>${
        actForm(
          visit,
          "/web/collections",
          html`${collectionFields(visit)}<button type="submit" name="act" value="create">${
            say("Create collection")
          }</button>`,
          "stack"
        )
      }${
        featuring.length === 0 ?
          "" :
          html`<h2>${say("Collections that you are in")}</h2><ul class="entries">${
            featuring.map((one) => featuredEntry(visit, one))
          }</ul>`
      }`
    }
  }))

  const create = pages.act(Effect.fnUntraced(function*(visit, form) {
    const { id } = yield* actors.tell(visit.viewer, {
      _tag: "CreateCollection",
      said: collectionOf(form),
      accountIds: []
    })
    return { to: collectionEditPath(BigInt(id)) }
  }))

  return Layer.merge(
    HttpRouter.add("GET", "/collections", list),
    HttpRouter.add("POST", "/web/collections", create)
  )
})

/** The member's collections, and those that the member is in. */
export const layer = Layer.unwrap(make)
