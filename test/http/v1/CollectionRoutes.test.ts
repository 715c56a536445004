import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CollectionWithAccounts, WrappedCollection, WrappedItem } from "../../../src/http/wire/Collection.ts"
import { Notification } from "../../../src/http/wire/Notification.ts"
import { collectionItemsMax } from "../../../src/services/collections/Collection.ts"
import { call } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const base = "/api/v1/collections"
const strict = { onExcessProperty: "error" } as const
const discoverablePerson = (name: string) =>
  Effect.gen(function*() {
    const { createPerson } = yield* TestServer
    const one = yield* createPerson(name)
    yield* call("PATCH", "/api/v1/accounts/update_credentials", one.token, { discoverable: true })
    return one
  })
const id = ({ accountId }: Person) => String(accountId)
const create = (me: Person, fields: Record<string, unknown>) => call("POST", base, me.token, fields)
const createCollection = (me: Person, fields: Record<string, unknown> = {}) =>
  Effect.gen(function*() {
    const { body, status } = yield* create(me, { name: "birds", ...fields })
    assert.strictEqual(status, 200, JSON.stringify(body))
    return (yield* Schema.decodeUnknownEffect(WrappedCollection)(body, strict)).collection
  })
const show = (collection: string, me?: Person) => call("GET", `${base}/${collection}`, me?.token)
const to = (me: Person, other: Person, verb: string) =>
  call("POST", `/api/v1/accounts/${other.accountId}/${verb}`, me.token)
const told = (me: Person, type: string) =>
  Effect.map(call("GET", `/api/v1/notifications?types[]=${type}`, me.token), ({ body }) => body)

