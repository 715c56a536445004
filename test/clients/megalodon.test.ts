import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../support/Server.ts"
import { client, conforms, eventually, newcomer, refusal, type Socket, stream } from "./Megalodon.ts"
import { copyCode } from "./Visitor.ts"

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
const names = (rows: ReadonlyArray<{ readonly acct: string }>) => rows.map(({ acct }) => acct)

/**
 * Posts until all sockets have received an event: a socket opens a moment before the server processes its subscription.
 */
const untilAllReceived = (sockets: ReadonlyArray<Socket>, post: () => Promise<unknown>, event = "update") => {
  const received = Effect.promise(() => Promise.all(sockets.map(({ next }) => next(event))))
  return Effect.raceFirst(received, Effect.forever(Effect.andThen(Effect.promise(post), Effect.sleep("100 millis"))))
}

layer(TestServer.layer(), { excludeTestServices: true })("megalodon", (it) => {
  it.effect("S-190, S-242, S-254: registers, is authorized with a code to copy, and revokes the token", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [person, anybody] = [yield* newcomer("ada"), yield* client()]
      const app = yield* Effect.promise(() => anybody.registerApp("Megalodon", { scopes: ["read", "write"] }))
      const authorize = new URL(app.url ?? "")
      assert.strictEqual(authorize.origin, baseUrl)
      const code = yield* Effect.promise(() => copyCode(baseUrl, authorize.pathname + authorize.search, person))
      const { access_token } = yield* Effect.promise(() =>
        anybody.fetchAccessToken(app.client_id, app.client_secret, code)
      )
      const api = yield* client(access_token)
      yield* Effect.promise(async () => {
        assert.strictEqual((await api.verifyAccountCredentials()).data.acct, "ada")
        const { data } = await api.verifyAppCredentials()
        conforms(data, "Application")
        assert.strictEqual(data.name, "Megalodon")
        await anybody.revokeToken(app.client_id, app.client_secret, access_token)
        assert.strictEqual(await refusal(api.verifyAccountCredentials()), 401)
      })
    }))

  it.effect("S-191 to S-201: writes, edits, interacts with and deletes a status", () =>
    Effect.gen(function*() {
      const [bob, carol] = [yield* newcomer("bob"), yield* newcomer("carol")]
      yield* Effect.promise(async () => {
        const { data: status } = await bob.api.postStatus("Hallo @carol #Tee https://example.org", {
          spoiler_text: "Tee",
          sensitive: true,
          visibility: "unlisted",
          language: "de"
        })
        conforms(status, "Status")
        const { id } = status
        const { data: seen } = await carol.api.getStatus(id)
        conforms(seen, "Status")
        assert.deepInclude(seen, { spoiler_text: "Tee", visibility: "unlisted", language: "de" })
        assert.deepStrictEqual(names(seen.mentions), ["carol"])
        const { data: reply } = await carol.api.postStatus("@bob ja", { in_reply_to_id: id })
        const { data: context } = await bob.api.getStatusContext(id)
        assert.deepStrictEqual(ids(context.descendants), [reply.id])

        const { data: edited } = await bob.api.editStatus(id, { status: "Hallo #Kaffee", spoiler_text: "Kaffee" })
        assert.isString(edited.edited_at)
        assert.deepStrictEqual((await bob.api.getStatusSource(id)).data, {
          id,
          text: "Hallo #Kaffee",
          spoiler_text: "Kaffee"
        })

        const { api } = carol
        assert.isTrue((await api.favouriteStatus(id)).data.favourited)
        assert.deepStrictEqual(names((await api.getStatusFavouritedBy(id)).data), ["carol"])
        assert.deepStrictEqual(ids((await api.getFavourites()).data), [id])
        assert.isFalse((await api.unfavouriteStatus(id)).data.favourited)
        assert.strictEqual((await api.reblogStatus(id)).data.reblog?.id, id)
        assert.deepStrictEqual(names((await api.getStatusRebloggedBy(id)).data), ["carol"])
        assert.isFalse((await api.unreblogStatus(id)).data.reblogged)
        assert.isTrue((await api.bookmarkStatus(id)).data.bookmarked)
        assert.deepStrictEqual(ids((await api.getBookmarks()).data), [id])
        assert.isFalse((await api.unbookmarkStatus(id)).data.bookmarked)
        assert.isTrue((await api.muteStatus(id)).data.muted)
        assert.isFalse((await api.unmuteStatus(id)).data.muted)
        assert.isTrue((await bob.api.pinStatus(id)).data.pinned)
        assert.deepStrictEqual(ids((await api.getAccountStatuses(bob.id, { pinned: true })).data), [id])
        assert.isFalse((await bob.api.unpinStatus(id)).data.pinned)

        await bob.api.deleteStatus(id)
        assert.strictEqual(await refusal(api.getStatus(id)), 404)
        assert.strictEqual(await refusal(bob.api.postStatus("", { media_ids: ["1"] })), 422)
      })
    }))

  it.effect("S-192, S-223: schedules, moves and cancels a status", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("dora")
      yield* Effect.promise(async () => {
        const later = new Date(Date.now() + 3_600_000).toISOString()
        const { data: { id } } = await api.postStatus("later", { scheduled_at: later })
        const { data: waiting } = await api.getScheduledStatuses()
        conforms(waiting, "ScheduledStatus[]")
        assert.deepStrictEqual(ids(waiting), [id])
        const moved = new Date(Date.now() + 7_200_000).toISOString()
        assert.strictEqual((await api.scheduleStatus(id, moved)).data.scheduled_at, moved)
        assert.strictEqual((await api.getScheduledStatus(id)).data.scheduled_at, moved)
        await api.cancelScheduledStatus(id)
        assert.deepStrictEqual((await api.getScheduledStatuses()).data, [])
      })
    }))

  it.effect("S-138, S-207 to S-211: changes the profile; follows, gets follow requests, blocks and mutes", () =>
    Effect.gen(function*() {
      const [eve, fay, gil] = [yield* newcomer("eve"), yield* newcomer("fay"), yield* newcomer("gil")]
      yield* Effect.promise(async () => {
        const { data: changed } = await eve.api.updateCredentials({
          display_name: "Eve",
          note: "hi",
          locked: true,
          fields_attributes: [{ name: "Web", value: "https://example.org" }],
          source: { privacy: "private", language: "de" }
        })
        conforms(changed, "Account")
        assert.deepInclude(changed, { display_name: "Eve", locked: true })
        assert.strictEqual(changed.source?.privacy, "private")
        assert.strictEqual((await fay.api.lookupAccount("eve")).data.id, eve.id)
        conforms((await fay.api.getAccount(eve.id)).data, "Account")
        assert.deepStrictEqual(names((await fay.api.searchAccount("ev")).data), ["eve"])

        const { data: asked } = await fay.api.followAccount(eve.id, { reblog: true })
        conforms(asked, "Relationship")
        assert.isTrue(asked.requested)
        await gil.api.followAccount(eve.id)
        assert.lengthOf((await eve.api.getFollowRequests()).data, 2)
        assert.isTrue((await eve.api.acceptFollowRequest(fay.id)).data.followed_by)
        assert.isFalse((await eve.api.rejectFollowRequest(gil.id)).data.followed_by)
        assert.deepStrictEqual(names((await fay.api.getAccountFollowing(fay.id)).data), ["eve"])
        assert.deepStrictEqual(names((await fay.api.getAccountFollowers(eve.id, { get_all: true })).data), ["fay"])
        assert.isTrue((await fay.api.getRelationship(eve.id)).data.following)
        assert.isTrue((await fay.api.subscribeAccount(eve.id)).data.notifying)
        assert.isFalse((await fay.api.unsubscribeAccount(eve.id)).data.notifying)
        assert.isFalse((await fay.api.unfollowAccount(eve.id)).data.following)

        assert.isTrue((await fay.api.blockAccount(gil.id)).data.blocking)
        assert.deepStrictEqual(names((await fay.api.getBlocks()).data), ["gil"])
        assert.isFalse((await fay.api.unblockAccount(gil.id)).data.blocking)
        assert.isTrue((await fay.api.muteAccount(gil.id, true)).data.muting_notifications)
        assert.deepStrictEqual(names((await fay.api.getMutes()).data), ["gil"])
        assert.isFalse((await fay.api.unmuteAccount(gil.id)).data.muting)
        assert.strictEqual((await fay.api.setAccountNote(gil.id, "once")).data.note, "once")
      })
    }))

  it.effect("S-142 to S-150, S-204, S-224: reads timelines, notifications, conversations, markers and search", () =>
    Effect.gen(function*() {
      const [hana, ines] = [yield* newcomer("hana"), yield* newcomer("ines")]
      const posted = yield* Effect.promise(async () => {
        await hana.api.followAccount(ines.id)
        const { data: { id } } = await ines.api.postStatus("@hana about #maple")
        await ines.api.postStatus("@hana psst", { visibility: "direct" })
        return id
      })
      const home = yield* eventually(() => hana.api.getHomeTimeline(), ({ data }) => data.length === 2)
      const bells = yield* eventually(() => hana.api.getNotifications(), ({ data }) => data.length === 2)
      yield* Effect.promise(async () => {
        const { api } = hana
        conforms(home.data, "Status[]")
        conforms(bells.data, "Notification[]")
        assert.deepStrictEqual(bells.data.map(({ type }) => type), ["mention", "mention"])
        assert.deepStrictEqual((await api.getNotifications({ exclude_types: ["mention"] })).data, [])
        const [first] = ids(bells.data)
        await api.dismissNotification(first ?? "")
        assert.strictEqual(await refusal(api.getNotification(first ?? "")), 404)
        await api.dismissNotifications()
        assert.deepStrictEqual((await api.getNotifications()).data, [])
        for (const page of [api.getPublicTimeline({ limit: 1 }), api.getLocalTimeline(), api.getTagTimeline("maple")]) {
          assert.deepStrictEqual(ids((await page).data).slice(0, 1), [posted])
        }
        const { data: [conversation] } = await api.getConversationTimeline()
        conforms(conversation, "Conversation")
        assert.isFalse((await api.readConversation(conversation?.id ?? "")).data.unread)
        await api.deleteConversation(conversation?.id ?? "")
        assert.deepStrictEqual((await api.getConversationTimeline()).data, [])
        const { data: marker } = await api.saveMarkers({ home: { last_read_id: posted } })
        conforms(marker, "Marker")
        assert.deepStrictEqual((await api.getMarkers(["home"])).data, marker)
        conforms((await api.getPreferences()).data, "Preferences")
        const { data: found } = await api.search("maple", { type: "hashtags" })
        conforms(found, "Results")
        assert.lengthOf(found.hashtags, 1)
        conforms((await api.getTag("maple")).data, "Tag")
      })
    }))

  it.effect("S-159 to S-161, S-226, S-227: reads the data that apps load at start", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("jo")
      yield* Effect.promise(async () => {
        conforms((await api.getInstance()).data, "Instance")
        conforms((await api.getInstanceActivity()).data, "Activity[]")
        const nothing = [
          api.getInstancePeers(),
          api.getInstanceCustomEmojis(),
          api.getInstanceAnnouncements(),
          api.getInstanceTrends(),
          api.getLists(),
          api.getFilters(),
          api.getFeaturedTags(),
          api.getFollowedTags(),
          api.getEndorsements(),
          api.getDomainBlocks()
        ]
        for (const [index, { data }] of (await Promise.all(nothing)).entries()) {
          assert.deepStrictEqual(data, [], `${index}`)
        }
        assert.strictEqual(await refusal(api.getPushSubscription()), 404)
      })
    }))

  it.effect("S-260, S-268: streams posts, edits, deletions, notifications and conversations", () =>
    Effect.gen(function*() {
      const [kay, lea] = [yield* newcomer("kay"), yield* newcomer("lea")]
      yield* Effect.promise(() => kay.api.followAccount(lea.id))
      const user = yield* stream(() => kay.api.userStreaming())
      const everybody = yield* stream(() => kay.api.publicStreaming())
      const local = yield* stream(() => kay.api.localStreaming())
      const tagged = yield* stream(() => kay.api.tagStreaming("oak"))
      const direct = yield* stream(() => kay.api.directStreaming())
      yield* untilAllReceived([user, everybody, local, tagged], () => lea.api.postStatus("Is this thing on? #oak"))
      yield* untilAllReceived([direct], () => lea.api.postStatus("@kay", { visibility: "direct" }), "conversation")
      yield* Effect.promise(async () => {
        const isOak = (status: unknown) => JSON.stringify(status).includes("Look, an")
        const updates = [user, everybody, local, tagged].map(({ next }) => next("update", isOak))
        const { data: { id } } = await lea.api.postStatus("Look, an #oak")
        for (const update of await Promise.all(updates)) {
          conforms(update, "Status")
          assert.nestedPropertyVal(update, "id", id)
        }
        const edited = user.next("status_update")
        await lea.api.editStatus(id, { status: "#oak!" })
        assert.nestedPropertyVal(await edited, "id", id)
        const isSecret = (value: unknown) => JSON.stringify(value).includes("psst")
        const bell = user.next("notification", isSecret)
        const conversation = direct.next("conversation", isSecret)
        await lea.api.postStatus("@kay psst", { visibility: "direct" })
        assert.nestedPropertyVal(await bell, "type", "mention")
        conforms(await conversation, "Conversation")
        const gone = user.next("delete")
        await lea.api.deleteStatus(id)
        assert.strictEqual(await gone, id)
      })
    }))
})
