import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled } from "../support/Fediverse.ts"
import { TestServer } from "../support/Server.ts"

type Ids = ReadonlyArray<{ readonly id: string }>

it.live(
  "remote accounts are asked before they join a collection, and may leave it; changes are sent",
  () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(2)
      const [here, there] = [instances[0]!, instances[1]!]
      const [anna, zoe] = [yield* here.person("anna"), yield* there.person("zoe")]
      const yan = yield* there.person("yan")
      for (const one of [anna, zoe]) {
        yield* one.ask("PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      }
      yield* zoe.follow(anna)
      yield* settled(instances)
      const [zoeHere, yanHere] = [yield* anna.find(zoe), yield* anna.find(yan)]
      // Her feature policy is in her profile.
      assert.deepInclude(zoeHere.feature_approval, { automatic: ["public"], current_user: "automatic" })
      const { collection } = yield* anna.ask("POST", "/api/v1/collections", {
        name: "birds",
        description: "that sing",
        tag_name: "birds",
        account_ids: [zoeHere.id]
      })
      assert.strictEqual(collection.items[0].state, "pending")
      yield* settled(instances)
      const path = `/api/v1/collections/${collection.id}`
      const shown = Effect.map(anna.ask("GET", path), (reply) => reply.collection)
      assert.strictEqual((yield* eventually(shown, ({ items }) => items[0]?.state === "accepted")).item_count, 1)
      yield* settled(instances)

      const annaThere = yield* zoe.find(anna)
      const seen = Effect.map(zoe.ask("GET", `/api/v1/accounts/${annaThere.id}/collections`), ({ collections }) =>
        collections)
      const [theirs] = yield* eventually(seen, ({ length }) =>
        length > 0)
      assert.deepInclude(theirs, {
        name: "birds",
        description: "that sing",
        local: false,
        uri: collection.uri,
        item_count: 1
      })
      const told = (type: string) => zoe.ask("GET", `/api/v1/notifications?types[]=${type}`)
      const [news] = yield* eventually(told("added_to_collection"), (found) => found.length === 1)
      assert.strictEqual(news.collection.id, theirs.id)
      const ids = ({ collections }: { readonly collections: Ids }) => collections.map(({ id }) => id)
      const me = yield* zoe.ask("GET", "/api/v1/accounts/verify_credentials")
      assert.deepStrictEqual(ids(yield* zoe.ask("GET", `/api/v1/accounts/${me.id}/in_collections`)), [theirs.id])

      // The ActivityPub documents: the owner's collection, and the consent of its member.
      const document = (instance: typeof here, url: string) =>
        Effect.flatMap(
          instance.fetch(new URL(url).pathname, { headers: { accept: "application/activity+json" } }),
          (response) => Effect.promise(async () => JSON.parse(await response.text()))
        )
      const whole = yield* document(here, collection.uri)
      assert.deepInclude(whole, { type: "FeaturedCollection", totalItems: 1, name: "birds", attributedTo: anna.uri })
      const [item] = whole.orderedItems
      assert.deepInclude(item, { type: "FeaturedItem", featuredObject: zoe.uri })
      assert.deepInclude(yield* document(there, item.featureAuthorization), {
        type: "FeatureAuthorization",
        interactingObject: collection.uri,
        interactionTarget: zoe.uri
      })
      assert.deepInclude(yield* document(here, item.id), { type: "FeaturedItem", featuredObject: zoe.uri })

      yield* anna.ask("PATCH", path, { name: "more birds" })
      yield* settled(instances)
      assert.lengthOf(yield* eventually(told("collection_update"), (found) => found.length === 1), 1)
      assert.strictEqual((yield* zoe.ask("GET", `/api/v1/collections/${theirs.id}`)).collection.name, "more birds")

      // Viewing a profile without local followers also fetches its collections.
      const otto = yield* here.person("otto")
      yield* otto.ask("POST", "/api/v1/collections", { name: "quiet" })
      const ottoThere = yield* zoe.find(otto)
      const quiet = yield* eventually(
        zoe.ask("GET", `/api/v1/accounts/${ottoThere.id}/collections`),
        ({ collections }) => collections.length > 0
      )
      assert.deepInclude(quiet.collections[0], { name: "quiet", item_count: 0 })

      // An account that opted out gets no request.
      const refused = yield* Effect.exit(anna.ask("POST", `${path}/items`, { account_id: yanHere.id }))
      assert.strictEqual(refused._tag, "Failure")

      // Responses without a body have no JSON.
      yield* Effect.exit(zoe.ask("POST", `/api/v1/collections/${theirs.id}/items/${theirs.items[0].id}/revoke`))
      yield* settled(instances)
      assert.strictEqual((yield* eventually(shown, ({ item_count }) => item_count === 0)).item_count, 0)
      yield* Effect.exit(anna.ask("DELETE", path))
      yield* settled(instances)
      assert.deepStrictEqual(yield* eventually(seen, ({ length }) => length === 0), [])

      // A moderator's decision about a remote collection survives its updates.
      const mod = yield* TestServer.use(({ createPerson }) => createPerson("mona", Scopes.all)).pipe(
        Effect.provide(there.context)
      )
      yield* there
        .sql`UPDATE users SET role_id = 3 WHERE account_id = (SELECT id FROM accounts WHERE username = 'mona')`
      const { collection: gulls } = yield* anna.ask("POST", "/api/v1/collections", { name: "gulls" })
      yield* settled(instances)
      const [copy] = yield* eventually(seen, ({ length }) => length > 0)
      const act = (type: string) =>
        Effect.map(
          there.fetch("/api/v1/admin/status_actions", {
            method: "POST",
            token: mod.token,
            json: { type, collection_ids: [copy.id] }
          }),
          ({ status }) => status
        )
      const rename = (name: string) =>
        Effect.andThen(anna.ask("PATCH", `/api/v1/collections/${gulls.id}`, { name }), settled(instances))
      assert.strictEqual(yield* act("mark_as_sensitive"), 200)
      yield* rename("many gulls")
      const [marked] = yield* eventually(seen, ([one]) => one?.name === "many gulls")
      assert.isTrue(marked.sensitive)
      assert.strictEqual(yield* act("delete"), 200)
      assert.deepStrictEqual(yield* seen, [])
      yield* rename("too many gulls")
      assert.deepStrictEqual(yield* seen, [])
    }).pipe(Effect.scoped)
)

