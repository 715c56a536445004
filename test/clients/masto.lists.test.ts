import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { conforms, newcomer, refusal, stream } from "./Masto.ts"
import * as Megalodon from "./Megalodon.ts"

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

layer(TestServer.layer(), { excludeTestServices: true })("masto and megalodon: lists and followed hashtags", (it) => {
  it.effect("S-003, S-136, S-217, S-218, S-220, S-260: lists are created, filled, read and streamed", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newcomer("ada"), yield* newcomer("bob")]
      const { v1 } = ada.api
      const list = yield* Effect.promise(async () => {
        await v1.accounts.$select(bob.id).follow()
        const created = await v1.lists.create({ title: "Friends" })
        conforms(created, "List")
        const changed = await v1.lists.$select(created.id).update({
          title: "Mates",
          exclusive: true
        })
        conforms(changed, "List")
        assert.deepStrictEqual(await v1.lists.$select(created.id).fetch(), changed)
        assert.deepStrictEqual(await v1.lists.list(), [changed])
        await v1.lists.$select(created.id).accounts.create({ accountIds: [bob.id] })
        const members = await v1.lists.$select(created.id).accounts.list()
        for (const one of members) conforms(one, "Account")
        assert.deepStrictEqual(ids(members), [bob.id])
        assert.deepStrictEqual(ids(await v1.accounts.$select(bob.id).lists.list()), [created.id])
        return created.id
      })
      const socket = yield* stream(ada.token)
      yield* Effect.promise(() => socket.prepare())
      const subscription = socket.list.subscribe({ list })
      const heard = (async () => {
        for await (const event of subscription) return event
        return undefined
      })()
      // The server processes the subscription a moment after the request.
      const post = Effect.promise(() => bob.api.v1.statuses.create({ status: "for the list" }))
      const event = yield* Effect.raceFirst(
        Effect.promise(() => heard),
        Effect.forever(Effect.andThen(post, Effect.sleep("200 millis")))
      )
      assert.deepStrictEqual([event?.event, event?.stream], ["update", ["list", list]])
      const page = yield* eventually(
        Effect.promise(() => v1.timelines.list.$select(list).list()),
        (found) => found.length > 0
      )
      for (const one of page) conforms(one, "Status")
      yield* Effect.promise(async () => {
        assert.deepStrictEqual(await v1.timelines.home.list(), [])
        await v1.lists.$select(list).accounts.remove({ accountIds: [bob.id] })
        assert.deepStrictEqual(await v1.timelines.list.$select(list).list(), [])
        await v1.lists.$select(list).remove()
        assert.strictEqual((await refusal(v1.lists.$select(list).fetch())).statusCode, 404)
      })

      const { api } = yield* Megalodon.newcomer("cleo")
      yield* Effect.promise(async () => {
        const { data: created } = await api.createList("Friends")
        Megalodon.conforms(created, "List")
        const { data: changed } = await api.updateList(created.id, "Mates")
        assert.deepStrictEqual((await api.getLists()).data, [changed])
        assert.deepStrictEqual((await api.getList(created.id)).data, changed)
        await api.addAccountsToList(created.id, [ada.id, bob.id])
        const { data: members } = await api.getAccountsInList(created.id)
        for (const one of members) Megalodon.conforms(one, "Account")
        assert.sameMembers(ids(members), [ada.id, bob.id])
        assert.deepStrictEqual(ids((await api.getAccountLists(bob.id)).data), [created.id])
        for (const one of (await api.getListTimeline(created.id)).data) Megalodon.conforms(one, "Status")
        await api.deleteAccountsFromList(created.id, [ada.id])
        assert.deepStrictEqual(ids((await api.getAccountsInList(created.id)).data), [bob.id])
        await api.deleteList(created.id)
        assert.deepStrictEqual((await api.getLists()).data, [])
      })
    }).pipe(Effect.scoped))

  it.effect("S-097: hashtags are followed and unfollowed", () =>
    Effect.gen(function*() {
      const [dora, eve] = [yield* newcomer("dora"), yield* newcomer("eve")]
      const { v1 } = dora.api
      yield* Effect.promise(async () => {
        const tag = await v1.tags.$select("Tea").follow()
        conforms(tag, "Tag")
        assert.isTrue(tag.following)
        const all = await v1.followedTags.list()
        for (const one of all) conforms(one, "Tag")
        assert.deepStrictEqual(all.map(({ name }) => name), ["Tea"])
        await eve.api.v1.statuses.create({ status: "#tea time" })
      })
      const home = yield* eventually(
        Effect.promise(() => v1.timelines.home.list()),
        (found) => found.length > 0
      )
      for (const one of home) conforms(one, "Status")
      yield* Effect.promise(async () => {
        assert.isFalse((await v1.tags.$select("tea").unfollow()).following)
        assert.deepStrictEqual(await v1.followedTags.list(), [])
        assert.deepStrictEqual(await v1.timelines.home.list(), [])
      })
      const { api } = yield* Megalodon.newcomer("finn")
      yield* Effect.promise(async () => {
        const { data: tag } = await api.followTag("tea")
        Megalodon.conforms(tag, "Tag")
        assert.deepStrictEqual((await api.getFollowedTags()).data.map(({ name }) => name), ["Tea"])
        assert.isFalse((await api.unfollowTag("tea")).data.following)
      })
    }))
})