layer(TestServer.layer(), { excludeTestServices: true })("collections", (it) => {
  it.effect("S-150: collections are found by words of their names and by their addresses, within the permissions of owner and viewer", () =>
    Effect.gen(function*() {
      const [me, eve, ada] = yield* Effect.all([
        discoverablePerson("finder"),
        discoverablePerson("keeper"),
        discoverablePerson("passer")
      ])
      const [open, mine, hidden] = yield* Effect.all([
        createCollection(eve, { name: "Water birds" }),
        createCollection(me, { name: "Waterfalls", discoverable: false }),
        createCollection(eve, { name: "Waterworks", discoverable: false })
      ])
      const search = (by: Person | undefined, q: string, more = "") =>
        Effect.map(
          call("GET", `/api/v2/search?q=${encodeURIComponent(q)}${more}`, by?.token),
          ({ body }) => body.collections.map((one: { id: string }) => one.id)
        )
      assert.deepStrictEqual(yield* search(me, "water"), [mine.id, open.id])
      assert.deepStrictEqual(yield* search(undefined, "water"), [open.id])
      assert.deepStrictEqual(yield* search(ada, "BIRDS wat"), [open.id])
      assert.deepStrictEqual(yield* search(ada, "rds"), [])
      assert.deepStrictEqual(yield* search(me, "water", "&type=accounts"), [])
      assert.deepStrictEqual(yield* search(me, "water", "&type=collections&offset=1&limit=1"), [open.id])
      // A reader who knows the address may see it, as by its id.
      assert.deepStrictEqual(yield* search(ada, hidden.uri, "&resolve=true"), [hidden.id])
      assert.deepStrictEqual(yield* search(ada, hidden.uri.replace(/users\/[0-9]+/, "users/1"), "&resolve=true"), [])
      for (const odd of ["9".repeat(19), "0", "-1"]) {
        assert.deepStrictEqual(yield* search(ada, hidden.uri.replace(/[0-9]+$/, odd), "&resolve=true"), [])
      }
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO collections (id, account_id, local, uri, url, name, created_at, updated_at)
        SELECT 7, account_id, false, 'https://other.example/c/7', 'https://other.example/@x/7', 'Afar', created_at, updated_at
        FROM collections WHERE id = ${open.id}`
      for (const address of ["https://other.example/c/7", "https://other.example/@x/7"]) {
        assert.deepStrictEqual(yield* search(ada, address, "&resolve=true"), ["7"])
      }
      yield* to(ada, eve, "mute")
      assert.deepStrictEqual(yield* search(ada, "water"), [])
      yield* to(eve, me, "block")
      assert.deepStrictEqual(yield* search(me, "water"), [mine.id])
      assert.deepStrictEqual(yield* search(me, open.uri, "&resolve=true"), [])
    }))

  it.effect("an account recommends others, who are notified of it and of changes, on both paths", () =>
    Effect.gen(function*() {
      const [me, ada, bob] = yield* Effect.all([
        discoverablePerson("me"),
        discoverablePerson("ada"),
        discoverablePerson("bob")
      ])
      const collection = yield* createCollection(me, {
        description: "a < b & c",
        language: "en",
        tag_name: "#Birds",
        account_ids: [id(ada), id(bob)]
      })
      assert.deepInclude(collection, {
        account_id: id(me),
        description: "a &lt; b &amp; c",
        language: "en",
        item_count: 2,
        local: true,
        sensitive: false,
        discoverable: true
      })
      assert.deepInclude(collection.tag, { name: "Birds" })
      assert.deepStrictEqual(collection.items.map(({ account_id, state }) => [account_id, state]), [
        [id(ada), "accepted"],
        [id(bob), "accepted"]
      ])
      const whole = yield* show(collection.id)
      const { accounts } = yield* Schema.decodeUnknownEffect(CollectionWithAccounts)(whole.body, strict)
      assert.deepStrictEqual(accounts.map((one) => one.id), [id(me), id(ada), id(bob)])
      const older = yield* call("GET", `/api/v1_alpha/collections/${collection.id}`, undefined)
      assert.strictEqual(older.headers.get("deprecation"), "@1781049600")
      assert.deepStrictEqual(older.body, whole.body)

      const [news] = yield* eventually(told(ada, "added_to_collection"), (found) => found.length === 1)
      const notification = yield* Schema.decodeUnknownEffect(Notification)(news, strict)
      assert.strictEqual(notification.collection?.id, collection.id)
      assert.strictEqual(notification.account.id, id(me))
      const groups = yield* call("GET", "/api/v2/notifications", ada.token)
      assert.strictEqual(groups.body.notification_groups[0].collection.id, collection.id)

      const patched = yield* call("PATCH", `${base}/${collection.id}`, me.token, { name: "more birds" })
      assert.strictEqual(patched.body.collection.name, "more birds")
      assert.strictEqual(patched.body.collection.description, collection.description)
      assert.lengthOf(yield* eventually(told(bob, "collection_update"), (found) => found.length === 1), 1)
      yield* call("PUT", `${base}/${collection.id}`, me.token, { tag_name: "", language: "" })
      const untagged = yield* show(collection.id)
      assert.deepInclude(untagged.body.collection, { tag: null, language: null })

      const listed = yield* call("GET", `/api/v1/accounts/${id(ada)}/in_collections`, ada.token)
      assert.deepStrictEqual(listed.body.collections.map((one: { readonly id: string }) => one.id), [collection.id])
      assert.strictEqual((yield* call("GET", `/api/v1/accounts/${id(ada)}/in_collections`, bob.token)).status, 403)
      // Members may leave; removed ones are gone.
      const [first, second] = collection.items
      const revoke = (one: Person) => call("POST", `${base}/${collection.id}/items/${first?.id}/revoke`, one.token)
      assert.strictEqual((yield* revoke(bob)).status, 403)
      const left = yield* revoke(ada)
      assert.deepStrictEqual([left.status, left.body], [200, undefined])
      assert.deepStrictEqual(yield* told(ada, "added_to_collection"), [])
      assert.strictEqual((yield* show(collection.id, me)).body.collection.item_count, 1)
      const take = (one: Person) => call("DELETE", `${base}/${collection.id}/items/${second?.id}`, one.token)
      assert.strictEqual((yield* take(bob)).status, 403)
      assert.strictEqual((yield* take(me)).status, 200)
      assert.strictEqual((yield* take(me)).status, 404)
      const again = yield* call("POST", `${base}/${collection.id}/items`, me.token, { account_id: id(ada) })
      const { collection_item: item } = yield* Schema.decodeUnknownEffect(WrappedItem)(again.body, strict)
      assert.deepInclude(item, { state: "accepted", account_id: id(ada) })

      assert.strictEqual((yield* call("DELETE", `${base}/${collection.id}`, bob.token)).status, 403)
      const gone = yield* call("DELETE", `${base}/${collection.id}`, me.token)
      assert.deepStrictEqual([gone.status, gone.body], [200, undefined])
      assert.strictEqual((yield* show(collection.id, me)).status, 404)
      assert.deepStrictEqual(yield* told(ada, "added_to_collection"), [])
    }))

  it.effect("long texts, too many members and unknown ids are refused with messages, and change nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [me, ada] = yield* Effect.all([discoverablePerson("olga"), discoverablePerson("asked")])
      const refused = Effect.fnUntraced(function*(fields: Record<string, unknown>, text: string) {
        const { body, status } = yield* create(me, { name: "x", ...fields })
        assert.deepStrictEqual([status, body], [422, { error: { error: `Validation failed: ${text}`, details: {} } }])
      })
      yield* refused({ name: " " }, "Name can't be blank")
      yield* refused({ name: undefined }, "Name can't be blank")
      yield* refused({ name: "é".repeat(41) }, "Name is too long (maximum is 40 characters)")
      yield* refused({ description: "x".repeat(101) }, "Description is too long (maximum is 100 characters)")
      yield* refused({ language: "no language" }, "Language is invalid")
      yield* refused({ tag_name: "no tag" }, "Tag is invalid")
      assert.strictEqual((yield* create(me, { name: "x", account_ids: ["4711"] })).status, 404)
      assert.strictEqual((yield* create(me, { name: "x", account_ids: ["nobody"] })).status, 404)
      const strangers = yield* sql<
        { readonly id: bigint }
      >`INSERT INTO accounts (id, username, discoverable, created_at, updated_at)
        SELECT i, 'one' || i, true, now(), now() FROM generate_series(1000::bigint, ${
        999 + collectionItemsMax + 1
      }) i RETURNING id`
      yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
        SELECT id, id || '@x.test', '', now(), now() FROM accounts WHERE id BETWEEN 1000 AND 2000`
      yield* sql`INSERT INTO account_stats (account_id) SELECT id FROM accounts WHERE id BETWEEN 1000 AND 2000`
      const many = strangers.map((one) => String(one.id))
      yield* refused({ account_ids: many }, "Collection items are too many, no more than 25 are allowed")
      assert.deepStrictEqual(
        (yield* call("GET", `/api/v1/accounts/${id(me)}/collections`, me.token)).body,
        { collections: [] }
      )
      const full = yield* createCollection(me, { account_ids: many.slice(1) })
      const add = (given: Record<string, unknown>, by = me) => call("POST", `${base}/${full.id}/items`, by.token, given)
      assert.strictEqual((yield* add({ account_id: many[0] })).status, 422)
      assert.strictEqual(
        (yield* add({ account_id: many[1] })).body.error.error,
        "Validation failed: Account has already been taken"
      )
      const missing = yield* add({})
      assert.deepStrictEqual([missing.status, missing.body.error], [422, "`account_id` parameter is missing"])
      assert.strictEqual((yield* add({ account_id: "4711" })).status, 404)
      assert.strictEqual((yield* add({ account_id: id(ada) }, ada)).status, 403)
      assert.strictEqual((yield* show("4711", me)).status, 404)
      for (let count = 1; count < 10; count++) yield* createCollection(me)
      yield* refused({}, "You cannot have more than 10 collections")
    }))

  it.effect("only consenting accounts are added, and content hidden by the owner or a member is not shown", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [me, shy, locked, foe, reader] = yield* Effect.all([
        discoverablePerson("curator"),
        discoverablePerson("shy"),
        discoverablePerson("locked"),
        discoverablePerson("foe"),
        discoverablePerson("reader")
      ])
      const change = (one: Person, fields: Record<string, unknown>) =>
        call("PATCH", "/api/v1/accounts/update_credentials", one.token, fields)
      yield* change(shy, { discoverable: false })
      yield* change(locked, { locked: true })
      yield* to(foe, me, "block")
      const collection = yield* createCollection(me, { discoverable: false, account_ids: [id(reader)] })
      const add = (one: Person) =>
        Effect.map(
          call("POST", `${base}/${collection.id}/items`, me.token, { account_id: id(one) }),
          ({ status }) => status
        )
      for (const one of [shy, locked, foe]) assert.strictEqual(yield* add(one), 403, one.username)
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (1, ${me.accountId}, ${locked.accountId}, now())`
      assert.strictEqual(yield* add(locked), 200)

      const count = (one?: Person) => Effect.map(show(collection.id, one), ({ body }) => body.collection?.item_count)
      const of = (one?: Person) =>
        Effect.map(
          call("GET", `/api/v1/accounts/${id(me)}/collections`, one?.token),
          ({ body }) => body.collections.length
        )
      assert.deepStrictEqual([yield* of(), yield* of(reader), yield* of(me)], [0, 0, 1])
      assert.strictEqual(yield* count(), 2)
      yield* to(reader, locked, "block")
      assert.deepStrictEqual([yield* count(reader), yield* count(me)], [1, 2])
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${locked.accountId}`
      assert.strictEqual(yield* count(me), 1)
      yield* to(me, reader, "block")
      assert.strictEqual((yield* show(collection.id, reader)).status, 404)
      yield* createCollection(me, { name: "second" })
      const first = yield* call("GET", `/api/v1/accounts/${id(me)}/collections?limit=1`, me.token)
      assert.strictEqual(first.body.collections[0].name, "second")
      assert.match(first.headers.get("link") ?? "", /\/collections\?limit=1&offset=1>; rel="next"/)
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${me.accountId}`
      assert.strictEqual((yield* show(collection.id)).status, 404)
      assert.strictEqual(yield* of(), 0)
    }))
})
