import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { settled } from "../support/Actors.ts"
import { TestServer } from "../support/Server.ts"
import { conforms, newcomer, refusal, stream } from "./Masto.ts"

layer(TestServer.layer(), { excludeTestServices: true })("masto: filters and notification requests", (it) => {
  it.effect("S-152 to S-154, S-307: filters of both versions, with keywords and statuses", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newcomer("ada"), yield* newcomer("bob")]
      yield* Effect.promise(async () => {
        await ada.api.v1.accounts.$select(bob.id).follow()
        const posted = await bob.api.v1.statuses.create({ status: "I like cats" })
        const filters = ada.api.v2.filters
        const filter = await filters.create({
          title: "pets",
          context: ["home", "public"],
          expiresIn: 3600,
          keywordsAttributes: [{ keyword: "cats", wholeWord: true }, { keyword: "dogs" }]
        })
        conforms(filter, "Filter", "v2")
        const [cats, dogs] = filter.keywords
        const changed = await filters.$select(filter.id).update({
          filterAction: "blur",
          keywordsAttributes: [{ id: dogs?.id ?? "", _destroy: true }]
        })
        assert.deepStrictEqual(changed.keywords.map(({ keyword }) => keyword), ["cats"])
        assert.deepStrictEqual(await filters.$select(filter.id).fetch(), changed)
        assert.deepStrictEqual(await filters.list(), [changed])
        const own = filters.$select(filter.id)
        const birds = await own.keywords.create({ keyword: "birds" })
        conforms(birds, "FilterKeyword")
        assert.lengthOf(await own.keywords.list(), 2)
        const one = filters.keywords.$select(birds.id)
        assert.isFalse((await one.update({ keyword: "bird", wholeWord: false })).wholeWord)
        assert.strictEqual((await one.fetch()).keyword, "bird")
        await one.remove()
        const entry = await own.statuses.create({ statusId: posted.id })
        conforms(entry, "FilterStatus")
        assert.deepStrictEqual(await own.statuses.list(), [entry])
        assert.deepStrictEqual(await filters.statuses.$select(entry.id).fetch(), entry)
        const [seen] = await ada.api.v1.timelines.home.list()
        conforms(seen, "Status")
        assert.deepInclude(seen?.filtered?.[0], { keywordMatches: ["cats"], statusMatches: [posted.id] })
        assert.strictEqual(seen?.filtered?.[0]?.filter.filterAction, "blur")
        await filters.statuses.$select(entry.id).remove()

        const older = ada.api.v1.filters
        const first = await older.$select(cats?.id ?? "").fetch()
        conforms(first, "Filter")
        assert.deepInclude(first, { phrase: "cats", irreversible: false, wholeWord: true })
        const created = await older.create({ phrase: "cats", context: ["home"], irreversible: true })
        assert.lengthOf(await older.list(), 2)
        assert.lengthOf(await ada.api.v1.timelines.home.list(), 0)
        assert.isFalse(
          (await older.$select(created.id).update({ phrase: "cats", context: ["home"], irreversible: false }))
            .irreversible
        )
        assert.lengthOf(await ada.api.v1.timelines.home.list(), 1)
        await older.$select(created.id).remove()
        await own.remove()
        assert.strictEqual((await refusal(Promise.resolve(own.fetch()))).statusCode, 404)
      })
    }))

  it.effect("S-149: notification requests are listed, accepted and merged, with stream events", () =>
    Effect.gen(function*() {
      const [eve, fay] = [yield* newcomer("eve"), yield* newcomer("fay")]
      const socket = yield* stream(eve.token)
      yield* Effect.promise(() => socket.prepare())
      const events = socket.user.notification.subscribe().values()
      yield* Effect.addFinalizer(() => Effect.promise(async () => void events.return?.(undefined)))
      const next = events.next()
      yield* Effect.promise(() => fay.api.v1.statuses.create({ status: "@eve psst", visibility: "direct" }))
      yield* settled
      yield* Effect.promise(async () => {
        const { notifications } = eve.api.v1
        assert.deepStrictEqual(await notifications.list(), [])
        const policy = await eve.api.v2.notifications.policy.fetch()
        conforms(policy, "NotificationPolicy", "v2")
        assert.deepStrictEqual(policy.summary, { pendingRequestsCount: 1, pendingNotificationsCount: 1 })
        const changed = await eve.api.v2.notifications.policy.update({ forNewAccounts: "filter" })
        assert.strictEqual(changed.forNewAccounts, "filter")
        const [request] = await notifications.requests.list()
        conforms(request, "NotificationRequest")
        const one = notifications.requests.$select(request?.id ?? "")
        assert.deepStrictEqual(await one.fetch(), request)
        await one.accept()
        assert.isTrue((await notifications.requests.merged.fetch()).merged)
        const [mention] = await notifications.list({ supportedTypes: ["follow"] })
        assert.strictEqual(mention?.type, "mention")
        assert.strictEqual((await refusal(Promise.resolve(one.dismiss()))).statusCode, 404)
        const { value } = await next
        assert.deepInclude(value, { event: "notifications_merged", payload: 1 })
      })
    }).pipe(Effect.scoped))
})
