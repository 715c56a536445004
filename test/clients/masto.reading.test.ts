import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Eventually from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { client, conforms, newcomer, refusal } from "./Masto.ts"

/** Repeats a request until its response shows the effect of an earlier command. */
const eventually = <A>(ask: () => PromiseLike<A>, good: (value: A) => boolean) =>
  Eventually.eventually(Effect.promise(async () => ask()), good)

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

layer(TestServer.layer(), { excludeTestServices: true })("masto: timelines and other reading", (it) => {
  it.effect("S-121 to S-124, S-204: the home timeline shows followed posts, page by page, forward and back", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newcomer("ada"), yield* newcomer("bob")]
      const posted = yield* Effect.promise(async () => {
        await bob.api.v1.accounts.$select(ada.id).follow()
        const posted: Array<string> = []
        for (let number = 0; number < 5; number++) {
          posted.unshift((await ada.api.v1.statuses.create({ status: `number ${number}` })).id)
        }
        return posted
      })
      yield* eventually(() => bob.api.v1.timelines.home.list(), (page) => page.length === 5)
      yield* Effect.promise(async () => {
        const pages: Array<ReadonlyArray<string>> = []
        for await (const page of bob.api.v1.timelines.home.list({ limit: 2 })) {
          conforms(page, "Status[]")
          pages.push(ids(page))
        }
        assert.deepStrictEqual(pages, [posted.slice(0, 2), posted.slice(2, 4), posted.slice(4), []])
        const oldest = posted[4] ?? ""
        assert.deepStrictEqual(
          ids(await bob.api.v1.timelines.home.list({ minId: oldest, limit: 2 })),
          posted.slice(2, 4)
        )
        assert.deepStrictEqual(
          ids(await bob.api.v1.timelines.home.list({ sinceId: oldest, limit: 2 })),
          posted.slice(0, 2)
        )
        assert.deepStrictEqual(ids(await bob.api.v1.timelines.home.list({ maxId: oldest })), [])
        const upwards = bob.api.v1.timelines.home.list({ minId: oldest, limit: 2 }).setDirection("prev").values()
        assert.deepStrictEqual(ids((await upwards.next()).value ?? []), posted.slice(2, 4))
        assert.deepStrictEqual(ids((await upwards.next()).value ?? []), posted.slice(0, 2))
        assert.deepStrictEqual(ids((await upwards.next()).value ?? []), [])
      })
    }))

  it.effect("S-142, S-143: public and tag timelines, by origin, media and further tags", () =>
    Effect.gen(function*() {
      const [{ api, id: author }, anybody] = [yield* newcomer("carol"), yield* client()]
      yield* Effect.promise(async () => {
        const tea = await api.v1.statuses.create({ status: "#tea" })
        const both = await api.v1.statuses.create({ status: "#tea and #Milk" })
        const quiet = await api.v1.statuses.create({ status: "#tea, softly", visibility: "unlisted" })
        const all = await anybody.v1.timelines.public.list({ limit: 2 })
        assert.deepStrictEqual(ids(all), [both.id, tea.id])
        assert.deepStrictEqual(ids(await anybody.v1.timelines.public.list({ local: true, limit: 2 })), ids(all))
        assert.deepStrictEqual(await anybody.v1.timelines.public.list({ remote: true }), [])
        assert.deepStrictEqual(await anybody.v1.timelines.public.list({ onlyMedia: true }), [])
        const tagged = anybody.v1.timelines.tag.$select("TEA")
        assert.deepStrictEqual(ids(await tagged.list()), [both.id, tea.id])
        // The client's types omit the parameters, but the client sends them.
        for (const [filter, found] of [["all", [both]], ["none", [tea]], ["any", [both, tea]]] as const) {
          const wanted = { [filter]: ["milk"] }
          assert.deepStrictEqual(ids(await tagged.list(wanted)), ids(found), filter)
        }
        const own = await anybody.v1.accounts.$select(author).statuses.list({ tagged: "tea" })
        assert.deepStrictEqual(ids(own), [quiet.id, both.id, tea.id])
        const tag = await anybody.v1.tags.$select("tea").fetch()
        assert.strictEqual(tag.name, "tea")
        assert.lengthOf(tag.history ?? [], 7)
      })
    }))

  it.effect("S-149, S-175: notifications by type and person, singly, dismissed and cleared", () =>
    Effect.gen(function*() {
      const [dora, eve] = [yield* newcomer("dora"), yield* newcomer("eve")]
      yield* Effect.promise(async () => {
        const { id } = await dora.api.v1.statuses.create({ status: "Look" })
        const hers = eve.api.v1.statuses.$select(id)
        await eve.api.v1.accounts.$select(dora.id).follow()
        await hers.favourite()
        await hers.reblog()
        await eve.api.v1.statuses.create({ status: "@dora hello" })
      })
      const list = dora.api.v1.notifications
      const all = yield* eventually(() => list.list(), (page) => page.length === 4)
      yield* Effect.promise(async () => {
        conforms(all, "BaseNotification[]")
        for (const { status } of all) if (status) conforms(status, "Status")
        assert.deepStrictEqual(all.map(({ type }) => type), ["mention", "reblog", "favourite", "follow"])
        assert.isTrue(all.every(({ account }) => account.id === eve.id))
        const types = async (wanted: Parameters<typeof list.list>[0]) =>
          (await list.list(wanted)).map(({ type }) => type)
        assert.deepStrictEqual(await types({ types: ["mention", "follow"] }), ["mention", "follow"])
        assert.deepStrictEqual(await types({ excludeTypes: ["mention"] }), ["reblog", "favourite", "follow"])
        assert.deepStrictEqual(await types({ accountId: dora.id }), [])
        assert.deepStrictEqual(await types({ accountId: "1" }), [])
        assert.deepStrictEqual(await list.unreadCount.fetch(), { count: 4 })
        const first = all[0]?.id ?? ""
        assert.strictEqual((await list.$select(first).fetch()).type, "mention")
        await list.$select(first).dismiss()
        assert.deepStrictEqual(await types({}), ["reblog", "favourite", "follow"])
        assert.strictEqual((await refusal(list.$select(first).fetch())).statusCode, 404)
        await list.clear()
        assert.deepStrictEqual(await types({}), [])
      })
    }))

  it.effect("S-092, S-145, S-205: conversations are read, marked as unread and removed", () =>
    Effect.gen(function*() {
      const [fay, gil] = [yield* newcomer("fay"), yield* newcomer("gil")]
      yield* Effect.promise(() => gil.api.v1.accounts.$select(fay.id).follow())
      const sent = yield* Effect.promise(() =>
        fay.api.v1.statuses.create({ status: "@gil psst", visibility: "direct" })
      )
      const [conversation] = yield* eventually(() => gil.api.v1.conversations.list(), (page) => page.length === 1)
      yield* Effect.promise(async () => {
        conforms(conversation, "Conversation")
        assert.deepInclude(conversation, { unread: true })
        assert.strictEqual(conversation?.lastStatus?.id, sent.id)
        assert.deepStrictEqual(conversation?.accounts.map(({ acct }) => acct), ["fay"])
        const one = gil.api.v1.conversations.$select(conversation?.id ?? "")
        assert.isFalse((await one.read()).unread)
        assert.isTrue((await one.unread()).unread)
        await one.remove()
        assert.lengthOf(await gil.api.v1.conversations.list(), 0)
      })
    }))

  it.effect("S-164, S-224, S-225: markers and preferences", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("hana")
      yield* Effect.promise(async () => {
        const { home } = await api.v1.markers.create({ home: { lastReadId: "117653680816914433" } })
        conforms(home, "MarkerItem")
        assert.deepInclude(home, { lastReadId: "117653680816914433", version: 1 })
        const both = await api.v1.markers.fetch({ timeline: ["home", "notifications"] })
        assert.deepStrictEqual(Object.keys(both), ["home"])
        assert.deepStrictEqual(both.home, home)
        conforms({ ...await api.v1.preferences.fetch(), "posting:default:language": "" }, "Preference")
      })
    }))

  it.effect("S-150: searches accounts, tags and own posts", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("ines")
      yield* Effect.promise(async () => {
        const { id } = await api.v1.statuses.create({ status: "a rare word: Quittenbaum #quitten" })
        const found = await api.v2.search.list({ q: "quitten" })
        assert.deepStrictEqual(found.accounts, [])
        assert.lengthOf(found.hashtags, 1)
        assert.deepStrictEqual(ids((await api.v2.search.list({ q: "Quittenbaum", type: "statuses" })).statuses), [id])
        assert.deepStrictEqual(
          (await api.v2.search.list({ q: "@ines", type: "accounts" })).accounts.map(({ acct }) => acct),
          ["ines"]
        )
        assert.deepStrictEqual((await api.v2.search.list({ q: "nothing of the kind" })).statuses, [])
      })
    }))

  it.effect("S-159 to S-161, S-226, S-227: the server describes itself", () =>
    Effect.gen(function*() {
      const anybody = yield* client()
      yield* Effect.promise(async () => {
        const [old, instance] = [await anybody.v1.instance.fetch(), await anybody.v2.instance.fetch()]
        conforms(old, "Instance")
        conforms(instance, "Instance", "v2")
        assert.match(instance.version, /^\d+\.\d+\.\d+/)
        assert.strictEqual(instance.configuration.statuses.maxCharacters, old.configuration.statuses.maxCharacters)
        assert.isArray(await anybody.v1.instance.languages.list())
        assert.lengthOf(await anybody.v1.instance.activity.list(), 12)
        conforms(await anybody.v1.instance.activity.list(), "Activity[]")
        assert.deepStrictEqual(await anybody.v1.instance.peers.list(), [])
        assert.deepStrictEqual(await anybody.v1.customEmojis.list(), [])
        assert.deepStrictEqual(await anybody.v1.trends.tags.list(), [])
        assert.deepStrictEqual(await anybody.v1.trends.statuses.list(), [])
      })
    }))

  it.effect("fields of later capabilities are empty or unset", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("jo")
      yield* Effect.promise(async () => {
        assert.deepStrictEqual(await api.v1.lists.list(), [])
        assert.deepStrictEqual(await api.v1.filters.list(), [])
        assert.deepStrictEqual(await api.v2.filters.list(), [])
        assert.deepStrictEqual(await api.v1.announcements.list(), [])
        assert.deepStrictEqual(await api.v1.followedTags.list(), [])
        assert.deepStrictEqual(await api.v1.featuredTags.list(), [])
        assert.strictEqual((await refusal(api.v1.push.subscription.fetch())).statusCode, 404)
      })
    }))
})