it.live(
  "a third server shows a linked collection with the members that their own servers confirm, until they leave",
  () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(3)
      const [first, second, third] = [instances[0]!, instances[1]!, instances[2]!]
      const [anna, ben, cleo] = [yield* first.person("anna"), yield* second.person("ben"), yield* third.person("cleo")]
      const [zoe, here] = [yield* second.person("zoe"), yield* first.person("here")]
      for (const one of [ben, zoe, here, cleo]) {
        yield* one.ask("PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      }
      yield* ben.follow(anna)
      yield* cleo.follow(zoe)
      yield* settled(instances)
      const known = [yield* anna.find(ben), yield* anna.find(zoe), yield* anna.find(here), yield* anna.find(cleo)]
      const { collection } = yield* anna.ask("POST", "/api/v1/collections", {
        name: "birds",
        account_ids: known.map(({ id }) => id)
      })
      const path = `/api/v1/collections/${collection.id}`
      const own = Effect.map(anna.ask("GET", path), (reply) => reply.collection)
      const whole = ({ items }: { readonly items: ReadonlyArray<{ readonly state: string }> }) =>
        items.every(({ state }) => state === "accepted")
      yield* eventually(own, whole)
      yield* settled(instances)

      // The third server knows neither the account nor the collection; the post's tags name the collection.
      const known2 = yield* eventually(
        zoe.ask("GET", `/api/v2/search?type=collections&resolve=true&q=${encodeURIComponent(collection.url)}`),
        ({ collections }) => collections.length > 0
      )
      yield* zoe.post(`look ${collection.url}`)
      yield* settled(instances)
      const shown = Effect.map(cleo.home, (posts) => posts.flatMap((post) => post.tagged_collections))
      const [seen] = yield* eventually(shown, (found) => found.length > 0)
      assert.deepInclude(seen, { name: "birds", uri: collection.uri, url: collection.url, local: false })
      const members = Effect.map(
        cleo.ask("GET", `/api/v1/collections/${seen.id}`),
        ({ accounts }) => accounts.slice(1).map(({ acct }: { acct: string }) => acct).toSorted()
      )
      const all = [ben.handle, "cleo", here.handle, zoe.handle].toSorted()
      assert.deepStrictEqual(yield* eventually(members, ({ length }) => length === 4), all)

      // The third server receives changes when the owner has a follower there.
      yield* cleo.follow(anna)
      yield* settled(instances)
      const seenByZoe = yield* zoe.ask("GET", `/api/v1/collections/${known2.collections[0].id}`)
      const item = seenByZoe.collection.items.find(
        (one: { account_id: string }) => one.account_id === String(zoe.accountId)
      )
      yield* Effect.exit(zoe.ask("POST", `/api/v1/collections/${known2.collections[0].id}/items/${item.id}/revoke`))
      yield* settled(instances)
      yield* eventually(members, ({ length }) => length === 3)

      // Removed by the collection's owner; the notification is also removed.
      const told = cleo.ask("GET", "/api/v1/notifications?types[]=added_to_collection")
      yield* eventually(told, ({ length }) => length === 1)
      const { items } = yield* own
      const cleos = items.find((one: { account_id: string }) => one.account_id === known[3].id)
      yield* Effect.exit(anna.ask("DELETE", `${path}/items/${cleos.id}`))
      yield* settled(instances)
      assert.deepStrictEqual(
        yield* eventually(members, ({ length }) => length === 2),
        [ben.handle, here.handle].toSorted()
      )
      assert.deepStrictEqual(yield* told, [])
      yield* Effect.exit(anna.ask("DELETE", path))
      yield* settled(instances)
      assert.deepStrictEqual(yield* eventually(shown, ({ length }) => length === 0), [])
    }).pipe(Effect.scoped)
)
