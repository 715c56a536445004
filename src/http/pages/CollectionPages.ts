import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Collections } from "../../services/collections/Collections.ts"
import { CollectionObjects } from "../../services/federation/CollectionObjects.ts"
import { collectionContext } from "../../services/federation/documents/CollectionDocument.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Admission } from "../activitypub/Admission.ts"
import { byType, document, refused } from "../activitypub/DocumentResponse.ts"
import { Requesters } from "../activitypub/Requesters.ts"
import { type Html, html } from "../html/Html.ts"
import { cursorOf } from "./PageCursors.ts"
import { nameOf } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const { admit } = yield* Admission
  const collections = yield* Collections
  const config = yield* ServerConfig
  const objects = yield* CollectionObjects
  const pages = yield* PublicPages
  const requesters = yield* Requesters

  /** Another server may give a URL that is a script (row 14). */
  const addressOf = ({ url, username }: AccountRecord): string =>
    url === null ? Urls.profile(config, username) : /^https?:\/\//i.test(url) ? url : "/"
  const person = (one: AccountRecord): Html =>
    html`<article class="post"><header><img src="${picturesOf(config, one).avatarStatic}" alt="" width="44" height="44">
<p><a href="${addressOf(one)}" rel="nofollow noopener"><strong><bdi>${nameOf(one)}</bdi></strong><br>
<span class="soft"><bdi>@${Urls.acct(one)}</bdi></span></a></p></header></article>`

  const page = Effect.gen(function*() {
    const id = cursorOf((yield* HttpRouter.params)["id"] ?? null)
    // Shows what strangers may see, to any visitor; a collection that is not discoverable is only shown in apps.
    const found = id === undefined ? undefined : yield* collections.find(undefined, id)
    if (found === undefined || !found.local || !found.discoverable) return yield* pages.notFound
    const ids = found.items.flatMap(({ accountId }) => accountId ?? [])
    const people = new Map((yield* accounts.load([found.accountId, ...ids])).map((one) => [one.id, one]))
    const owner = people.get(found.accountId)
    if (owner === undefined) return yield* pages.notFound
    const { words } = yield* pages.reader
    const { say } = words
    const members = ids.flatMap((one) => people.get(one) ?? [])
    const shown = html`${found.description === "" ? "" : html`<p class="content" dir="auto">${found.description}</p>`}${
      members.length === 0
        ? html`<p class="soft">${say("There are no public posts yet.")}</p>`
        : html`<ul class="posts plain">${members.map((one) => html`<li>${person(one)}</li>`)}</ul>`
    }`
    return yield* pages.respond({
      words,
      title: found.name,
      body: html`
<p class="soft"><a href="${addressOf(owner)}"><bdi>${nameOf(owner)}</bdi> · <bdi>@${Urls.acct(owner)}</bdi></a>${
        found.tagName === null
          ? ""
          : html` · <a href="${Urls.tag(config, found.tagName)}"><bdi>#${found.tagName}</bdi></a>`
      }</p>
${found.sensitive ? html`<details><summary>${say("Sensitive content")}</summary>${shown}</details>` : shown}`
    })
  }).pipe(Effect.catchTags({ RecordNotFound: () => pages.notFound }))

  /** Serves the document to other servers, which know the collection by another URL. */
  const named = Effect.gen(function*() {
    const { scope, viewer } = yield* requesters.current
    const id = cursorOf((yield* HttpRouter.params)["id"] ?? null)
    if (id === undefined) return yield* new RecordNotFound()
    const { document: found } = yield* objects.collection(viewer, id)
    return yield* document({ "@context": collectionContext, ...found }, scope)
  }).pipe(Effect.catch(refused))

  const shown = pages.guarded(config.limitedFederation, page)
  return HttpRouter.add("GET", "/collections/:id", byType(admit("documents", named), shown))
})

/** `/collections/id`: the accounts that a local account recommends, if the collection is public. */
export const layer = Layer.unwrap(make)
