import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../support/Server.ts"
import { client, conforms, newcomer, refusal } from "./Masto.ts"

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

layer(TestServer.layer(), { excludeTestServices: true })("masto: statuses", (it) => {
  it.effect("S-191: posts with mentions, tags, links, a warning and a language, and everybody reads it as HTML", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [ada, bob, anybody] = [yield* newcomer("ada"), yield* newcomer("bob"), yield* client()]
      yield* Effect.promise(async () => {
        const status = await ada.api.v1.statuses.create({
          status: "Grüße @bob, siehe https://example.org/a?b=c&d und #Straßenfest <b>nicht fett</b>",
          spoilerText: "Feste",
          sensitive: true,
          visibility: "unlisted",
          language: "de"
        })
        conforms(status, "Status")
        const { content, mentions, tags } = status
        assert.deepInclude(status, { spoilerText: "Feste", sensitive: true, visibility: "unlisted", language: "de" })
        assert.deepStrictEqual(mentions, [{ id: bob.id, username: "bob", acct: "bob", url: `${baseUrl}/@bob` }])
        assert.deepStrictEqual(tags.map(({ name, url }) => [name, url]), [
          ["straßenfest", `${baseUrl}/tags/stra%C3%9Fenfest`]
        ])
        assert.include(content, `<a href="${baseUrl}/@bob" class="u-url mention">@<span>bob</span></a>`)
        assert.include(content, "https://example.org/a?b=c&amp;d")
        assert.include(content, "&lt;b&gt;nicht fett&lt;/b&gt;")
        const seen = await anybody.v1.statuses.$select(status.id).fetch()
        assert.strictEqual(seen.content, content)
        assert.isUndefined(seen.favourited)
        const batch = await anybody.v1.statuses.fetch({ id: [status.id, "1"] })
        assert.deepStrictEqual(batch.map(({ id }) => id), [status.id])
      })
    }))

  it.effect("S-144, S-193, S-195: edits, with history and source; deletes and gets the text back", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("carol")
      yield* Effect.promise(async () => {
        const { id } = await api.v1.statuses.create({ status: "first #one" })
        const edited = await api.v1.statuses.$select(id).update({ status: "second #two", spoilerText: "changed" })
        conforms(edited, "Status")
        assert.isString(edited.editedAt)
        assert.deepStrictEqual(edited.tags.map(({ name }) => name), ["two"])
        const history = await api.v1.statuses.$select(id).history.list()
        conforms(history, "StatusEdit[]")
        assert.deepStrictEqual(history.map(({ spoilerText }) => spoilerText), ["", "changed"])
        assert.deepInclude(await api.v1.statuses.$select(id).source.fetch(), {
          id,
          text: "second #two",
          spoilerText: "changed"
        })
        const deleted = await api.v1.statuses.$select(id).remove()
        assert.deepInclude(deleted, { id, text: "second #two", spoilerText: "changed" })
        assert.deepInclude(await refusal(api.v1.statuses.$select(id).fetch()), {
          statusCode: 404,
          message: "Record not found"
        })
        assert.strictEqual((await api.v1.accounts.verifyCredentials()).statusesCount, 0)
      })
    }))

  it.effect("S-191: an Idempotency-Key makes one status of two requests", () =>
    Effect.gen(function*() {
      const { api, id } = yield* newcomer("dora")
      yield* Effect.promise(async () => {
        const once = { requestInit: { headers: { "Idempotency-Key": "the same" } } }
        const [first, second] = await Promise.all([
          api.v1.statuses.create({ status: "once" }, once),
          api.v1.statuses.create({ status: "once" }, once)
        ])
        assert.strictEqual(first.id, second.id)
        assert.lengthOf(await api.v1.accounts.$select(id).statuses.list(), 1)
      })
    }))

  it.effect("S-196: a thread is read from both ends", () =>
    Effect.gen(function*() {
      const [eve, fred] = [yield* newcomer("eve"), yield* newcomer("fred")]
      yield* Effect.promise(async () => {
        const root = await eve.api.v1.statuses.create({ status: "root" })
        const reply = await fred.api.v1.statuses.create({ status: "@eve reply", inReplyToId: root.id })
        const leaf = await eve.api.v1.statuses.create({ status: "@fred leaf", inReplyToId: reply.id })
        assert.deepInclude(reply, { inReplyToId: root.id, inReplyToAccountId: eve.id })
        const context = await fred.api.v1.statuses.$select(reply.id).context.fetch()
        conforms(context, "Context")
        assert.deepStrictEqual(context.ancestors.map(({ id }) => id), [root.id])
        assert.deepStrictEqual(context.descendants.map(({ id }) => id), [leaf.id])
        assert.strictEqual((await eve.api.v1.statuses.$select(root.id).fetch()).repliesCount, 1)
      })
    }))

  it.effect("S-002, S-065, S-197 to S-201: favourites, reblogs, bookmarks, pins and mutes, and undoes each", () =>
    Effect.gen(function*() {
      const [gil, hana] = [yield* newcomer("gil"), yield* newcomer("hana")]
      yield* Effect.promise(async () => {
        const { id } = await gil.api.v1.statuses.create({ status: "Look at this" })
        const [mine, hers] = [gil.api.v1.statuses.$select(id), hana.api.v1.statuses.$select(id)]

        assert.deepInclude(await hers.favourite(), { favourited: true, favouritesCount: 1 })
        assert.deepStrictEqual((await hers.favouritedBy.list()).map(({ acct }) => acct), ["hana"])
        assert.deepStrictEqual((await hana.api.v1.favourites.list()).map((status) => status.id), [id])
        assert.deepInclude(await hers.unfavourite(), { favourited: false, favouritesCount: 0 })

        const reblog = await hers.reblog({ visibility: "unlisted" })
        conforms(reblog, "Status")
        assert.strictEqual(reblog.visibility, "unlisted")
        assert.deepInclude(reblog.reblog, { id, reblogged: true, reblogsCount: 1 })
        assert.deepStrictEqual((await hers.rebloggedBy.list()).map(({ acct }) => acct), ["hana"])
        assert.deepInclude(await hers.unreblog(), { id, reblogged: false, reblogsCount: 0 })

        assert.isTrue((await hers.bookmark()).bookmarked)
        assert.deepStrictEqual((await hana.api.v1.bookmarks.list()).map((status) => status.id), [id])
        assert.isFalse((await hers.unbookmark()).bookmarked)

        assert.isTrue((await mine.pin()).pinned)
        const pinned = await hana.api.v1.accounts.$select(gil.id).statuses.list({ pinned: true })
        assert.deepStrictEqual(pinned.map((status) => status.id), [id])
        assert.strictEqual((await refusal(hers.pin())).statusCode, 422)
        assert.isFalse((await mine.unpin()).pinned)

        assert.isTrue((await mine.mute()).muted)
        assert.isFalse((await mine.unmute()).muted)
      })
    }))

  it.effect("S-192, S-223: schedules, moves and cancels a status", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("ines")
      yield* Effect.promise(async () => {
        const scheduled = await api.v1.statuses.create({ status: "later", spoilerText: "x", scheduledAt: inAnHour() })
        conforms(scheduled, "ScheduledStatus")
        assert.deepInclude(scheduled.params, { text: "later", spoilerText: "x" })
        const mine = api.v1.scheduledStatuses
        assert.deepStrictEqual(await mine.list(), [scheduled])
        const scheduledAt = inAnHour()
        assert.deepInclude(await mine.$select(scheduled.id).update({ scheduledAt }), { id: scheduled.id, scheduledAt })
        assert.deepInclude(await mine.$select(scheduled.id).fetch(), { scheduledAt })
        await mine.$select(scheduled.id).remove()
        assert.lengthOf(await mine.list(), 0)
        const soon = new Date(Date.now() + 60_000).toISOString()
        assert.strictEqual(
          (await refusal(api.v1.statuses.create({ status: "at once", scheduledAt: soon }))).statusCode,
          422
        )
      })
    }))

  it.effect("S-061, S-076, S-078: creates polls, votes and reports", () =>
    Effect.gen(function*() {
      const [liz, moe] = [yield* newcomer("liz"), yield* newcomer("moe")]
      yield* Effect.promise(async () => {
        const poll = { options: ["a", "b", "c"], expiresIn: 600, multiple: true }
        const asked = await liz.api.v1.statuses.create({ status: "Which?", poll })
        conforms(asked, "Status")
        const voted = await moe.api.v1.polls.$select(asked.poll?.id ?? "").votes.create({ choices: [0, 2] })
        conforms(voted, "Poll")
        assert.deepInclude(voted, { voted: true, ownVotes: [0, 2], votesCount: 2, votersCount: 1 })
        assert.deepStrictEqual((await liz.api.v1.polls.$select(asked.poll?.id ?? "").fetch()).options, voted.options)
        const report = await moe.api.v1.reports.create({ accountId: liz.id, statusIds: [asked.id], category: "spam" })
        conforms(report, "Report")
        assert.deepStrictEqual([report.statusIds, report.targetAccount.username], [[asked.id], "liz"])
      })
    }))

  it.effect("S-194: refuses unsupported fields, long texts, and unintended mentions, with messages", () =>
    Effect.gen(function*() {
      const [{ api }, kay] = [yield* newcomer("jo"), yield* newcomer("kay")]
      yield* Effect.promise(async () => {
        const refused = async (call: Promise<unknown>) => {
          const { message, statusCode } = await refusal(call)
          assert.strictEqual(statusCode, 422)
          return message
        }
        assert.match(await refused(api.v1.statuses.create({ mediaIds: ["1"] })), /^Media 1 not found or already/)
        const poll = { options: ["a", "b"], expiresIn: 60 }
        assert.match(await refused(api.v1.statuses.create({ status: "?", poll })), /^Validation failed: Poll expires/)
        assert.strictEqual(
          await refused(api.v1.statuses.create({ status: "" })),
          "Validation failed: Text can't be blank"
        )
        assert.match(await refused(api.v1.statuses.create({ status: "x".repeat(501) })), /^Validation failed: Text/)
        const reply = api.v1.statuses.create({ status: "@kay hi", allowedMentions: [] })
        const outcome = await reply.catch((error: unknown) => error)
        assert.nestedPropertyVal(outcome, "additionalProperties.unexpectedAccounts[0].id", kay.id)
        const meant = await api.v1.statuses.create({ status: "@kay hi", allowedMentions: [kay.id] })
        assert.lengthOf(meant.mentions, 1)
      })
    }))
})
