import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../support/Server.ts"
import { client, conforms, newcomer, refusal } from "./Masto.ts"

layer(TestServer.layer(), { excludeTestServices: true })("masto: accounts", (it) => {
  it.effect("S-041 to S-043, S-138: changes the user's own profile, with text fields and defaults, and everybody sees it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [ada, anybody] = [yield* newcomer("ada"), yield* client()]
      yield* Effect.promise(async () => {
        conforms(await ada.api.v1.accounts.verifyCredentials(), "CredentialAccount")
        const changed = await ada.api.v1.accounts.updateCredentials({
          displayName: "Ada 🦆",
          note: "Writes #programs, see https://example.org",
          locked: false,
          bot: true,
          discoverable: true,
          fieldsAttributes: [{ name: "Web", value: "https://example.org" }, { name: "Pronouns", value: "she" }],
          source: { privacy: "unlisted", sensitive: true, language: "de" }
        })
        conforms(changed, "CredentialAccount")
        assert.deepInclude(changed, { displayName: "Ada 🦆", bot: true, discoverable: true })
        assert.deepInclude(changed.source, { privacy: "unlisted", sensitive: true, language: "de" })
        assert.deepStrictEqual(changed.source.fields.map(({ name, value }) => [name, value]), [
          ["Web", "https://example.org"],
          ["Pronouns", "she"]
        ])
        const seen = await anybody.v1.accounts.lookup({ acct: "ada" })
        conforms(seen, "Account")
        assert.include(seen.note, `href="${baseUrl}/tags/programs"`)
        assert.include(seen.fields[0]?.value ?? "", "<a href=\"https://example.org\"")
        assert.deepStrictEqual(await anybody.v1.accounts.$select(ada.id).fetch(), seen)
        assert.deepStrictEqual(await anybody.v1.accounts.fetch({ id: [ada.id, "1"] }), [seen])
        const status = await ada.api.v1.statuses.create({ status: "as always" })
        assert.deepInclude(status, { visibility: "unlisted", sensitive: true, language: "de" })
        for (const picture of [seen.avatar, seen.header]) {
          const { headers, status } = await fetch(picture)
          assert.strictEqual(status, 200, picture)
          assert.match(headers.get("content-type") ?? "", /^image\//)
        }
      })
    }))

  it.effect("S-002, S-047 to S-053, S-106, S-207 to S-209: follows with options, is listed on both sides, and unfollows", () =>
    Effect.gen(function*() {
      const [bob, carol] = [yield* newcomer("bob"), yield* newcomer("carol")]
      yield* Effect.promise(async () => {
        const target = bob.api.v1.accounts.$select(carol.id)
        const followed = await target.follow({ reblogs: false, notify: true, languages: ["de", "en"] })
        conforms({ ...followed, languages: followed.languages ?? [] }, "Relationship")
        assert.deepInclude(followed, { following: true, showingReblogs: false, notifying: true })
        assert.deepStrictEqual(followed.languages, ["de", "en"])
        assert.deepStrictEqual((await target.followers.list()).map(({ acct }) => acct), ["bob"])
        const following = await carol.api.v1.accounts.$select(bob.id).following.list()
        assert.deepStrictEqual(following.map(({ acct }) => acct), ["carol"])
        assert.deepInclude(await target.fetch(), { followersCount: 1 })
        assert.deepInclude(await bob.api.v1.accounts.verifyCredentials(), { followingCount: 1 })
        const [relation] = await carol.api.v1.accounts.relationships.fetch({ id: [bob.id, bob.id, "1"] })
        assert.deepInclude(relation, { id: bob.id, followedBy: true, following: false })
        assert.deepInclude(await target.unfollow(), { following: false })
        await target.follow()
        await carol.api.v1.accounts.$select(bob.id).removeFromFollowers()
        assert.lengthOf(await target.followers.list(), 0)
        const self = bob.api.v1.accounts.$select(bob.id).follow()
        assert.deepInclude(await refusal(self), {
          statusCode: 403,
          message: "Following your own account is not allowed"
        })
      })
    }))

  it.effect("S-040, S-044, S-103 to S-105, S-210: a locked account receives, accepts and rejects follow requests", () =>
    Effect.gen(function*() {
      const [dora, eve, fay] = [yield* newcomer("dora"), yield* newcomer("eve"), yield* newcomer("fay")]
      yield* Effect.promise(async () => {
        await dora.api.v1.accounts.updateCredentials({ locked: true })
        for (const { api } of [eve, fay]) {
          const asked = await api.v1.accounts.$select(dora.id).follow()
          assert.deepInclude(asked, { following: false, requested: true })
        }
        const requests = dora.api.v1.followRequests
        assert.sameMembers((await requests.list()).map(({ acct }) => acct), ["eve", "fay"])
        assert.strictEqual((await dora.api.v1.accounts.verifyCredentials()).source.followRequestsCount, 2)
        assert.deepInclude(await requests.$select(eve.id).authorize(), { id: eve.id, followedBy: true })
        assert.deepInclude(await requests.$select(fay.id).reject(), { id: fay.id, followedBy: false })
        assert.lengthOf(await requests.list(), 0)
        const [toEve] = await eve.api.v1.accounts.relationships.fetch({ id: [dora.id] })
        assert.deepInclude(toEve, { following: true, requested: false })
      })
    }))

  it.effect("S-002, S-139, S-141, S-211, S-214: blocks, mutes for a while and writes notes", () =>
    Effect.gen(function*() {
      const [gil, hana, ines] = [yield* newcomer("gil"), yield* newcomer("hana"), yield* newcomer("ines")]
      yield* Effect.promise(async () => {
        const [toHana, toInes] = [gil.api.v1.accounts.$select(hana.id), gil.api.v1.accounts.$select(ines.id)]
        await toHana.follow()
        assert.deepInclude(await toHana.block(), { blocking: true, following: false })
        assert.deepStrictEqual((await gil.api.v1.blocks.list()).map(({ acct }) => acct), ["hana"])
        const refused = await refusal(hana.api.v1.accounts.$select(gil.id).follow())
        assert.strictEqual(refused.statusCode, 403)
        assert.deepInclude(await toHana.unblock(), { blocking: false })

        const muted = await toInes.mute({ notifications: false, duration: 3600 })
        assert.deepInclude(muted, { muting: true, mutingNotifications: false })
        const [listed] = await gil.api.v1.mutes.list()
        conforms(listed, "Account")
        assert.nestedProperty(listed, "muteExpiresAt")
        assert.deepInclude(await toInes.unmute(), { muting: false, mutingNotifications: false })

        assert.deepInclude(await toInes.note.create({ comment: "met in Ulm" }), { note: "met in Ulm" })
      })
    }))

  it.effect("S-136, S-213, S-216: finds accounts, and empty lists for missing data", () =>
    Effect.gen(function*() {
      const [jo, kay] = [yield* newcomer("jo"), yield* newcomer("kay")]
      yield* Effect.promise(async () => {
        const found = await jo.api.v1.accounts.search.list({ q: "ka" })
        assert.deepStrictEqual(found.map(({ acct }) => acct), ["kay"])
        const one = jo.api.v1.accounts.$select(kay.id)
        for (const list of [one.featuredTags, one.lists, one.identityProofs, one.endorsements]) {
          assert.deepStrictEqual(await list.list(), [])
        }
        assert.deepStrictEqual(await jo.api.v1.endorsements.list(), [])
      })
    }))

  it.effect("S-122, S-123: pages through followers by the Link header, forward and back", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [star, anybody] = [yield* newcomer("star"), yield* client()]
      const fans = yield* Effect.forEach([1, 2, 3, 4, 5], (number) => createPerson(`fan${number}`))
      const apis = yield* Effect.forEach(fans, ({ token }) => client(token))
      yield* Effect.promise(async () => {
        for (const api of apis) await api.v1.accounts.$select(star.id).follow()
        const pages: Array<ReadonlyArray<string>> = []
        for await (const page of anybody.v1.accounts.$select(star.id).followers.list({ limit: 2 })) {
          pages.push(page.map(({ acct }) => acct))
        }
        assert.deepStrictEqual(pages, [["fan5", "fan4"], ["fan3", "fan2"], ["fan1"]])
        await apis[0]?.v1.accounts.$select(star.id).unfollow()
        const newer: Array<ReadonlyArray<string>> = []
        for await (
          const page of anybody.v1.accounts.$select(star.id).followers.list({ limit: 2 }).setDirection("prev")
        ) {
          if (newer.push(page.map(({ acct }) => acct)) === 1) await apis[0]?.v1.accounts.$select(star.id).follow()
        }
        assert.deepStrictEqual(newer, [["fan5", "fan4"], ["fan1"], []])
      })
    }))
})
